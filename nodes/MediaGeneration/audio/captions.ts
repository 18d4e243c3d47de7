/** Merges the transcripts of parts, so that their times fit the joined sound. */
import { readJson } from '../base/bounded';
import type { Bound } from '../base/limits';
import type { Work } from '../base/clock';
import { asNumber, isObject, type JsonObject } from '../base/json';
import { inWords, type NameOf, partName, toMs } from './sound';
import { inMs, MOST_CUES, parseSrt, type Spoken, writeCue } from './srt';

export type Merged = { merged: true; text: string } | { merged: false; reason: string };

const STEP_VALUES = 500;

/** Returns when the joined sound has what a part says at `seconds`: never outside that part. */
function shifted(seconds: number, part: Spoken): number {
	const [first, last] = [inMs(part.start), inMs(part.end)];
	return Math.min(Math.max(first + inMs(seconds), first), last) / 1000;
}

/** A segment of a transcript in JSON (docs/service.md, "More routes"), or one of its words. Times are in seconds. */
interface TimedWord extends JsonObject {
	text: string;
	start?: number;
	end?: number;
}

type Segment = TimedWord & { words: TimedWord[] };

/** Enough for ten hours of speech. Parsing more would hold n8n's event loop for too long. */
const TRANSCRIPT: Bound = { bytes: 5_000_000, depth: 32, values: 500_000, text: 5_000_000 };

function timesOf(value: JsonObject): Pick<TimedWord, 'start' | 'end'> {
	return { start: asNumber(value.start), end: asNumber(value.end) };
}

function readWord(value: unknown): TimedWord | undefined {
	if (!isObject(value)) return undefined;
	const text = value.text ?? value.word;
	return typeof text === 'string' ? { ...value, text, ...timesOf(value) } : undefined;
}

function* readSegment(value: unknown): Work<Segment | undefined> {
	if (!isObject(value)) return undefined;
	const times = timesOf(value);
	const isTimed = times.start !== undefined && times.end !== undefined;
	const given = value.words ?? (isTimed ? [] : undefined);
	if (!Array.isArray(given)) return undefined;
	const words: TimedWord[] = [];
	for (const each of given as unknown[]) {
		const word = readWord(each);
		if (word === undefined) return undefined;
		if (words.push(word) % STEP_VALUES === 0) yield;
	}
	const text = value.text ?? words.map((word) => word.text).join(' ');
	return typeof text === 'string' ? { ...value, text, ...times, words } : undefined;
}

/** Reads a list of segments, or one alone. Returns undefined if the text is something else. */
function* parseWords(text: string): Work<Segment[] | undefined> {
	// trim() removes a byte-order mark, too.
	const value = readJson(text.trim(), TRANSCRIPT).body;
	yield;
	const segments: Segment[] = [];
	for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
		const segment = yield* readSegment(each);
		if (segment === undefined) return undefined;
		if (segments.push(segment) % STEP_VALUES === 0) yield;
	}
	return segments;
}

function* writeSegment({ words, ...segment }: Segment, part: Spoken): Work<string> {
	const moved = (time?: number) => (time === undefined ? undefined : shifted(time, part));
	const write = (value: { start?: number; end?: number }) =>
		JSON.stringify({ ...value, start: moved(value.start), end: moved(value.end) });
	const written: string[] = [];
	for (const word of words) if (written.push(write(word)) % STEP_VALUES === 0) yield;
	return `${write(segment).slice(0, -1)},"words":[${written.join(',')}]}`;
}

function spokenOf({ text, words, ...own }: Segment) {
	const start = own.start ?? words.find((word) => word.start !== undefined)?.start;
	const end = own.end ?? words.flatMap((word) => word.end ?? []).at(-1);
	return start === undefined || end === undefined
		? []
		: [{ text, start: toMs(start), end: toMs(Math.max(start, end)) }];
}

interface Format<T> {
	name: string;
	read: (text: string) => Work<T[] | undefined>;
	/** Writes a value with its times in the joined sound. @param index from 0 */
	write: (value: T, part: Spoken, index: number) => string | Work<string>;
	whole: (written: string[]) => string;
}

function mergerOf<T>({ name, read, write, whole }: Format<T>) {
	return function* (parts: readonly Spoken[], nameOf: NameOf = partName): Work<Merged> {
		const written: string[] = [];
		for (const [index, part] of parts.entries()) {
			const values = yield* read(part.text);
			if (values === undefined) {
				const reason = `The transcript of ${nameOf(index)} can't be read: it is not ${name}.`;
				return { merged: false, reason };
			}
			if (written.length + values.length > MOST_CUES) {
				const reason = `The transcripts together have more than ${inWords(MOST_CUES)} entries.`;
				return { merged: false, reason };
			}
			for (const value of values) {
				const one = write(value, part, written.length);
				const length = written.push(typeof one === 'string' ? one : yield* one);
				if (length % STEP_VALUES === 0) yield;
			}
		}
		return { merged: true, text: whole(written) };
	};
}

export const mergeSrt = mergerOf<Spoken>({
	name: `a SubRip file of at most ${inWords(MOST_CUES)} cues`,
	read: parseSrt,
	write: ({ text, start, end }, part, index) =>
		writeCue({ text, start: shifted(start, part), end: shifted(end, part) }, index),
	whole: (cues) => cues.join('\n'),
});

/** Merges transcripts in JSON word by word, and keeps whatever else they say about a word. */
export const mergeWords = mergerOf<Segment>({
	name: 'a list of timed words',
	read: parseWords,
	write: writeSegment,
	whole: (segments) => `[${segments.join(',')}]`,
});

/** Returns what a transcript in SRT or JSON says; undefined if it is neither. */
export function* transcriptOf(transcript: string): Work<Spoken[] | undefined> {
	// A byte order mark counts as a space.
	if (/^\s*[[{]/.test(transcript)) return (yield* parseWords(transcript))?.flatMap(spokenOf);
	return yield* parseSrt(transcript);
}
