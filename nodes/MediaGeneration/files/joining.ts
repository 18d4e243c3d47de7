/** Joins stored files into one: sound of one format, and transcripts whose times are moved to fit it (docs/media.md). */
import type { IBinaryData, IDataObject } from 'n8n-workflow';
import { mergeTranscripts, transcriptOf, type Merged } from '../audio/captions';
import { joinedChunks, planJoin, type Joinable, type PlanOptions } from '../audio/join';
import { isOfType, mimeTypeOf } from '../base/fileTypes';
import { soundFactsOf } from '../audio/scan';
import { toMs } from '../audio/sound';
import type { Spoken } from '../audio/srt';
import type { N8nContext } from '../n8n/execution';
import { inPieces, realClock } from '../n8n/realClock';
import { attemptAsync } from '../base/outcomes';
import { openStored, readStored, readStoredText, storeChunks } from './binary';
import { MAX_TRANSCRIPT_BYTES } from '../base/bounds';
import { baseNameOf } from './fileNames';
import type { OutputFile } from './outputFile';

type Stored = OutputFile & { binary: IBinaryData };

interface JoinOptions extends PlanOptions {
	baseName: string;
	withTranscript: boolean;
}

type Joined =
	/** `times`: where each part is in the joined sound. */
	| { ok: true; files: OutputFile[]; times: Joinable['parts']; json: IDataObject }
	/** The reason completes "could not be joined: ...". */
	| { ok: false; reason: string };

interface Joining extends Pick<JoinOptions, 'nameOf'> {
	plan: Joinable;
	/** Without an extension. */
	name: string;
}

/** @param parts the files of each part: its sound, and its transcripts if it has any */
export async function joinParts(
	context: N8nContext,
	parts: ReadonlyArray<readonly OutputFile[]>,
	options: JoinOptions,
): Promise<Joined> {
	const stored = parts.map((files) =>
		files.filter((file): file is Stored => file.binary !== undefined),
	);
	const sounds = stored.flatMap(
		(files) => files.find(({ output }) => output.kind === 'audio') ?? [],
	);
	if (sounds.length < parts.length)
		return { ok: false, reason: 'not every part has an audio file' };
	const facts = [];
	for (const { binary, sound } of sounds)
		facts.push(sound ?? (await soundFactsOf(readStored(context, binary))));
	const plan = planJoin(facts, options);
	if (typeof plan === 'string') return { ok: false, reason: plan };
	const name = baseNameOf(options.baseName) ?? 'joined';
	const joining = { plan, name, nameOf: options.nameOf };
	const sound = await joinSounds(context, sounds, joining);
	const captions = await joinTranscripts(context, stored, joining);
	const { hints, text } = captions;
	const json: IDataObject = { duration_seconds: toMs(plan.durationSeconds) };
	if (hints.length > 0) json.hint = hints.join(' ');
	if (options.withTranscript && text !== undefined)
		json.transcript = (await inPieces(transcriptOf(text))) ?? [];
	const times = plan.parts.map(({ start, end }) => ({ start: toMs(start), end: toMs(end) }));
	return { ok: true, files: [sound, ...captions.files], times, json };
}

async function joinSounds(
	context: N8nContext,
	sounds: readonly Stored[],
	{ plan, name }: Joining,
): Promise<OutputFile> {
	const { kind, bytes } = plan;
	const durationSeconds = toMs(plan.durationSeconds);
	const soundOf = (part: number) => sounds[part]?.binary as IBinaryData;
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
	parts: ReadonlyArray<readonly Stored[]>,
	joining: Joining,
) {
	const files: OutputFile[] = [];
	const hints: string[] = [];
	let text: string | undefined;
	for (const extension of ['srt', 'json'] as const) {
		const transcripts = parts.flatMap((own) => {
			const all = own.filter(({ output }) => output.kind === 'transcript');
			return all.find(({ binary }) => isOfType(binary, extension)) ?? [];
		});
		if (transcripts.length === 0) continue;
		const merged = await mergedText(context, transcripts, { extension, ...joining });
		if ('reason' in merged) {
			hints.push(merged.reason);
			continue;
		}
		text ??= merged.text;
		const bytes = Buffer.from(merged.text);
		const file = { fileName: `${joining.name}.${extension}`, mimeType: mimeTypeOf(extension) };
		const binary = await context.helpers.prepareBinaryData(bytes, file.fileName, file.mimeType);
		const output = { kind: 'transcript', ...file, fileSize: bytes.length } as const;
		files.push({ output, binary });
	}
	return { files, hints, text };
}

async function mergedText(
	context: N8nContext,
	transcripts: readonly Stored[],
	{ extension, plan, nameOf }: Joining & { extension: 'srt' | 'json' },
): Promise<Merged> {
	if (transcripts.length < plan.parts.length) {
		const reason = `Not every part has a transcript (${extension.toUpperCase()}), so none was joined.`;
		return { reason };
	}
	const merged = await attemptAsync(async () => {
		const spoken: Spoken[] = [];
		let left = MAX_TRANSCRIPT_BYTES;
		for (const [number, { binary }] of transcripts.entries()) {
			const text = await readStoredText(context, binary, left);
			if (text === undefined) throw new Error('The transcripts are too long');
			left -= text.length;
			spoken.push({ text, start: 0, end: 0, ...plan.parts[number] });
		}
		return await inPieces(mergeTranscripts(extension, spoken, nameOf));
	});
	return merged.ok ? merged.value : { reason: 'A transcript could not be read.' };
}
