/** What the headers of a file host's answer say. Pure. */
import { headerOf } from '../service/fileHost';
import { retryAfterMs } from '../service/account';
import { asNumber } from '../service/json';
import { DownloadError } from './body';

type Headers = Record<string, unknown>;

/** What an answer says of the file that it begins. */
export interface Beginning {
	validator: string | undefined;
	length: number | undefined;
	framed: boolean;
	contentType: string | undefined;
}

interface Part {
	from: number;
	/** Exclusive. */
	end: number;
	/** The length of the file, as it states it. */
	total: number | undefined;
}

/** A date counts as a strong validator where the file was this old when it was sent (RFC 9110, 8.8.2.2). */
const SETTLED_MS = 60_000;

/** What identifies the bytes of a file: a strong ETag, or a date that is as good. */
export function strongValidator(headers: Headers): string | undefined {
	const etag = headerOf(headers, 'etag');
	if (etag !== undefined) return etag.startsWith('"') ? etag : undefined;
	const modified = headerOf(headers, 'last-modified');
	const age = Date.parse(headerOf(headers, 'date') ?? '') - Date.parse(modified ?? '');
	return age >= SETTLED_MS ? modified : undefined;
}

/** Throws where the body is in an encoding that n8n has left as it is. */
export function refuseEncoding(headers: Headers): void {
	const encoding = headerOf(headers, 'content-encoding') ?? '';
	if (encoding === '' || encoding.toLowerCase() === 'identity') return;
	throw new DownloadError(
		`the file host sent it in an encoding that n8n can't undo: ${encoding.slice(0, 60)}`,
		'nothing',
	);
}

/** The part of a file that a 206 holds; undefined where it does not say so, or contradicts itself. */
export function partOf(headers: Headers): Part | undefined {
	const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headerOf(headers, 'content-range') ?? '');
	if (range === null) return undefined;
	const [from, end] = [Number(range[1]), Number(range[2]) + 1];
	const total = asNumber(range[3]);
	const length = asNumber(headerOf(headers, 'content-length')) ?? end - from;
	const fits = from < end && length === end - from && (total === undefined || end <= total);
	return fits ? { from, end, total } : undefined;
}

/** Whether a header announces where the body ends, so that a cut differs from an end. */
export function isFramed(headers: Headers): boolean {
	return ['content-length', 'transfer-encoding'].some(
		(name) => headerOf(headers, name) !== undefined,
	);
}

export const beginningOf = (headers: Headers): Beginning => ({
	validator: strongValidator(headers),
	length: asNumber(headerOf(headers, 'content-length')),
	framed: isFramed(headers),
	contentType: headerOf(headers, 'content-type'),
});

export const isTransient = (status: number) => [408, 425, 429].includes(status) || status >= 500;

export function refusalOf(
	{ status, headers }: { status: number; headers: Headers },
	nowMs: number,
): DownloadError {
	const next = isTransient(status) ? 'again' : 'nothing';
	const pauseMs = retryAfterMs(headers['retry-after'], nowMs);
	return new DownloadError(`the file host answered HTTP ${status}`, next, pauseMs);
}
