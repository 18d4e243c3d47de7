/** Transcripts as JSON: segments with the times of their words, in seconds. Pure. Source: docs/service.md, "Shapes". */
import { asNumber, isObject, type JsonObject, parseJson } from '../service/json';

/** A word or what stands between two of them, and what else the service says of it. */
export interface TimedWord extends JsonObject {
	text: string;
	start?: number;
	end?: number;
}

export interface Segment extends JsonObject {
	text: string;
	start?: number;
	end?: number;
	words: TimedWord[];
}

/** The times of a value as numbers; what is not a time is left out. */
function timesOf(value: JsonObject): Pick<TimedWord, 'start' | 'end'> {
	return { start: asNumber(value.start), end: asNumber(value.end) };
}

function readWord(value: unknown): TimedWord | undefined {
	if (!isObject(value)) return undefined;
	const text = value.text ?? value.word;
	return typeof text === 'string' ? { ...value, text, ...timesOf(value) } : undefined;
}

function readSegment(value: unknown): Segment | undefined {
	if (!isObject(value)) return undefined;
	const times = timesOf(value);
	const isTimed = times.start !== undefined && times.end !== undefined;
	const given = value.words ?? (isTimed ? [] : undefined);
	if (!Array.isArray(given)) return undefined;
	const words = given.map(readWord);
	if (!words.every((word) => word !== undefined)) return undefined;
	const text = value.text ?? words.map((word) => word.text).join(' ');
	return typeof text === 'string' ? { ...value, text, ...times, words } : undefined;
}

/** The segments of a transcript: a list, or one alone. Undefined where the text is something else. */
export function parseWords(text: string): Segment[] | undefined {
	const value = parseJson(text.replace(/^\ufeff/, ''));
	const segments = (Array.isArray(value) ? value : [value]).map(readSegment);
	return segments.every((segment) => segment !== undefined) ? segments : undefined;
}

/** A segment whose times went through a function. */
export function withTimes(segment: Segment, change: (seconds: number) => number): Segment {
	const changed = <T extends { start?: number; end?: number }>(value: T): T => ({
		...value,
		...(value.start === undefined ? {} : { start: change(value.start) }),
		...(value.end === undefined ? {} : { end: change(value.end) }),
	});
	return { ...changed(segment), words: segment.words.map(changed) };
}

/** When a segment begins and ends: its own times, else those of its words; undefined where there are none. */
export function spanOf(segment: Segment): { start: number; end: number } | undefined {
	const { words } = segment;
	const start = segment.start ?? words.find((word) => word.start !== undefined)?.start;
	const end = segment.end ?? words.flatMap((word) => word.end ?? []).at(-1);
	return start === undefined || end === undefined
		? undefined
		: { start, end: Math.max(start, end) };
}
