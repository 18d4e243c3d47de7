/** What a file host answers: what its headers say, and its body, read in bounded time. */
import { retryAfterMs } from '../service/account';
import type { Clock } from '../base/clock';
import { headerOf, type ByteStream, type OpenFile } from '../service/fileHost';
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

/** What is wrong with an answer. The message completes "could not be downloaded: ...". */
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

export function asDownloadError(error: unknown): DownloadError {
	if (error instanceof DownloadError) return error;
	return new DownloadError(error instanceof Error ? error.message : 'the download failed', 'again');
}

/** Made once: an abort without a reason makes an error, with its stack, each time. */
export const OVER = new Error('over');

const STALL_MS = 60_000;
/** Any file may take this long, whatever its size. */
const GRACE_MS = 10 * 60_000;
/** The rest has to come at 20 kB a second: 500 MB may take seven hours. */
const LEAST_BYTES_PER_MS = 20;
/** Ends a download after this many requests in a row that brought next to nothing, or nothing that can be continued. */
const MAX_FAILURES = 5;
const PROGRESS_BYTES = 16_384;
const MAX_REQUESTS = 500;

/** Counts what was tried for a file, over all its downloads. */
export class Tries {
	failures = 0;
	requests = 0;
	looks = 0;
	/** Whether its host may be asked for parts. */
	parts = true;
	/** The file has ended after this many bytes, without a sign that it was complete. */
	endSeenAt: number | undefined;
	/** The host has stated this length last. */
	length: number | undefined;
	/** Time spent waiting for the host, not for n8n's store. */
	private waitedMs = 0;

	constructor(private readonly clock: Clock) {}

	waitedSince(since: number): void {
		this.waitedMs += this.clock.now() - since;
	}

	async waitFor<T>(wait: Promise<T>): Promise<T> {
		const since = this.clock.now();
		return await wait.finally(() => this.waitedSince(since));
	}

	checkPace(received: number): void {
		if (this.waitedMs <= GRACE_MS + received / LEAST_BYTES_PER_MS) return;
		const minutes = Math.round(this.waitedMs / 60_000);
		const reason = `the file host sends too slowly: ${received} bytes in ${minutes} minutes`;
		throw new DownloadError(reason);
	}

	/** Counts a request that failed. @param gained bytes that stay @returns whether another one may help */
	failed(gained: number): boolean {
		this.failures = gained >= PROGRESS_BYTES ? 1 : this.failures + 1;
		return this.failures < MAX_FAILURES && this.requests < MAX_REQUESTS;
	}
}

/** One timer watches the whole body and no chunk is copied: what thousands of chunks leave behind makes n8n's memory grow. */
export async function* readFileBody(
	body: ByteStream,
	{ now, sleep, signal, tries }: Clock & { signal: AbortSignal; tries: Tries },
): AsyncGenerator<Buffer> {
	const iterator = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
	const over = new AbortController();
	// Undefined while the store is waited for, not the host.
	let waitingSince: number | undefined;
	let giveUp: (reason: DownloadError) => void = () => undefined;
	const stop = () => giveUp(new DownloadError(DOWNLOAD_STOPPED.problem));
	signal.addEventListener('abort', stop);
	void (async () => {
		for (let left = STALL_MS; left > 0; left = (waitingSince ?? now()) + STALL_MS - now()) {
			await sleep(left, over.signal);
			if (over.signal.aborted) return;
		}
		giveUp(new DownloadError('the file host stopped sending', 'again'));
	})();
	try {
		for (;;) {
			waitingSince = now();
			const next = await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
				giveUp = reject;
				if (signal.aborted) stop();
				iterator.next().then(resolve, reject);
			});
			tries.waitedSince(waitingSince);
			waitingSince = undefined;
			if (next.done === true) return;
			yield next.value;
		}
	} finally {
		if (waitingSince !== undefined) tries.waitedSince(waitingSince);
		signal.removeEventListener('abort', stop);
		over.abort(OVER);
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
	);
}

/** What a 206 holds of a file of `total` bytes; undefined where it does not say so, or contradicts itself. `end` is exclusive. */
export function partOf(
	headers: Headers,
): { from: number; end: number; total: number | undefined } | undefined {
	const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headerOf(headers, 'content-range') ?? '');
	if (range === null) return undefined;
	const [from, end] = [Number(range[1]), Number(range[2]) + 1];
	const total = asNumber(range[3]);
	const length = lengthOf(headers) ?? end - from;
	const fits = from < end && length === end - from && (total === undefined || end <= total);
	return fits ? { from, end, total } : undefined;
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
