/** A file on its way into an item: one shape from its address to its binary field. */
import type { IBinaryData } from 'n8n-workflow';
import { isDataUrl, type OutputKind, type TaskOutput } from '../answers/outputs';
import { extensionIn, mediaOf } from '../base/fileTypes';
import { toMs, type SoundFacts } from '../audio/sound';

/** An output as an item shows it (README, "Operations"). */
export interface DeliveredOutput {
	/** Missing for a file that was joined here, or that its address contained. */
	url?: string;
	kind: OutputKind;
	binaryProperty?: string;
	fileName?: string;
	mimeType?: string;
	fileSize?: number;
	/** Measured, for WAV and MP3. */
	durationSeconds?: number;
}

export interface WantedFile extends TaskOutput {
	maxBytes: number;
	/** Name without its extension. */
	baseName: string;
	/** Output format that the request asked for, if any. */
	format?: string | undefined;
}

export interface StoredFile {
	kind: 'stored';
	output: DeliveredOutput;
	binary: IBinaryData;
	/** Facts of a sound that was fetched. */
	sound?: SoundFacts | undefined;
}

export type DeliveredFile =
	| StoredFile
	| { kind: 'offered'; output: DeliveredOutput }
	/** The problem completes "could not be downloaded: ...". */
	| { kind: 'missing'; output: DeliveredOutput; problem: string };

interface InStore {
	binary: IBinaryData;
	fileName: string;
	mimeType: string;
	bytes: number;
	sound: SoundFacts;
}

export function storedFile(wanted: WantedFile, file: InStore): StoredFile {
	const { binary, fileName, mimeType, bytes: fileSize, sound } = file;
	const media = mediaOf(extensionIn(fileName));
	// Where neither the task nor the address told what it is, its bytes do.
	const isShown = wanted.kind === 'file' && (media === 'audio' || media === 'image');
	const kind = isShown ? media : wanted.kind;
	// The task's own fields have an address that contains its file, too.
	const from = isDataUrl(wanted.url) ? {} : { url: wanted.url };
	const output: DeliveredOutput = { ...from, kind, fileName, mimeType, fileSize };
	if (kind !== 'audio') return { kind: 'stored', output, binary };
	if (sound.kind !== 'none') output.durationSeconds = toMs(sound.seconds);
	return { kind: 'stored', output, binary, sound };
}
