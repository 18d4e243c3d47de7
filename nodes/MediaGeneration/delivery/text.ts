/** Whether some bytes are text, and what it says. Pure. Media are not: they have control characters within a few bytes. */

/** Except white space and the escape character that some East Asian encodings use. */
const CONTROL = /[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/;
/** What no text has: half characters, code points without a meaning. */
const NO_LETTER = /[\p{Surrogate}\p{Unassigned}\p{Private_Use}]/u;

function utf16Order(head: Buffer): 'little' | 'big' | undefined {
	const mark = head.length >= 2 ? head.readUInt16BE(0) : 0;
	if (mark === 0xfffe) return 'little';
	if (mark === 0xfeff) return 'big';
	// Without a mark: Latin letters, every other byte of which is zero.
	const start = [...head.subarray(0, 16)];
	if (start.length < 8) return undefined;
	const isLetter = (byte: number) => byte >= 0x20 && byte < 0x7f;
	const alternates = (zeros: number) =>
		start.every((byte, index) => (index % 2 === zeros ? byte === 0 : isLetter(byte)));
	if (alternates(1)) return 'little';
	return alternates(0) ? 'big' : undefined;
}

function utf16(head: Buffer, order: 'little' | 'big'): string | undefined {
	// A copy, as swapping works in place; without half a character at its end.
	const bytes = Buffer.from(head.subarray(0, head.length - (head.length % 2)));
	const text = (order === 'big' ? bytes.swap16() : bytes).toString('utf16le');
	const whole = text.replace(/[\ud800-\udbff]$/, '');
	return NO_LETTER.test(whole) ? undefined : whole;
}

/** UTF-8, or one of the encodings that have Latin letters where ASCII has them. */
function eightBit(head: Buffer): string | undefined {
	// The head may end within a character; however much of it is there, one sign stands for it.
	const text = head.toString('utf8').replace(/\ufffd$/, '');
	if (!text.includes('\ufffd')) return text;
	const others = head.reduce((count, byte) => count + (byte >= 0x80 ? 1 : 0), 0);
	return others * 4 <= head.length ? head.toString('latin1') : undefined;
}

/** The text that a file begins with, without a byte-order mark and leading spaces; undefined where the bytes are not text. */
export function textOf(head: Buffer): string | undefined {
	const order = utf16Order(head);
	const text = order === undefined ? eightBit(head) : utf16(head, order);
	if (text === undefined || CONTROL.test(text)) return undefined;
	// Which takes the mark away, too.
	return text.trimStart();
}
