/** Reads times of any shape. A wrong one would rule out the task that a lost creation made. */
import { asNumber, isGiven, trimmedText } from '../base/json';

/** Longest time, in characters. Parsing a longer text would take long. */
const MAX_TIME = 64;

/** Names its zone, and can't be read in two ways: ISO 8601, or as in HTTP. */
const CERTAIN =
	/^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)? ?(Z|UTC|GMT|[+-]\d\d(:?\d\d)?)|[a-z]{3}, \d\d [a-z]{3} \d{4} [\d:]+ GMT)$/i;

function parsed(text: string): number | undefined {
	const time = text.length > MAX_TIME ? NaN : Date.parse(text);
	return Number.isNaN(time) ? undefined : time;
}

/** Returns the epoch ms of a text that names its zone. */
export const certainTime = (text: string): number | undefined =>
	CERTAIN.test(text) ? parsed(text) : undefined;

/** Returns epoch ms, from seconds or ms, also as a text, or from a text that names its zone. */
export function momentOf(value: unknown): number | undefined {
	const number = asNumber(value);
	const text = trimmedText(value) ?? '';
	const time = number === undefined ? certainTime(text) : number < 1e11 ? number * 1_000 : number;
	// Before 2001 and after 2286 lie zero times, ages, compact dates and microseconds.
	return time !== undefined && time >= 1e12 && time < 1e13 ? time : undefined;
}

/** Like {@link momentOf}; a text that names no zone is read as UTC. */
export function timeOf(value: unknown): number | undefined {
	const text = trimmedText(value);
	const texts = asNumber(value) === undefined ? [`${text}Z`, `${text} UTC`, `${text}`] : [];
	return momentOf(value) ?? texts.map(parsed).find(isGiven);
}
