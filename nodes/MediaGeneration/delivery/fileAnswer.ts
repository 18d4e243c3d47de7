/** What the headers of a file host's answer say. Pure. */
import { headerOf } from '../service/fileHost';
import { asNumber } from '../service/json';
import { DownloadError } from './body';

export interface FileAnswer {
	status: number;
	headers: Record<string, unknown>;
}

export interface Part {
	from: number;
	/** Exclusive. */
	end: number;
	/** The length of the file, as it states it. */
	total: number | undefined;
}

/** A date counts as a strong validator where the file was this old when it was sent (RFC 9110, 8.8.2.2). */
const SETTLED_MS = 60_000;

/** What identifies the bytes of a file: a strong ETag, or a date that is as good. */
export function strongValidator(headers: FileAnswer['headers']): string | undefined {
	const etag = headerOf(headers, 'etag');
	if (etag !== undefined) return etag.startsWith('"') ? etag : undefined;
	const modified = headerOf(headers, 'last-modified');
	const age = Date.parse(headerOf(headers, 'date') ?? '') - Date.parse(modified ?? '');
	return age >= SETTLED_MS ? modified : undefined;
}

/** Throws where the body is in an encoding that n8n has left as it is. */
export function refuseEncoding(headers: FileAnswer['headers']): void {
	const encoding = headerOf(headers, 'content-encoding') ?? '';
	if (encoding === '' || encoding.toLowerCase() === 'identity') return;
	throw new DownloadError(
		`the file host sent it in an encoding that n8n can't undo: ${encoding.slice(0, 60)}`,
		'nothing',
	);
}

/** The part of a file that a 206 holds; undefined where it does not say so, or contradicts itself. */
export function partOf(headers: FileAnswer['headers']): Part | undefined {
	const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headerOf(headers, 'content-range') ?? '');
	if (range === null) return undefined;
	const [from, end] = [Number(range[1]), Number(range[2]) + 1];
	const total = asNumber(range[3]);
	const length = asNumber(headerOf(headers, 'content-length')) ?? end - from;
	const fits = from < end && length === end - from && (total === undefined || end <= total);
	return fits ? { from, end, total } : undefined;
}

/** Whether a header announces where the body ends, so that a cut differs from an end. */
export function isFramed(headers: FileAnswer['headers']): boolean {
	return ['content-length', 'transfer-encoding'].some(
		(name) => headerOf(headers, name) !== undefined,
	);
}
