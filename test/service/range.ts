/** `from` inclusive, `to` exclusive. */
export interface ByteRange {
	from: number;
	to: number;
}

/** One range of a Range header (RFC 9110, 14.2); null where there is none that is understood. */
export function byteRange(header: unknown, length: number): ByteRange | 'unsatisfiable' | null {
	const match = /^bytes=(\d*)-(\d*)$/.exec(typeof header === 'string' ? header : '');
	if (!match || (match[1] === '' && match[2] === '')) return null;
	if (match[1] === '') {
		const last = Math.min(length, Number(match[2]));
		return last === 0 ? 'unsatisfiable' : { from: length - last, to: length };
	}
	const from = Number(match[1]);
	const to = match[2] === '' ? length : Math.min(length, Number(match[2]) + 1);
	if (from >= length) return 'unsatisfiable';
	return to <= from ? null : { from, to };
}
