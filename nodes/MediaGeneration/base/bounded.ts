/**
 * Reads what others send. Its size, depth and number of values are limited, so that none of it can fill the memory, block n8n's event
 * loop or overflow a stack later.
 */
import { parseJson } from './json';
import { ANSWER, type Bound } from './bounds';

export interface Read {
	/** The parsed JSON; undefined if the text is something else, or beyond its bound. */
	body: unknown;
	/** What exceeds the bound; continues a sentence such as "an answer ...". */
	unread?: string;
}

/** Counts what begins or separates values, in texts as well: parsing takes as long as there are values, not as the text is long. */
function hasMoreValues(json: string, most: number): boolean {
	let marks = 0;
	for (let at = 0; at < json.length && marks <= most; at += 1) {
		const code = json.charCodeAt(at);
		if (code === 0x2c || code === 0x5b || code === 0x7b) marks += 1;
	}
	return marks > most;
}

const isDeeper = (value: unknown, depth: number): boolean =>
	typeof value === 'object' &&
	value !== null &&
	(depth === 0 || Object.values(value).some((each) => isDeeper(each, depth - 1)));

/** A double may round a whole number of this length. No ID has more digits. */
const LONG_NUMBER = /(?<![-+.eE\d])\d{16,40}(?![-+.eE\d])/g;

const exactly = (number: string) => (Number.isSafeInteger(Number(number)) ? number : `"${number}"`);

/** Returns where a text ends that begins here. A regular expression would overflow its stack. */
function endOfText(json: string, start: number): number {
	let end = start;
	let slashes = 0;
	do {
		end = json.indexOf('"', end + 1);
		for (slashes = 0; json[end - 1 - slashes] === '\\';) slashes += 1;
	} while (slashes % 2 === 1);
	return end + 1;
}

/** Makes a text of each number that a double can't hold: a rounded ID is another task's. @param json valid, so that its texts end */
function withExactNumbers(json: string): string {
	let exact = '';
	let start = 0;
	for (let at = json.indexOf('"'); at >= 0; at = json.indexOf('"', start)) {
		const end = endOfText(json, at);
		exact += json.slice(start, at).replace(LONG_NUMBER, exactly) + json.slice(at, end);
		start = end;
	}
	return exact + json.slice(start).replace(LONG_NUMBER, exactly);
}

/** Never throws. @param whole whether the text is all that was sent */
export function readJson(text: string, bound: Bound = ANSWER, whole = true): Read {
	const unread = (why: string): Read => ({ body: undefined, unread: why });
	if (!whole || text.length > bound.bytes)
		return unread(`of more than ${Math.round(bound.bytes / 1_000_000)} MB`);
	if (hasMoreValues(text, bound.values)) return unread(`with more than ${bound.values} values`);
	const body = parseJson(text);
	if (isDeeper(body, bound.depth))
		return unread(`that is nested deeper than ${bound.depth} levels`);
	const isExact = body === undefined || !/\d{16}/.test(text);
	return { body: isExact ? body : parseJson(withExactNumbers(text)) };
}

/**
 * Reads the text of a body, which n8n hands out as a stream, as bytes or as a text. A stream is read up to the bound and then
 * destroyed. Rejects if the stream breaks. If a body is not `whole`, the text is its beginning.
 */
export async function readText(
	body: unknown,
	bytes = ANSWER.bytes,
): Promise<{ text: string; whole: boolean }> {
	if (typeof body === 'string') return { text: body.slice(0, bytes), whole: body.length <= bytes };
	const isStream = typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
	const rest = isStream ? (body as AsyncIterable<Buffer>) : [];
	const chunks: Buffer[] = [];
	let length = 0;
	for await (const chunk of Buffer.isBuffer(body) ? [body] : rest) {
		chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
		length += chunk.length;
		if (length > bytes) break;
	}
	const text = Buffer.concat(chunks).subarray(0, bytes).toString();
	return { text: text.replace(/^\uFEFF/, ''), whole: length <= bytes };
}
