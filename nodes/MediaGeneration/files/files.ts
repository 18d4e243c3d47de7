/** Fetches the files of a finished task: concurrently, bounded, streamed into n8n's binary store. */
import type { IBinaryKeyData } from 'n8n-workflow';
import type { FileSettings } from '../actions/fileSettings';
import { extensionIn, mediaOf } from '../base/fileTypes';
import type { Limiter } from '../base/limiter';
import { isDataUrl, type TaskOutput } from '../answers/outputs';
import { storeDataUrl } from './dataUrl';
import { storeFile, type DownloadDeps } from './download';
import { MAX_FILES } from '../base/bounds';
import type { DeliveredFile, DeliveredOutput, WantedFile } from './storedFile';

export const fieldName = (base: string, index: number): string =>
	index === 0 ? base : `${base}_${index}`;

/** Puts files into the binary fields `data`, `data_1`, ... A file that is not in the store takes a number, but gets no field. */
export function inFields(
	files: readonly DeliveredFile[],
	base: string,
): { outputs: DeliveredOutput[]; binary: IBinaryKeyData } {
	const binary: IBinaryKeyData = {};
	const outputs = files.map((file, index) => {
		if (file.kind !== 'stored') return file.output;
		const binaryProperty = fieldName(base, index);
		binary[binaryProperty] = file.binary;
		return { ...file.output, binaryProperty };
	});
	return { outputs, binary };
}

/** Chooses the files of each item. Each item copies the task, so the last one has the files beyond a hundred. */
function split(files: readonly DeliveredFile[]): DeliveredFile[][] {
	const there = files.filter(({ kind }) => kind !== 'missing');
	const rest = there.slice(MAX_FILES);
	return [...there.slice(0, MAX_FILES).map((file) => [file]), ...(rest.length > 0 ? [rest] : [])];
}

/** Returns the files of each item: one item has all of them or, with Split Files, each an item of its own. */
export function placedFiles(
	files: readonly DeliveredFile[],
	{ splitFiles, outputBinaryField }: FileSettings,
) {
	const shown = splitFiles && files.length > 0 ? split(files) : [files];
	return shown.map((each) => inFields(each, outputBinaryField));
}

export interface FetchDeps extends DownloadDeps {
	limiter: Limiter;
}

/** File systems take 255 bytes: this leaves room for numbers, an extension, and what some programs put before or after a name. */
const MAX_NAME_BYTES = 185;
/** Windows and others refuse some of these in names; the rest are halves of characters, and marks that change the writing direction. */
const REFUSED_IN_NAMES = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069/\\:*?"<>|]+/gu;

/** Makes the name of files, without an extension that the user typed, because their own replaces it. Returns undefined if nothing is left. */
export function baseNameOf(text = ''): string | undefined {
	const typed = text.slice(0, 2_000).replace(/\s+/g, ' ').trim();
	const extension = extensionIn(typed);
	const isMedia = mediaOf(extension) !== undefined;
	let name = (isMedia ? typed.slice(0, -1 - extension.length) : typed)
		.normalize('NFC')
		.replace(REFUSED_IN_NAMES, '_')
		.replace(/^[\s\p{M}]+/u, '')
		.slice(0, MAX_NAME_BYTES + 1);
	// The cut lies between two characters, combining marks included.
	while (Buffer.byteLength(name) > MAX_NAME_BYTES) name = name.replace(/\P{M}\p{M}*$/u, '');
	name = name.replace(/[. ]+$/, '');
	return name === '' ? undefined : name;
}

/** Numbers further files of a type, in place; like their binary fields if all have one type. */
function numberNames(files: readonly DeliveredFile[], baseName: string): void {
	const extensionOf = ({ output }: DeliveredFile) => output.fileName?.slice(baseName.length) ?? '';
	const stored = files.filter((file) => file.kind === 'stored');
	const isOneType = new Set(stored.map(extensionOf)).size === 1;
	const counts = new Map<string, number>();
	for (const file of stored) {
		const extension = extensionOf(file);
		const before = counts.get(extension) ?? 0;
		counts.set(extension, before + 1);
		const number = isOneType ? files.indexOf(file) : before;
		const fileName = `${baseName}${number === 0 ? '' : `_${number}`}${extension}`;
		file.output.fileName = fileName;
		file.binary.fileName = fileName;
	}
}

async function fetchFile(wanted: WantedFile, deps: FetchDeps): Promise<DeliveredFile> {
	const store = isDataUrl(wanted.url) ? storeDataUrl : storeFile;
	const stored = await store(wanted, deps);
	return typeof stored === 'string' ? missingFile(wanted, stored) : stored;
}

const missingFile = ({ url, kind }: TaskOutput, problem: string): DeliveredFile => ({
	kind: 'missing',
	output: { url, kind },
	problem,
});

/** Downloads the files of one task. Never rejects. @param wanted.baseName of all of them */
export async function fetchFiles(
	outputs: readonly TaskOutput[],
	wanted: Omit<WantedFile, keyof TaskOutput>,
	deps: FetchDeps,
): Promise<DeliveredFile[]> {
	const files = await Promise.all(
		outputs.map(async (output, index) => {
			if (index >= MAX_FILES)
				return missingFile(output, `only the first ${MAX_FILES} files of a task are fetched`);
			return await deps.limiter.run(async () => await fetchFile({ ...output, ...wanted }, deps));
		}),
	);
	numberNames(files, wanted.baseName);
	return files;
}
