/**
 * Reading what others send: its size, depth and number of values are limited before it is parsed, so that none of it can fill the
 * memory, hold n8n's event loop or overflow a stack later.
 */

export interface Bound {
	bytes: number;
	/** Levels of objects and lists. */
	depth: number;
	/** Entries of all objects and lists together. */
	values: number;
	/** Characters of a single text or name. */
	text: number;
}

/** Real answers have a few kB; lists of voices and tasks up to 1 MB. Parsing the largest takes less than 100 ms. */
export const ANSWER: Bound = { bytes: 4_000_000, depth: 100, values: 100_000, text: 4_000_000 };

export type Read =
	| { kind: 'json'; value: unknown }
	| { kind: 'notJson' }
	/** The reason reads on from "an answer". */
	| { kind: 'beyondBound'; reason: string };

interface Shape {
	depth: number;
	values: number;
	text: number;
	/** Start and end of each whole number that a double may round. */
	longNumbers: Array<[number, number]>;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function endOfText(json: string, start: number): number {
	for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
		let slashes = 0;
		while (json.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
		if (slashes % 2 === 0) return end + 1;
	}
	return json.length;
}

const isDigit = (code: number) => code >= 0x30 && code <= 0x39;
/** Nothing below 10 to the power of 15 is rounded, and no ID has more digits than this. */
const isLong = (digits: number) => digits >= 16 && digits <= 40;
/** What makes digits a part of a fraction or of an exponent. */
const isInNumber = (character: string) => /[-+.eE]/.test(character);

/** In one pass and without parsing. Stops soon after a limit is passed. */
function shapeOf(json: string, bound: Bound): Shape {
	const shape: Shape = { depth: 0, values: 0, text: 0, longNumbers: [] };
	let depth = 0;
	for (let at = 0; at < json.length && shape.values <= bound.values;) {
		const code = json.charCodeAt(at);
		const start = at;
		at += 1;
		if (code === QUOTE) {
			at = endOfText(json, start);
			shape.text = Math.max(shape.text, at - start - 2);
		} else if (code === 0x7b || code === 0x5b) {
			depth += 1;
			shape.depth = Math.max(shape.depth, depth);
			shape.values += 1;
		} else if (code === 0x7d || code === 0x5d) depth -= 1;
		else if (code === 0x2c) shape.values += 1;
		else if (isDigit(code)) {
			while (isDigit(json.charCodeAt(at))) at += 1;
			if (isLong(at - start) && !isInNumber(json.charAt(start - 1)) && !isInNumber(json.charAt(at)))
				shape.longNumbers.push([start, at]);
		}
	}
	return shape;
}

function problemOf(shape: Shape, bound: Bound): string | undefined {
	if (shape.depth > bound.depth) return `that is nested deeper than ${bound.depth} levels`;
	if (shape.values > bound.values) return `with more than ${bound.values} values`;
	return shape.text > bound.text ? `with a text of more than ${bound.text} characters` : undefined;
}

/** IDs can be numbers, and a rounded one is another task's: whole numbers that a double can't hold become texts. */
function withExactNumbers(json: string, { longNumbers }: Shape): string {
	let done = 0;
	const pieces: string[] = [];
	for (const [start, end] of longNumbers) {
		if (Number.isSafeInteger(Number(json.slice(start, end)))) continue;
		pieces.push(json.slice(done, start), `"${json.slice(start, end)}"`);
		done = end;
	}
	return pieces.join('') + json.slice(done);
}

/** Never throws. @param whole whether the text is all that was sent */
export function readJson(text: string, bound: Bound = ANSWER, whole = true): Read {
	if (!whole || text.length > bound.bytes) {
		const reason = `of more than ${Math.round(bound.bytes / 1_000_000)} MB`;
		return { kind: 'beyondBound', reason };
	}
	const shape = shapeOf(text, bound);
	const problem = problemOf(shape, bound);
	if (problem !== undefined) return { kind: 'beyondBound', reason: problem };
	try {
		return { kind: 'json', value: JSON.parse(withExactNumbers(text, shape)) as unknown };
	} catch {
		return { kind: 'notJson' };
	}
}

export function foreignJson(text: string, bound: Bound): unknown {
	const read = readJson(text, bound);
	return read.kind === 'json' ? read.value : undefined;
}

export interface ReadText {
	text: string;
	/** False where the body has more than the bound: then the text is its beginning. */
	whole: boolean;
}

/**
 * The text of a body, which n8n hands out as a stream, as bytes or as a text. A stream is read up to the bound and then
 * destroyed. Rejects where the stream breaks.
 */
export async function readText(body: unknown, { bytes }: Bound = ANSWER): Promise<ReadText> {
	if (typeof body === 'string') return { text: body.slice(0, bytes), whole: body.length <= bytes };
	const chunks: Buffer[] = [];
	let length = 0;
	for await (const chunk of chunksOf(body)) {
		chunks.push(Buffer.from(chunk));
		length += chunk.length;
		if (length > bytes) break;
	}
	const text = Buffer.concat(chunks).subarray(0, bytes).toString();
	return { text: text.replace(/^\uFEFF/, ''), whole: length <= bytes };
}

function chunksOf(body: unknown): AsyncIterable<Buffer> | Iterable<Buffer> {
	if (Buffer.isBuffer(body)) return [body];
	const isStream = typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
	return isStream ? (body as AsyncIterable<Buffer>) : [];
}
