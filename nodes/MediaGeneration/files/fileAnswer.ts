/** Reads what a file host's answer says, and what can be wrong with it. */
import { retryAfterMs } from '../transport/throttling';
import { headerOf, type OpenFile } from '../transport/fileHost';

import { asNumber } from '../base/json';

export interface FailedDownload {
	/** Completes "could not be downloaded: ...". */
	problem: string;
	/** Whether another download from the first byte may help. */
	startOver: boolean;
}

export const DOWNLOAD_STOPPED: FailedDownload = {
	problem: 'the download was stopped',
	startOver: false,
};

/** Says what is wrong with an answer. The message completes "could not be downloaded: ...". */
export class DownloadError extends Error {
	/** @param next what may help: `again` another request, `startOver` all of it once more from nothing, or `nothing` */
	constructor(
		message: string,
		readonly next: 'again' | 'startOver' | 'nothing' = 'nothing',
		readonly retryAfterMs?: number,
	) {
		super(message);
		this.name = 'DownloadError';
	}
}

export function megabytes(bytes: number): string {
	return `${Number((bytes / 1_000_000).toPrecision(3))} MB`;
}

/** @param length where its host has stated it */
export function tooLarge(maxBytes: number, length?: number): DownloadError {
	const size = length === undefined ? '' : `${megabytes(length)}, and `;
	const limit = `${size}Max File Size is ${megabytes(maxBytes)}`;
	return new DownloadError(`the file is larger than allowed: ${limit}`);
}

export type Headers = Record<string, unknown>;

/** Only a strong ETag identifies the bytes of a file (RFC 9110, 8.8.1): a weak one, or a date, may stay while they change. */
export function strongValidator(headers: Headers): string | undefined {
	const etag = headerOf(headers, 'etag');
	return etag?.startsWith('"') === true ? etag : undefined;
}

/** Throws where the body is in an encoding that n8n has left as it is. */
export function refuseEncoding(headers: Headers): void {
	const encoding = headerOf(headers, 'content-encoding') ?? '';
	if (encoding === '' || encoding.toLowerCase() === 'identity') return;
	throw new DownloadError(
		`the file host sent it in an encoding that n8n can't undo: ${encoding.slice(0, 60)}`,
	);
}

/** Reads which part of `total` bytes a 206 holds; undefined where it does not say so, or contradicts itself. `end` is exclusive. */
export function partOf(headers: Headers): { from: number; end: number; total: number } | undefined {
	const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headerOf(headers, 'content-range') ?? '');
	if (range === null) return undefined;
	const [from, end, total] = [Number(range[1]), Number(range[2]) + 1, Number(range[3])];
	const length = lengthOf(headers) ?? end - from;
	return from < end && end <= total && length === end - from ? { from, end, total } : undefined;
}

export const lengthOf = (headers: Headers): number | undefined =>
	asNumber(headerOf(headers, 'content-length'));

export const isTransient = (status: number): boolean =>
	[408, 425, 429].includes(status) || status >= 500;

export function refusalOf({
	status,
	headers,
}: Pick<OpenFile, 'status' | 'headers'>): DownloadError {
	const next = isTransient(status) ? 'again' : 'nothing';
	return new DownloadError(`the file host answered HTTP ${status}`, next, retryAfterMs(headers));
}
