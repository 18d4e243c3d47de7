/** Merges the transcripts of parts, so that their times fit the joined sound. */
import { readJson } from '../base/bounded';
import type { Work } from '../base/clock';
import { asNumber, isObject, type JsonObject } from '../base/json';
import type { Bound } from '../base/limits';
import { inWords, type NameOf, partName, toMs } from './sound';
import { inMs, MOST_CUES, parseSrt, type Spoken, writeCue } from './srt';

export type Merged = { merged: true; text: string } | { merged: false; reason: string };

/** Enough for ten hours of speech. Parsing more would block n8n's event loop for too long. */
const TRANSCRIPT: Bound = { bytes: 5_000_000, depth: 32, values: 500_000, text: 5_000_000 };

/** Returns the time in the joined sound of a part's `seconds`, never outside that part. */
function shifted(seconds: number, part: Spoken): number {
	const [first, last] = [inMs(part.start), inMs(part.end)];
	return Math.min(Math.max(first + inMs(seconds), first), last) / 1000;
}

/** A segment of a transcript in JSON (docs/service.md, "More routes"). */
interface Segment {
	/** As the service sent it. */
	value: JsonObject;
	text: string;
	/** Seconds; its own, else those of its words. */
	start: number | undefined;
	end: number | undefined;
}

function readSegment(value: unknown): Segment | undefined {
	if (!isObject(value)) return undefined;
	const [start, end] = [asNumber(value.start), asNumber(value.end)];
	const given = value.words ?? (start === undefined || end === undefined ? undefined : []);
	if (!Array.isArray(given)) return undefined;
	const words = given.map((word: unknown) => (isObject(word) ? word : {}));
	const said = words.map((word) => word.text ?? word.word);
	const text = value.text ?? said.join(' ');
	if (typeof text !== 'string' || said.some((each) => typeof each !== 'string')) return undefined;
	return {
		value,
		text,
		start: start ?? words.flatMap((word) => asNumber(word.start) ?? [])[0],
		end: end ?? words.flatMap((word) => asNumber(word.end) ?? []).at(-1),
	};
}

/** Reads a list of segments, or one alone. Returns undefined if the text is something else. */
function parseSegments(text: string): Segment[] | undefined {
	// trim() removes a byte-order mark, too.
	const { body } = readJson(text.trim(), TRANSCRIPT);
	const values: unknown[] = Array.isArray(body) ? body : [body];
	const segments = values.map(readSegment);
	return segments.every((segment) => segment !== undefined) ? segments : undefined;
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

interface Format<T> {
	name: string;
	read: (text: string) => T[] | undefined;
	/** Writes a value with its times in the joined sound. @param index from 0 */
	write: (value: T, part: Spoken, index: number) => string;
	whole: (written: string[]) => string;
}

function mergerOf<T>({ name, read, write, whole }: Format<T>) {
	return function* (parts: readonly Spoken[], nameOf: NameOf = partName): Work<Merged> {
		const written: string[] = [];
		for (const [index, part] of parts.entries()) {
			yield;
			const values = read(part.text);
			if (values === undefined) {
				const reason = `The transcript of ${nameOf(index)} can't be read: it is not ${name}.`;
				return { merged: false, reason };
			}
			if (written.length + values.length > MOST_CUES) {
				const reason = `The transcripts together have more than ${inWords(MOST_CUES)} entries.`;
				return { merged: false, reason };
			}
			for (const value of values) written.push(write(value, part, written.length));
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

/** Merges transcripts in JSON word by word, and keeps all other facts about a word. */
export const mergeWords = mergerOf<Segment>({
	name: 'a list of timed words',
	read: parseSegments,
	write: ({ value }, part) => JSON.stringify(withTimesMoved(value, part)),
	whole: (segments) => `[${segments.join(',')}]`,
});

/** Returns what a transcript in SRT or JSON says; undefined if it is neither. */
export function transcriptOf(transcript: string): Spoken[] | undefined {
	// A byte order mark counts as a space.
	if (!/^\s*[[{]/.test(transcript)) return parseSrt(transcript);
	return parseSegments(transcript)?.flatMap(({ text, start, end }) =>
		start === undefined || end === undefined
			? []
			: [{ text, start: toMs(start), end: toMs(Math.max(start, end)) }],
	);
}
