/** For texts that nobody would write. */
import fc from 'fast-check';

/**
 * Any code point, halves of surrogate pairs too. The `unit: 'binary'` of fast-check's `string` leaves those out, and takes a second to be made.
 */
export const anyCodePoint = fc
	.integer({ min: 0, max: 0x10ffff })
	.map((codePoint) => String.fromCodePoint(codePoint));
