/** What the headers of a file host's answer say. Pure. */
import { headerOf } from '../service/fileHost';
import { retryAfterMs } from '../service/account';
import { asNumber } from '../service/json';
import { DownloadError } from './body';

type Headers = Record<string, unknown>;

export type Beginning = ReturnType<typeof beginningOf>;

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

/** What a 206 holds of a file of `total` bytes; undefined where it does not say so, or contradicts itself. `end` is exclusive. */
export function partOf(headers: Headers) {
	const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headerOf(headers, 'content-range') ?? '');
	if (range === null) return undefined;
	const [from, end] = [Number(range[1]), Number(range[2]) + 1];
	const total = asNumber(range[3]);
	const length = asNumber(headerOf(headers, 'content-length')) ?? end - from;
	const fits = from < end && length === end - from && (total === undefined || end <= total);
	return fits ? { from, end, total } : undefined;
}

export const beginningOf = (headers: Headers) => ({
	validator: strongValidator(headers),
	length: asNumber(headerOf(headers, 'content-length')),
	/** Whether a header announces where the body ends, so that a cut differs from an end. */
	framed: ['content-length', 'transfer-encoding'].some(
		(name) => headerOf(headers, name) !== undefined,
	),
	contentType: headerOf(headers, 'content-type'),
});

/** n8n's HTTP client decompresses bodies and hides it: a Content-Length may be that of compressed bytes, by so many longer. */
export const compressionLoss = (bytes: number) => 64 + bytes / 1_000;

export const isTransient = (status: number) => [408, 425, 429].includes(status) || status >= 500;

export function refusalOf(
	{ status, headers }: { status: number; headers: Headers },
	nowMs: number,
): DownloadError {
	const next = isTransient(status) ? 'again' : 'nothing';
	const pauseMs = retryAfterMs(headers['retry-after'], nowMs);
	return new DownloadError(`the file host answered HTTP ${status}`, next, pauseMs);
}
