/**
 * Reads what others send. Its size, depth and number of values are limited, so that none of it can fill the memory, block n8n's event
 * loop or overflow a stack later.
 */
import { parseJson } from './json';
import { ANSWER, type Bound } from './bounds';

export interface BoundedJson {
	/** The parsed JSON; undefined if the text is something else, or beyond its bound. */
	body: unknown;
	/** What exceeds the bound; continues a sentence such as "an answer ...". */
	unread?: string;
}

/** Counts what begins or separates values, in texts as well: parsing takes as long as there are values, not as the text is long. */
function hasMoreValues(json: string, most: number): boolean {
	let left = most;
	for (const mark of ',[{')
		for (let at = json.indexOf(mark); at >= 0; at = json.indexOf(mark, at + 1))
			if ((left -= 1) < 0) return true;
	return false;
}

/** Looks at each value once, because there can be many. @param most levels */
function shapeOf(body: unknown, most: number): { isDeeper: boolean; isRounded: boolean } {
	const shape = { isDeeper: false, isRounded: false };
	const look = (value: unknown, left: number) => {
		if (typeof value === 'number')
			shape.isRounded ||= Math.abs(value) > Number.MAX_SAFE_INTEGER && Math.abs(value) < 1e41;
		if (typeof value !== 'object' || value === null || shape.isDeeper) return;
		shape.isDeeper = left === 0;
		if (left > 0) for (const each of Object.values(value)) look(each, left - 1);
	};
	look(body, most);
	return shape;
}

/** Numbers that a double may round. No ID has more digits. */
const LONG_NUMBERS = /(?<![-+.eE\d])\d{16,40}(?![-+.eE\d])/g;

/** Makes a text of each number that a double can't hold: a rounded ID is another task's. @param json valid, so that its texts end */
function withExactNumbers(json: string): string {
	const parts: string[] = [];
	for (let at = 0; at < json.length;) {
		const opens = json.indexOf('"', at);
		const closes = opens < 0 ? json.length : endOfText(json, opens);
		const beforeText = json.slice(at, opens < 0 ? json.length : opens);
		const exact = beforeText.replace(LONG_NUMBERS, (found) =>
			Number.isSafeInteger(Number(found)) ? found : `"${found}"`,
		);
		parts.push(exact, json.slice(at + beforeText.length, closes));
		at = closes;
	}
	return parts.join('');
}

function endOfText(json: string, opens: number): number {
	let at = opens + 1;
	while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
	return at + 1;
}

/** Never throws. @param isComplete whether the text is all that was sent */
export function readJson(text: string, bound: Bound = ANSWER, isComplete = true): BoundedJson {
	const unread = (why: string): BoundedJson => ({ body: undefined, unread: why });
	if (!isComplete || text.length > bound.bytes)
		return unread(`of more than ${Math.round(bound.bytes / 1_000_000)} MB`);
	if (hasMoreValues(text, bound.values)) return unread(`with more than ${bound.values} values`);
	const body = parseJson(text);
	const { isDeeper, isRounded } = shapeOf(body, bound.depth);
	if (isDeeper) return unread(`that is nested deeper than ${bound.depth} levels`);
	return { body: isRounded ? parseJson(withExactNumbers(text)) : body };
}

/**
 * Reads the text of a body, which n8n hands out as a stream, as bytes or as a text. A stream is read up to the bound and then
 * destroyed. Rejects if the stream breaks. Of a longer body, the text is the beginning.
 */
export async function readText(
	body: unknown,
	bytes = ANSWER.bytes,
): Promise<{ text: string; isComplete: boolean }> {
	if (typeof body === 'string')
		return { text: body.slice(0, bytes), isComplete: body.length <= bytes };
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
	return { text: text.replace(/^\uFEFF/, ''), isComplete: length <= bytes };
}
