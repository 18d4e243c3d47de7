/** Transcripts as JSON: segments with the times of their words, in seconds. Pure. Source: docs/service.md, "Shapes". */
import { type Bound, foreignJson } from '../service/bounded';
import type { Work } from '../service/clock';
import { asNumber, isObject, type JsonObject } from '../service/json';

interface TimedWord extends JsonObject {
	text: string;
	start?: number;
	end?: number;
}

export interface Segment extends TimedWord {
	words: TimedWord[];
}

/** Ten hours of speech. Parsing more would hold n8n's event loop for too long. */
const TRANSCRIPT: Bound = { bytes: 5_000_000, depth: 32, values: 500_000, text: 5_000_000 };
const STEP_WORDS = 500;

/** The times of a value as numbers; what is not a time is left out. */
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
		if (words.push(word) % STEP_WORDS === 0) yield;
	}
	const text = value.text ?? words.map((word) => word.text).join(' ');
	return typeof text === 'string' ? { ...value, text, ...times, words } : undefined;
}

/** The segments of a transcript: a list, or one alone. Undefined where the text is something else. */
export function* parseWords(text: string): Work<Segment[] | undefined> {
	const value = foreignJson(text.replace(/^\ufeff/, ''), TRANSCRIPT);
	yield;
	const segments: Segment[] = [];
	for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
		const segment = yield* readSegment(each);
		if (segment === undefined) return undefined;
		if (segments.push(segment) % STEP_WORDS === 0) yield;
	}
	return segments;
}

export function* writeSegment(
	{ words, ...segment }: Segment,
	change: (seconds: number) => number,
): Work<string> {
	const changed = (time?: number) => (time === undefined ? undefined : change(time));
	const write = (value: { start?: number; end?: number }) =>
		JSON.stringify({ ...value, start: changed(value.start), end: changed(value.end) });
	const written: string[] = [];
	for (const word of words) if (written.push(write(word)) % STEP_WORDS === 0) yield;
	return `${write(segment).slice(0, -1)},"words":[${written.join(',')}]}`;
}

/** What a segment says, by its own times, else those of its words; nothing where there are none. */
export function spokenOf({ text, words, ...own }: Segment) {
	const start = own.start ?? words.find((word) => word.start !== undefined)?.start;
	const end = own.end ?? words.flatMap((word) => word.end ?? []).at(-1);
	return start === undefined || end === undefined
		? []
		: [{ text, start, end: Math.max(start, end) }];
}
