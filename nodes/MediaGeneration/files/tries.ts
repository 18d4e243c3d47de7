/** Limits how long a file may take: counts what was tried, and reads bodies while it watches that they go on. */
import type { Clock } from '../base/clock';
import type { ByteStream } from '../transport/fileHost';
import { DOWNLOAD_STOPPED, DownloadError } from './fileAnswer';

/** This is made once, as an abort without a reason makes an error, with its stack, each time. */
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
	/** Is true while its host may be asked for parts. */
	parts = true;
	/** The file has ended after this many bytes, without a sign that it was complete. */
	endSeenAt: number | undefined;
	/** The host has stated this length last. */
	length: number | undefined;
	/** Sums up the waits for the host, not those for n8n's store. */
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
	// This is undefined while the store is waited for, not the host.
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
