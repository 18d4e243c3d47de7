/**
 * How much of files may be in this process's memory on their way into n8n's binary store. In filesystem mode the store
 * streams, and nothing needs a limit. In its other modes (database, S3, Azure, memory) it puts each file into one buffer
 * first, and files that arrive together can end the process: so they share a limited number of bytes.
 */
import type { IBinaryData } from 'n8n-workflow';
import { DownloadError } from './downloadError';

/** How many bytes of files are buffered at the same time. A larger file goes alone. */
const BUFFERED_BYTES = 100_000_000;

interface Waiting {
	bytes: number;
	go: () => void;
}

export class StoreMemory {
	/** What n8n's store does, once a file has shown it: the mode belongs to the process and never changes. */
	private streams = false;
	private used = 0;
	private readonly queue: Waiting[] = [];

	constructor(private readonly limit: number = BUFFERED_BYTES) {}

	/**
	 * Waits for the memory that a file needs, in order of arrival, and returns the function that gives it back.
	 * Throws a DownloadError where the signal aborts first.
	 *
	 * @param expected how large the file is or may be, in bytes
	 */
	async reserve(expected: number, signal: AbortSignal | undefined): Promise<() => void> {
		const bytes = Math.min(expected, this.limit);
		if (this.queue.length > 0 || !this.fits(bytes)) await this.turn(bytes, signal);
		else this.used += bytes;
		return () => {
			this.used -= bytes;
			this.admit();
		};
	}

	/** Learns from a stored file how the store works. */
	learn({ id }: IBinaryData): void {
		if (id?.startsWith('filesystem') !== true) return;
		this.streams = true;
		this.admit();
	}

	private fits(bytes: number): boolean {
		return this.streams || this.used + bytes <= this.limit;
	}

	private async turn(bytes: number, signal: AbortSignal | undefined): Promise<void> {
		await new Promise<void>((resolve, reject) => {
			const leave = () => {
				this.queue.splice(this.queue.indexOf(waiting), 1);
				reject(new DownloadError('the download was stopped', 'nothing'));
				this.admit();
			};
			const waiting: Waiting = {
				bytes,
				go: () => {
					signal?.removeEventListener('abort', leave);
					resolve();
				},
			};
			this.queue.push(waiting);
			if (signal?.aborted === true) leave();
			else signal?.addEventListener('abort', leave);
		});
	}

	private admit(): void {
		for (let next = this.queue[0]; next !== undefined; next = this.queue[0]) {
			if (!this.fits(next.bytes)) return;
			this.queue.shift();
			this.used += next.bytes;
			next.go();
		}
	}
}

/** Shared by all runs in this process. */
export const storeMemory = new StoreMemory();
