/**
 * Several stored files into one: sound of one format becomes one file with measured times, transcripts are shifted to fit it.
 * What can't be joined is passed on as it is, and a hint says why. (docs/media.md)
 */
import type { IBinaryData } from 'n8n-workflow';
import { mergeSrt, mergeWords, transcriptOf, type Merged, type Spoken } from '../media/captions';
import { joined, planJoin, type Joinable } from '../media/join';
import { scan } from '../media/scan';
import type { SoundFacts } from '../media/sound';
import type { N8nContext } from '../service/client';
import { inPieces, type Work } from '../service/clock';
import { attemptLater } from '../service/failures';
import { MAX_TRANSCRIPT_BYTES, readStored, readStoredText, storeChunks } from './binary';
import { megabytes } from './body';
import { sanitizeName, type StoredFile } from './files';

/** The files of one part. */
export interface Source {
	sound: IBinaryData;
	/** Of the sound, where it was read before. */
	facts?: SoundFacts | undefined;
	srt?: IBinaryData | undefined;
	/** Word timings. */
	words?: IBinaryData | undefined;
}

export type Joined =
	| {
			ok: true;
			files: StoredFile[];
			durationSeconds: number;
			/** Where each part lies in the file, in seconds. */
			times: Array<{ start: number; end: number }>;
			/** What else the user should know: a transcript that could not be merged. */
			hint: string | undefined;
			transcript: Spoken[] | undefined;
	  }
	| { ok: false; reason: string };

export interface JoinOptions {
	pauseMs: number;
	/** A larger file is not made. */
	maxBytes: number;
	/** Without an extension. */
	baseName: string;
	/** What a part is called where it, or its transcript, can't be joined; "part 1" unless given. @param number from 0 */
	nameOf?: (number: number) => string;
	/** Whether the transcript is also wanted as data. */
	withTranscript: boolean;
}

/** Joins the sounds of all sources, in order, and their transcripts where each has one. */
export async function joinSources(
	context: N8nContext,
	sources: readonly Source[],
	{ pauseMs, maxBytes, baseName, withTranscript, nameOf }: JoinOptions,
): Promise<Joined> {
	const facts = [];
	for (const { sound, facts: known } of sources)
		facts.push(known ?? (await scan(readStored(context, sound))));
	const plan = planJoin(facts, { pauseMs, maxBytes, nameOf });
	if (!plan.joinable) return { ok: false, reason: plan.reason };
	const name = sanitizeName(baseName);
	const sound = await joinSound(context, sources, { plan, name });
	const files = [sound];
	const hints: string[] = [];
	const texts: Array<string | undefined> = [];
	for (const { field, merge, extension, mimeType } of TRANSCRIPTS) {
		const merged = await mergeTexts(context, {
			sources,
			field,
			merge: (parts) => merge(parts, nameOf),
			times: plan.parts,
		});
		if (merged !== undefined && !merged.merged) hints.push(merged.reason);
		if (merged?.merged !== true) continue;
		texts.push(merged.text);
		files.push(await storeText(context, merged.text, `${name}.${extension}`, mimeType));
	}
	return {
		ok: true,
		files,
		durationSeconds: plan.durationSeconds,
		times: plan.parts,
		hint: hints.length === 0 ? undefined : hints.join(' '),
		transcript: withTranscript ? await inPieces(transcriptOf(texts[0] ?? '')) : undefined,
	};
}

/** In the order of their binary fields. */
const TRANSCRIPTS = [
	{ field: 'srt', merge: mergeSrt, extension: 'srt', mimeType: 'application/x-subrip' },
	{ field: 'words', merge: mergeWords, extension: 'json', mimeType: 'application/json' },
] as const;

async function joinSound(
	context: N8nContext,
	sources: readonly Source[],
	{ plan, name }: { plan: Joinable; name: string },
): Promise<StoredFile> {
	const sample = sources[0]?.sound as IBinaryData;
	const fileName = `${name}.${plan.extension}`;
	let fileSize = 0;
	async function* counted(): AsyncGenerator<Buffer> {
		for await (const chunk of joined(plan, (part) =>
			readStored(context, sources[part]?.sound as IBinaryData),
		)) {
			fileSize += chunk.length;
			yield chunk;
		}
	}
	const { mimeType, durationSeconds } = plan;
	const binary = await storeChunks(context, counted(), {
		fileName,
		mimeType,
		bytes: plan.bytes,
		sample,
	});
	const output = { kind: 'audio', fileName, mimeType, fileSize, durationSeconds } as const;
	return { kind: 'stored', output, binary, sound: undefined };
}

const TOO_LONG = `The transcripts are longer than ${megabytes(MAX_TRANSCRIPT_BYTES)} together.`;

/** The transcripts of all sources as one; undefined where one has none. */
async function mergeTexts(
	context: N8nContext,
	{
		sources,
		field,
		merge,
		times,
	}: {
		sources: readonly Source[];
		field: 'srt' | 'words';
		merge: (parts: readonly Spoken[]) => Work<Merged>;
		times: ReadonlyArray<{ start: number; end: number }>;
	},
): Promise<Merged | undefined> {
	const parts: Spoken[] = [];
	let left = MAX_TRANSCRIPT_BYTES;
	// A transcript that breaks costs the transcript, not the sound.
	const merged = await attemptLater(async (): Promise<Merged | undefined> => {
		for (const [number, source] of sources.entries()) {
			const binary = source[field];
			const time = times[number];
			if (binary === undefined || time === undefined) return undefined;
			const text = await readStoredText(context, binary, left);
			if (text === undefined) return { merged: false, reason: TOO_LONG };
			left -= text.length;
			parts.push({ text, ...time });
		}
		return await inPieces(merge(parts));
	});
	return merged.ok ? merged.value : { merged: false, reason: 'A transcript could not be read.' };
}

async function storeText(
	context: N8nContext,
	text: string,
	fileName: string,
	mimeType: string,
): Promise<StoredFile> {
	const bytes = Buffer.from(text);
	const binary = await context.helpers.prepareBinaryData(bytes, fileName, mimeType);
	const output = { kind: 'transcript', fileName, mimeType, fileSize: bytes.length } as const;
	return { kind: 'stored', output, binary, sound: undefined };
}
