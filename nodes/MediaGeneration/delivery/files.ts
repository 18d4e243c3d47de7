/** From the addresses of a finished task to binary data: concurrently, bounded, streamed into n8n's binary store. */
import type { IBinaryData, IBinaryKeyData } from 'n8n-workflow';
import type { SoundFacts } from '../media/sound';
import type { N8nContext } from '../service/client';
import { messageOf } from '../service/failures';
import type { Limiter } from '../service/limiter';
import type { OutputKind, TaskOutput } from '../service/outputs';
import { DownloadError, Tries } from './fileAnswer';
import { Download, type DownloadDeps, type WantedFile } from './download';
import { learnMode, reserveMemory } from './binary';

/** An output as the item shows it (README, "Operations"). */
export interface DeliveredOutput {
	/** Where the service offers it; a file that was joined here has none. */
	url?: string;
	kind: OutputKind;
	binaryProperty?: string;
	fileName?: string;
	mimeType?: string;
	fileSize?: number;
	/** Of WAV and MP3, measured. */
	durationSeconds?: number;
}

export interface StoredFile {
	kind: 'stored';
	output: DeliveredOutput;
	binary: IBinaryData;
	sound: SoundFacts | undefined;
}

export type DeliveredFile =
	| StoredFile
	| { kind: 'offered'; output: DeliveredOutput }
	/** The problem completes "could not be downloaded: ...". */
	| { kind: 'missing'; output: DeliveredOutput; problem: string };

/** Puts files into the binary fields `data`, `data_1`, ... What is not in the store takes a number, but has no field. */
export function inFields(files: readonly DeliveredFile[], base: string) {
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

const MAX_FILES = 100;

/** Without its extension. File systems take 255 bytes; some programs put something before or behind a name. */
const MAX_NAME_BYTES = 195;

/** Letters of any script, digits, dots, dashes and underscores; never empty, never only dots, never too long. */
export function sanitizeName(text: string, maxBytes = MAX_NAME_BYTES): string {
	let name = text
		.slice(0, 2_000)
		.normalize('NFC')
		.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '_')
		.replace(/^[._\p{M}]+/u, '')
		.slice(0, maxBytes + 1);
	// Between two characters, combining marks included.
	while (Buffer.byteLength(name) > maxBytes) name = name.replace(/\P{M}\p{M}*$/u, '');
	name = name.replace(/[._]+$/, '');
	return name === '' ? 'file' : name;
}

interface Naming {
	type: string | undefined;
	taskId: string;
	fileName?: string | undefined;
}

/** Without extension: `name`, `name_1` ..., else `sound_effect-<task id>`, or `image-<task id>-2` where there are several of a kind. */
export function baseNames(
	outputs: readonly TaskOutput[],
	{ type, taskId, fileName }: Naming,
): string[] {
	const named = (base: string, ending: string) =>
		`${sanitizeName(base, MAX_NAME_BYTES - ending.length)}${ending}`;
	if (fileName !== undefined && fileName.trim() !== '')
		return outputs.map((_, index) => named(fileName, index === 0 ? '' : `_${index}`));
	return outputs.map((output) => {
		const { kind } = output;
		const same = outputs.filter((other) => other.kind === kind);
		const base = `${sanitizeName(type ?? kind, 60)}-${sanitizeName(taskId, 120)}`;
		// Transcripts of one task differ by their extension.
		const isUnique = kind === 'transcript' || same.length === 1;
		return named(base, isUnique ? '' : `-${same.indexOf(output) + 1}`);
	});
}

type Wanted = WantedFile & { baseName: string };

async function store(download: Download, wanted: Wanted, deps: FetchDeps): Promise<StoredFile> {
	const { baseName, kind, maxBytes, url } = wanted;
	const { mimeType, extension } = await download.readType();
	const release = await reserveMemory(download.length ?? maxBytes, deps.signal);
	try {
		const fileName = `${baseName}.${extension}`;
		const { helpers } = deps.context;
		const binary = await helpers.prepareBinaryData(download.open(), fileName, mimeType);
		learnMode(binary);
		const sound = kind === 'audio' ? download.scanner.end() : undefined;
		const fileSize = download.received;
		const output: DeliveredOutput = { url, kind, fileName, mimeType, fileSize };
		if (sound?.seconds !== undefined) output.durationSeconds = sound.seconds;
		return { kind: 'stored', output, binary, sound };
	} finally {
		release();
	}
}

const missing = ({ url, kind }: TaskOutput, problem: string): DeliveredFile => ({
	kind: 'missing',
	output: { url, kind },
	problem,
});

/** Begins from nothing as often as it helps: all downloads of a file share their tries and their time. */
async function storeWhole(wanted: Wanted, deps: FetchDeps): Promise<DeliveredFile> {
	for (const tries = new Tries(deps); ;) {
		const download = new Download(wanted, deps, tries);
		try {
			return await store(download, wanted, deps);
		} catch (error) {
			const failure = download.failure ?? error;
			if (!(failure instanceof DownloadError))
				return missing(wanted, `n8n could not store it: ${messageOf(failure)}`);
			if (failure.next !== 'startOver') return missing(wanted, failure.message);
		} finally {
			download.close();
		}
	}
}

/** Downloads the files of one task. Never rejects. */
export async function fetchFiles(
	outputs: readonly TaskOutput[],
	{ maxBytes, ...naming }: Naming & { maxBytes: number },
	deps: FetchDeps,
): Promise<DeliveredFile[]> {
	const names = baseNames(outputs.slice(0, MAX_FILES), naming);
	return await Promise.all(
		outputs.map(async (output, index) => {
			const baseName = names[index];
			if (baseName === undefined)
				return missing(output, `only the first ${MAX_FILES} files of a task are fetched`);
			const wanted = { ...output, maxBytes, baseName };
			return await deps.limiter.run(async () => await storeWhole(wanted, deps));
		}),
	);
}
