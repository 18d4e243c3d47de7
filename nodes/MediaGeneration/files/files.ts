/** Fetches the files of a finished task: concurrently, bounded, streamed into n8n's binary store. */
import type { IBinaryData, IBinaryKeyData } from 'n8n-workflow';
import { extensionIn, mediaOf } from '../audio/kinds';
import type { SoundFacts } from '../audio/sound';
import type { N8nContext } from '../transport/client';
import { messageOf } from '../base/failures';
import type { Limiter } from '../base/limiter';
import type { OutputKind, TaskOutput } from '../transport/outputs';
import { DOWNLOAD_STOPPED, type FailedDownload } from './fileAnswer';
import { Download, type DownloadDeps, type WantedFile } from './download';
import { learnMode, reserveMemory } from './binary';
import { Tries } from './tries';

/** The item shows an output like this (README, "Operations"). */
export interface DeliveredOutput {
	/** Is missing for a file that was joined here. */
	url?: string;
	kind: OutputKind;
	binaryProperty?: string;
	fileName?: string;
	mimeType?: string;
	fileSize?: number;
	/** Is measured, for WAV and MP3. */
	durationSeconds?: number;
}

export interface StoredFile {
	kind: 'stored';
	output: DeliveredOutput;
	binary: IBinaryData;
	/** Is known for a sound that was fetched. */
	sound?: SoundFacts | undefined;
}

export type DeliveredFile =
	| StoredFile
	| { kind: 'offered'; output: DeliveredOutput }
	/** The problem completes "could not be downloaded: ...". */
	| { kind: 'missing'; output: DeliveredOutput; problem: string };

/** Puts files into the binary fields `data`, `data_1`, ... A file that is not in the store takes a number, but has no field. */
export function inFields(
	files: readonly DeliveredFile[],
	base: string,
): { outputs: DeliveredOutput[]; binary: IBinaryKeyData } {
	const binary: IBinaryKeyData = {};
	const outputs = files.map((file, index) => {
		if (file.kind !== 'stored') return file.output;
		const binaryProperty = index === 0 ? base : `${base}_${index}`;
		binary[binaryProperty] = file.binary;
		return { ...file.output, binaryProperty };
	});
	return { outputs, binary };
}

export interface FetchDeps extends DownloadDeps {
	context: N8nContext;
	limiter: Limiter;
}

/** Limits the files of one task. */
export const MAX_FILES = 100;

/** File systems take 255 bytes: this leaves room for numbers, an extension, and what some programs put before or behind a name. */
const MAX_STEM_BYTES = 185;
/** Windows and others refuse some of these in names; the rest are halves of characters, and marks that turn the direction of writing. */
const REFUSED_IN_NAMES = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069/\\:*?"<>|]+/gu;
/** Windows takes these names for devices, with any extension. */
const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i;

/** Makes the name of files, without an extension that the user has typed, as their own replaces it. Returns undefined where nothing is left. */
export function stemOf(text = ''): string | undefined {
	const typed = text.slice(0, 2_000).replace(/\s+/g, ' ').trim();
	const extension = extensionIn(typed);
	const isMedia = mediaOf(extension) !== undefined;
	const name = isMedia ? typed.slice(0, -1 - extension.length) : typed;
	let stem = name
		.normalize('NFC')
		.replace(REFUSED_IN_NAMES, '_')
		.replace(/^[\s\p{M}]+/u, '')
		.replace(DEVICE, '$1_')
		.slice(0, MAX_STEM_BYTES + 1);
	// The cut lies between two characters, combining marks included.
	while (Buffer.byteLength(stem) > MAX_STEM_BYTES) stem = stem.replace(/\P{M}\p{M}*$/u, '');
	stem = stem.replace(/[. ]+$/, '');
	return stem === '' ? undefined : stem;
}

/** Numbers further files of a type in place; where all have one type, as their binary fields are. */
function numberNames(files: readonly DeliveredFile[], stem: string): void {
	const extensionOf = ({ output }: DeliveredFile) => output.fileName?.slice(stem.length) ?? '';
	const stored = files.filter((file) => file.kind === 'stored');
	const isOneType = new Set(stored.map(extensionOf)).size === 1;
	const counts = new Map<string, number>();
	for (const file of stored) {
		const extension = extensionOf(file);
		const before = counts.get(extension) ?? 0;
		counts.set(extension, before + 1);
		const number = isOneType ? files.indexOf(file) : before;
		const fileName = `${stem}${number === 0 ? '' : `_${number}`}${extension}`;
		file.output.fileName = fileName;
		file.binary.fileName = fileName;
	}
}

type NamedFile = WantedFile & { stem: string };

async function store(
	download: Download,
	wanted: NamedFile,
	deps: FetchDeps,
): Promise<StoredFile | FailedDownload> {
	const { stem, kind, maxBytes, url } = wanted;
	const begun = await download.begin();
	if ('problem' in begun) return begun;
	const release = await reserveMemory(download.length ?? maxBytes, deps.signal);
	if (release === undefined) return DOWNLOAD_STOPPED;
	const { mimeType, extension } = begun.type;
	try {
		const fileName = `${stem}.${extension}`;
		const { helpers } = deps.context;
		const binary = await helpers.prepareBinaryData(begun.stream, fileName, mimeType);
		learnMode(binary);
		const sound = kind === 'audio' ? download.scanner.end() : undefined;
		const fileSize = download.received;
		const output: DeliveredOutput = { url, kind, fileName, mimeType, fileSize };
		if (sound?.kind === 'mp3' || sound?.kind === 'wav') output.durationSeconds = sound.seconds;
		return { kind: 'stored', output, binary, sound };
	} catch (error) {
		// A store fails because of the file, too.
		if (typeof download.end === 'object') return download.end;
		return { problem: `n8n could not store it: ${messageOf(error)}`, startOver: false };
	} finally {
		release();
	}
}

const missingFile = ({ url, kind }: TaskOutput, problem: string): DeliveredFile => ({
	kind: 'missing',
	output: { url, kind },
	problem,
});

/** Starts over as often as it helps: all downloads of a file share their tries and their time. */
async function storeWhole(wanted: NamedFile, deps: FetchDeps): Promise<DeliveredFile> {
	const tries = new Tries(deps);
	let stored: StoredFile | FailedDownload;
	do {
		const download = new Download(wanted, deps, tries);
		stored = await store(download, wanted, deps).finally(() => download.close());
	} while ('problem' in stored && stored.startOver);
	return 'problem' in stored ? missingFile(wanted, stored.problem) : stored;
}

/** Downloads the files of one task. Never rejects. @param stem of their names */
export async function fetchFiles(
	outputs: readonly TaskOutput[],
	{ maxBytes, stem }: { maxBytes: number; stem: string },
	deps: FetchDeps,
): Promise<DeliveredFile[]> {
	const files = await Promise.all(
		outputs.map(async (output, index) => {
			if (index >= MAX_FILES)
				return missingFile(output, `only the first ${MAX_FILES} files of a task are fetched`);
			const wanted = { ...output, maxBytes, stem };
			return await deps.limiter.run(async () => await storeWhole(wanted, deps));
		}),
	);
	numberNames(files, stem);
	return files;
}
