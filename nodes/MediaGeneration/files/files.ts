/** Fetches the files of a finished task, concurrently and bounded, and puts files into items. */
import type { IBinaryKeyData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { FileSettings } from '../actions/fileSettings';
import { getOrCreate } from '../base/boundedMap';
import { ABORTED } from '../base/abort';
import { extensionIn, mediaOf } from '../base/fileTypes';
import { Limiter } from '../base/limiter';
import type { TaskOutput } from '../answers/outputs';
import { storeFile, type DownloadDeps } from './download';
import { MAX_FILES } from '../base/bounds';
import type { DeliveredItems, OutputFile, WantedFile } from './storedFile';

export const fieldName = (base: string, index: number): string =>
	index === 0 ? base : `${base}_${index}`;

/** Chooses the files of each item. Each item copies the task, so the last one has the files beyond a hundred. */
function split(files: readonly OutputFile[]): OutputFile[][] {
	const there = files.filter(({ problem }) => problem === undefined);
	const rest = there.slice(MAX_FILES);
	return [...there.slice(0, MAX_FILES).map((file) => [file]), ...(rest.length > 0 ? [rest] : [])];
}

/**
 * Makes an item with all files in the fields `data`, `data_1`, ... or, with Split Files, one for each of them. A file that is not in the
 * store takes a number, but gets no field.
 */
export function itemsOf(
	files: readonly OutputFile[],
	{ splitFiles, outputBinaryField }: Pick<FileSettings, 'splitFiles' | 'outputBinaryField'>,
	{ json, index }: { json: IDataObject; index: number },
): Pick<DeliveredItems, 'items' | 'outputs'> {
	const isSplit = splitFiles && files.length > 0;
	const made = (isSplit ? split(files) : [files]).map((own) => {
		const fields: IBinaryKeyData = {};
		const outputs = own.map(({ output, binary }, number) => {
			if (binary === undefined) return output;
			const binaryProperty = fieldName(outputBinaryField, number);
			fields[binaryProperty] = binary;
			return { ...output, binaryProperty };
		});
		const item: INodeExecutionData = { json: { ...json, outputs }, pairedItem: { item: index } };
		if (Object.keys(fields).length > 0) item.binary = fields;
		return { item, outputs };
	});
	const outputs = isSplit
		? files.map(({ output }) => output)
		: made.flatMap(({ outputs: own }) => own);
	return { items: made.map(({ item }) => item), outputs };
}

export interface FetchDeps extends DownloadDeps {
	/** Each host of a run has its own. */
	slots: Map<string, Limiter>;
}

/** A host that sends slowly would keep its slots for days. */
const SLOT_MS = 60_000;

async function fetchInTurn(wanted: WantedFile, deps: FetchDeps): Promise<OutputFile> {
	const [host = ''] = /^https?:\/\/[^/?#]*/i.exec(wanted.url) ?? [];
	const giveBack = await getOrCreate(deps.slots, host, () => new Limiter(4)).take();
	const over = new AbortController();
	void deps.sleep(SLOT_MS, over.signal).then(giveBack);
	return await storeFile(wanted, deps).finally(() => over.abort(ABORTED));
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
		// A mark needs a character before it, here and for the cut.
		.replace(/^\p{M}+/u, '')
		.slice(0, MAX_NAME_BYTES + 1);
	// The cut lies between two characters, combining marks included.
	while (Buffer.byteLength(name) > MAX_NAME_BYTES) name = name.replace(/\P{M}\p{M}*$/u, '');
	return name.replace(/[. ]+$/, '') || undefined;
}

/** Numbers further files of a type, in place; like their binary fields if all have one type. */
function numberNames(files: readonly OutputFile[], baseName: string): void {
	const extensionOf = ({ output }: OutputFile) => output.fileName?.slice(baseName.length) ?? '';
	const stored = files.filter(({ binary }) => binary !== undefined);
	const isOneType = new Set(stored.map(extensionOf)).size === 1;
	const counts = new Map<string, number>();
	for (const file of stored) {
		const extension = extensionOf(file);
		const before = counts.get(extension) ?? 0;
		counts.set(extension, before + 1);
		const number = isOneType ? files.indexOf(file) : before;
		const fileName = `${baseName}${number === 0 ? '' : `_${number}`}${extension}`;
		file.output.fileName = fileName;
		if (file.binary !== undefined) file.binary.fileName = fileName;
	}
}

/** Downloads the files of one task. Never rejects. @param wanted.baseName of all of them */
export async function fetchFiles(
	outputs: readonly TaskOutput[],
	wanted: Omit<WantedFile, keyof TaskOutput>,
	deps: FetchDeps,
): Promise<OutputFile[]> {
	const problem = `only the first ${MAX_FILES} files of a task are fetched`;
	const files = await Promise.all(
		outputs.map(async (output, index) =>
			index < MAX_FILES ? await fetchInTurn({ ...output, ...wanted }, deps) : { output, problem },
		),
	);
	numberNames(files, wanted.baseName);
	return files;
}
