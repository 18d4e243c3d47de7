/** Words for messages and lines in the log. */

/** Matches control characters, line ends, and marks that change the writing direction. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

/** Makes a text from outside, such as a task's ID, safe for a message or a line in a log: n8n's notifications render messages as HTML. */
export const onOneLine = (text: string) =>
	text.replace(CONTROLS, ' ').replaceAll('<', '‹').replaceAll('>', '›');

/** Fits a text of the service into a message: on one line, truncated, and without HTML, which n8n's notifications would render. */
export function quote(text = '', limit = 300): string | undefined {
	const line = onOneLine(text.slice(0, 10_000)).replace(/\s+/g, ' ').trim();
	if (line === '') return undefined;
	return line.length > limit ? `${line.slice(0, limit)}...` : line;
}

/** Names items as n8n counts them, from 0: "items 1 and 2". */
export function itemsInWords(indexes: readonly number[]): string {
	const list = new Intl.ListFormat('en').format(indexes.map(String));
	return `${indexes.length === 1 ? 'item' : 'items'} ${list}`;
}

export function seconds(ms: number): string {
	const value = Math.round(ms / 100) / 10;
	return value >= 120 ? `${Math.round(value / 60)} minutes` : `${value} s`;
}

export function megabytes(bytes: number): string {
	return `${Number((bytes / 1_000_000).toPrecision(3))} MB`;
}
