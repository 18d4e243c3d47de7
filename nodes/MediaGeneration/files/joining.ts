/** Joins stored files into one: sound of one format, and transcripts whose times are moved to fit it (docs/media.md). */
import type { IBinaryData, IDataObject } from 'n8n-workflow';
import { mergeTranscripts, transcriptOf } from '../audio/captions';
import { joinedChunks, planJoin, type Joinable, type PlanOptions } from '../audio/join';
import { mimeTypeOf } from '../base/fileTypes';
import { soundFactsOf } from '../audio/scan';
import { toMs, type SoundFacts } from '../audio/sound';
import type { Spoken } from '../audio/srt';
import type { N8nContext } from '../transport/client';
import { inPieces, realClock } from '../n8n/realClock';
import { attemptAsync } from '../base/outcomes';
import { openStored, readStored, readStoredText, storeChunks } from './binary';
import { MAX_TRANSCRIPT_BYTES } from '../base/bounds';
import { baseNameOf } from './fileNames';
import type { OutputFile } from './outputFile';

export interface SoundSource {
	sound: IBinaryData;
	/** What an earlier reading found. */
	facts?: SoundFacts | undefined;
	srt?: IBinaryData | undefined;
	json?: IBinaryData | undefined;
}

interface JoinOptions extends PlanOptions {
	baseName: string;
	withTranscript: boolean;
}

type Joined =
	/** `times`: where each part is in the joined sound. */
	| { ok: true; files: OutputFile[]; times: Joinable['parts']; json: IDataObject }
	/** The reason completes "could not be joined: ...". */
	| { ok: false; reason: string };

/** @param given undefined for a part without sound */
export async function joinSources(
	context: N8nContext,
	given: ReadonlyArray<SoundSource | undefined>,
	options: JoinOptions,
): Promise<Joined> {
	const sources = given.filter((source) => source !== undefined);
	if (sources.length < given.length)
		return { ok: false, reason: 'not every part has an audio file' };
	const facts = [];
	for (const { sound, facts: known } of sources)
		facts.push(known ?? (await soundFactsOf(readStored(context, sound))));
	const plan = planJoin(facts, options);
	if (typeof plan === 'string') return { ok: false, reason: plan };
	const name = baseNameOf(options.baseName) ?? 'joined';
	const sound = await joinSound(context, sources, { plan, name });
	const captions = await joinTranscripts(context, sources, { plan, name, nameOf: options.nameOf });
	const { hints, text } = captions;
	const json: IDataObject = { duration_seconds: toMs(plan.durationSeconds) };
	if (hints.length > 0) json.hint = hints.join(' ');
	if (options.withTranscript && text !== undefined)
		json.transcript = (await inPieces(transcriptOf(text))) ?? [];
	const times = plan.parts.map(({ start, end }) => ({ start: toMs(start), end: toMs(end) }));
	return { ok: true, files: [sound, ...captions.files], times, json };
}

async function joinSound(
	context: N8nContext,
	sources: readonly SoundSource[],
	{ plan, name }: { plan: Joinable; name: string },
): Promise<OutputFile> {
	const { kind, bytes } = plan;
	const durationSeconds = toMs(plan.durationSeconds);
	const soundOf = (part: number) => sources[part]?.sound as IBinaryData;
	// All streams of the store have one class, so that this one serves as the sample, too.
	const sample = await openStored(context, soundOf(0));
	const chunks = joinedChunks(plan, (part) =>
		part === 0 && sample !== undefined
			? (sample as AsyncIterable<Buffer>)
			: readStored(context, soundOf(part)),
	);
	const file = { fileName: `${name}.${kind}`, mimeType: mimeTypeOf(kind) };
	const binary = await storeChunks(context, chunks, { ...realClock, ...file, sample }).finally(() =>
		sample?.destroy(),
	);
	const output = { kind: 'audio', ...file, fileSize: bytes, durationSeconds } as const;
	return { output, binary };
}

/** Joins each kind of transcript that every part has. A broken one must not cost the sound, so hints say why one is missing. */
async function joinTranscripts(
	context: N8nContext,
	sources: readonly SoundSource[],
	{ plan, name, nameOf }: { plan: Joinable; name: string } & Pick<JoinOptions, 'nameOf'>,
) {
	const files: OutputFile[] = [];
	const hints: string[] = [];
	const texts: string[] = [];
	for (const extension of ['srt', 'json'] as const) {
		const transcripts = sources.flatMap((source) => source[extension] ?? []);
		if (transcripts.length === 0) continue;
		if (transcripts.length < sources.length) {
			hints.push(
				`Not every part has a transcript (${extension.toUpperCase()}), so none was joined.`,
			);
			continue;
		}
		const read = await attemptAsync(async () => {
			const parts = await transcriptsOf(context, transcripts, plan.parts);
			return await inPieces(mergeTranscripts(extension, parts, nameOf));
		});
		const merged = read.ok ? read.value : { reason: 'A transcript could not be read.' };
		if ('reason' in merged) {
			hints.push(merged.reason);
			continue;
		}
		texts.push(merged.text);
		const bytes = Buffer.from(merged.text);
		const file = { fileName: `${name}.${extension}`, mimeType: mimeTypeOf(extension) };
		const binary = await context.helpers.prepareBinaryData(bytes, file.fileName, file.mimeType);
		const output = { kind: 'transcript', ...file, fileSize: bytes.length } as const;
		files.push({ output, binary });
	}
	return { files, hints, text: texts[0] };
}

async function transcriptsOf(
	context: N8nContext,
	transcripts: readonly IBinaryData[],
	times: Joinable['parts'],
): Promise<Spoken[]> {
	const parts: Spoken[] = [];
	let left = MAX_TRANSCRIPT_BYTES;
	for (const [number, binary] of transcripts.entries()) {
		const text = await readStoredText(context, binary, left);
		if (text === undefined) throw new Error('The transcripts are too long');
		left -= text.length;
		parts.push({ text, start: 0, end: 0, ...times[number] });
	}
	return parts;
}
