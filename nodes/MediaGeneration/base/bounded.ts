/**
 * Reads what others send. Its size, depth and number of values are limited before it is parsed, so that none of it can fill the
 * memory, block n8n's event loop or overflow a stack later.
 */
import { parseJson } from './json';
import { ANSWER, type Bound } from './bounds';

export interface Read {
	/** The parsed JSON; undefined if the text is something else, or beyond its bound. */
	body: unknown;
	/** What exceeds the bound; continues a sentence such as "an answer ...". */
	unread?: string;
}

function endOfText(json: string, start: number): number {
	for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
		let slashes = 0;
		while (json.charCodeAt(end - 1 - slashes) === 0x5c) slashes += 1;
		if (slashes % 2 === 0) return end + 1;
	}
	return json.length;
}

const isDigit = (code: number) => code >= 0x30 && code <= 0x39;
/** A double may round a whole number of this length. No ID has more digits. */
const LONG_NUMBER = /(?<![-+.eE\d])\d{16,40}(?![-+.eE\d])/;

/** Returns what exceeds the bound, or else the text to parse. Whole numbers that a double can't hold become texts: a rounded ID is another task's. */
function scanJson(json: string, bound: Bound): string | { exact: string } {
	let [at, depth, values, copied] = [0, 0, 0, 0];
	const pieces: string[] = [];
	while (at < json.length) {
		const code = json.charCodeAt(at);
		const start = at;
		at += 1;
		if (code === 0x22) {
			at = endOfText(json, start);
			if (at - start - 2 > bound.text) return `with a text of more than ${bound.text} characters`;
		} else if (code === 0x7b || code === 0x5b) {
			depth += 1;
			values += 1;
			if (depth > bound.depth) return `that is nested deeper than ${bound.depth} levels`;
		} else if (code === 0x7d || code === 0x5d) depth -= 1;
		else if (code === 0x2c) values += 1;
		else if (isDigit(code)) {
			while (isDigit(json.charCodeAt(at))) at += 1;
			const isLong =
				at - start >= 16 && LONG_NUMBER.test(json.slice(Math.max(0, start - 1), at + 1));
			if (isLong && !Number.isSafeInteger(Number(json.slice(start, at)))) {
				pieces.push(json.slice(copied, start), `"${json.slice(start, at)}"`);
				copied = at;
			}
		}
		if (values > bound.values) return `with more than ${bound.values} values`;
	}
	return { exact: pieces.join('') + json.slice(copied) };
}

/** Never throws. @param whole whether the text is all that was sent */
export function readJson(text: string, bound: Bound = ANSWER, whole = true): Read {
	const size = `of more than ${Math.round(bound.bytes / 1_000_000)} MB`;
	const scanned = whole && text.length <= bound.bytes ? scanJson(text, bound) : size;
	if (typeof scanned === 'string') return { body: undefined, unread: scanned };
	return { body: parseJson(scanned.exact) };
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
