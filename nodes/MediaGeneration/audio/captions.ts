/** Merges the transcripts of parts, so that their times fit the joined sound. */
import { readJson } from '../base/bounded';
import type { Work } from '../base/work';
import { asNumber, isObject, type JsonObject } from '../base/json';
import { TRANSCRIPT } from '../base/bounds';
import { type NameOf, partName, toMs } from './sound';
import { parseSrt, type Spoken, writeCue } from './srt';

/** The reason is a sentence. */
export type Merged = { text: string } | { reason: string };

/** Returns the time in the joined sound of a part's `seconds`, never outside that part. */
function shifted(seconds: number, part: Spoken): number {
	return toMs(Math.min(Math.max(part.start + seconds, part.start), part.end));
}

/** Copies a value, with its times moved to those of the joined sound. */
function withTimesMoved(value: unknown, part: Spoken): unknown {
	if (Array.isArray(value)) return value.map((entry) => withTimesMoved(entry, part));
	if (!isObject(value)) return value;
	const entries = Object.entries(value).map(([name, entry]) => {
		const time = name === 'start' || name === 'end' ? asNumber(entry) : undefined;
		return [name, time === undefined ? withTimesMoved(entry, part) : shifted(time, part)];
	});
	return Object.fromEntries(entries);
}

/** Reads a list of segments, or one alone (docs/service.md, "More routes"). Returns undefined if the text is something else. */
function segmentsIn(text: string): JsonObject[] | undefined {
	// trim() removes a byte-order mark, too.
	const json = text.trim();
	if (json === '') return [];
	const { body } = readJson(json, TRANSCRIPT);
	const values: unknown[] = Array.isArray(body) ? body : [body];
	const hasStart = (value: unknown) => isObject(value) && asNumber(value.start) !== undefined;
	const areWords = (words: unknown) =>
		Array.isArray(words) && (words.length === 0 || words.some(hasStart));
	const isSegment = (value: unknown) =>
		hasStart(value) || (isObject(value) && areWords(value.words));
	return values.every(isSegment) ? (values as JsonObject[]) : undefined;
}

/** Returns what a segment says, and when: its own times, else those of its words; undefined if it has none. */
function spokenBySegment(segment: JsonObject): Spoken | undefined {
	const words = Array.isArray(segment.words) ? segment.words.filter(isObject) : [];
	const { text = words.map((word) => word.text ?? word.word).join(' ') } = segment;
	const [start] = [segment, ...words].flatMap((each) => asNumber(each.start) ?? []);
	const end = asNumber(segment.end) ?? words.flatMap((word) => asNumber(word.end) ?? []).at(-1);
	if (typeof text !== 'string' || start === undefined || end === undefined) return undefined;
	return { text, start: toMs(start), end: toMs(Math.max(start, end)) };
}

/** Returns what a transcript in SRT or JSON says; undefined if it is neither. */
export function* transcriptOf(transcript: string): Work<Spoken[] | undefined> {
	// A byte order mark counts as a space.
	if (!/^\s*[[{]/.test(transcript)) return yield* parseSrt(transcript);
	const spoken: Spoken[] = [];
	const segments = segmentsIn(transcript);
	for (const segment of segments ?? []) {
		const said = spokenBySegment(segment);
		if (said !== undefined) spoken.push(said);
		if (spoken.length % 1_000 === 999) yield;
	}
	return segments && spoken;
}

/** Merges segments word by word, and keeps all other facts about a word. */
export function* mergeTranscripts(
	extension: 'srt' | 'json',
	parts: readonly Spoken[],
	nameOf: NameOf = partName,
): Work<Merged> {
	const isSrt = extension === 'srt';
	const written: string[] = [];
	for (const [index, part] of parts.entries()) {
		yield;
		const entries = isSrt ? yield* parseSrt(part.text) : segmentsIn(part.text);
		if (entries === undefined) {
			const kind = isSrt ? 'a SubRip file' : 'a list of timed words';
			const reason = `The transcript of ${nameOf(index)} can't be read: it is not ${kind}.`;
			return { reason };
		}
		// Other times would all lie at the part's end: in milliseconds, for example.
		const most = part.end - part.start + 1;
		if (!isSrt && entries.some((entry) => (asNumber(entry.start) ?? 0) > most))
			return { reason: `The times of ${nameOf(index)} are not seconds of its sound.` };
		for (const entry of entries) {
			if (written.length % 1_000 === 999) yield;
			const moved = withTimesMoved(entry, part);
			written.push(isSrt ? writeCue(moved as Spoken, written.length) : JSON.stringify(moved));
		}
	}
	return { text: isSrt ? written.join('\n') : `[${written.join(',')}]` };
}
