/**
 * Makes one stream of the bytes of a file: whole or not at all, and nothing of it stays open. A file that breaks off is continued only
 * where a strong ETag identifies its bytes and the length is known (RFC 9110, 13.1.5 and 14); else it begins again from nothing.
 */
import { FILE_HEAD_BYTES, type FileType } from '../audio/kinds';
import { SoundScanner } from '../audio/scan';
import { backoffMs, onAbort, type Clock } from '../base/clock';
import { messageOf } from '../base/failures';
import { headerOf, type ByteStream, type OpenFile, type OpenFileFn } from '../transport/fileHost';
import type { TaskOutput } from '../transport/outputs';
import {
	DownloadError,
	type FailedDownload,
	type Headers,
	isTransient,
	lengthOf,
	partOf,
	refusalOf,
	refuseEncoding,
	DOWNLOAD_STOPPED,
	strongValidator,
	tooLarge,
} from './fileAnswer';
import { fileTypeOf, problemWith } from './mimeType';
import { OVER, readFileBody, type Tries } from './tries';

export interface DownloadDeps extends Clock {
	open: OpenFileFn;
	signal?: AbortSignal | undefined;
}

export type WantedFile = TaskOutput & { maxBytes: number };

const MAX_LOOKS = 3;
/** A part repeats this many bytes, to prove that it continues the same file. */
const OVERLAP_BYTES = 1_024;
const DOWNLOAD_BACKOFF = { firstMs: 400, mostMs: 30_000 };
/** Some file hosts refuse what does not look like a browser (docs/service.md, "HTTP"). */
const USER_AGENT = 'Mozilla/5.0 (compatible; n8n-nodes-media-generation)';

/** Attempts a whole file once: from its first byte, over as many requests as continue it. */
export class Download {
	end: 'open' | 'whole' | FailedDownload = 'open';
	received = 0;
	/** The host has stated this length last, of this attempt or of one before it. */
	length: number | undefined;
	readonly scanner = new SoundScanner();
	private readonly source = this.wholeFile();
	private readonly head: Buffer[] = [];
	/** The answer that began the file had these headers. */
	private headers: Headers = {};
	private validator: string | undefined;
	private streamOf: OpenFile['streamOf'] | undefined;
	private stream: ByteStream | undefined;
	private tail: Buffer = Buffer.alloc(0);
	private readonly over = new AbortController();
	private readonly forgetStop: (() => void) | undefined;

	constructor(
		private readonly wanted: WantedFile,
		private readonly deps: DownloadDeps,
		private readonly tries: Tries,
	) {
		this.length = tries.length;
		this.forgetStop = deps.signal && onAbort(deps.signal, () => this.over.abort(OVER));
	}

	/** Reads until the first bytes show whether this is the file. The store then reads the stream. */
	async begin(): Promise<{ type: FileType; stream: ByteStream } | FailedDownload> {
		while (this.received < FILE_HEAD_BYTES && this.end === 'open') {
			const next = await this.source.next();
			if (next.done === true) this.end = next.value;
			else this.head.push(next.value);
		}
		if (typeof this.end === 'object') return this.end;
		const head = Buffer.concat(this.head);
		const about = { ...this.wanted, stated: headerOf(this.headers, 'content-type') };
		const problem = problemWith(head, about);
		if (problem !== undefined) return await this.refuse(problem);
		// A store that fails before it has read the stream leaves the stream, and its error, to us.
		this.stream = this.streamOf?.(this.bytes()).on('error', () => undefined);
		return { type: fileTypeOf(head, about), stream: this.stream as ByteStream };
	}

	/** The host has sent something else. Its length is not the file's, so no other attempt learns it. */
	private async refuse(problem: string): Promise<FailedDownload> {
		const { deps, tries } = this;
		tries.looks += 1;
		const startOver = tries.looks < MAX_LOOKS;
		this.close();
		if (startOver) await deps.sleep(700 * tries.looks, deps.signal);
		return (this.end = { problem, startOver });
	}

	/** Call this once the file is no longer wanted, stored or not. */
	close(): void {
		this.forgetStop?.();
		this.over.abort(OVER);
		this.stream?.destroy();
		// Where the file waits for its reader, this runs its `finally` blocks.
		this.source.return(DOWNLOAD_STOPPED).catch(() => undefined);
	}

	private async *bytes(): AsyncGenerator<Buffer> {
		yield* this.head;
		if (this.end === 'open') this.end = yield* this.source;
		// Only an error keeps a store from taking what it has for the file.
		if (typeof this.end === 'object') throw new DownloadError(this.end.problem);
	}

	private async *wholeFile(): AsyncGenerator<Buffer, 'whole' | FailedDownload> {
		for (;;) {
			const { received } = this;
			try {
				yield* this.request();
				if (this.isWhole()) return 'whole';
			} catch (error) {
				const reason =
					error instanceof DownloadError ? error : new DownloadError(messageOf(error), 'again');
				const failed = await this.recover(reason, this.received - received);
				if (failed !== undefined) return failed;
			}
		}
	}

	/** Waits before the next request. @returns how the download ends where none can continue it */
	private async recover(
		{ message: problem, next, retryAfterMs }: DownloadError,
		gained: number,
	): Promise<FailedDownload | undefined> {
		const { deps, over, received, length = 0, tries, validator } = this;
		const canResume = tries.parts && validator !== undefined && received < length;
		const canGoOn = next === 'again' && canResume;
		const mayHelp = tries.failed(canGoOn ? gained : 0) && next !== 'nothing';
		tries.length = this.length;
		if (!mayHelp || over.signal.aborted) return { problem, startOver: false };
		const asked = Math.min(retryAfterMs ?? 0, DOWNLOAD_BACKOFF.mostMs);
		const pauseMs = backoffMs(tries.failures, { ...DOWNLOAD_BACKOFF, retryAfterMs: asked });
		await tries.waitFor(deps.sleep(pauseMs, over.signal));
		return canGoOn ? undefined : { problem, startOver: true };
	}

	private async *request(): AsyncGenerator<Buffer> {
		const { deps, over, received, tail, tries } = this;
		tries.checkPace(received);
		tries.requests += 1;
		const from = received - tail.length;
		const range = { Range: `bytes=${from}-`, 'If-Range': this.validator ?? '' };
		const headers = { 'User-Agent': USER_AGENT, ...(received > 0 ? range : {}) };
		const opened = await tries.waitFor(deps.open(this.wanted.url, headers, over.signal));
		if (!opened.ok) throw new DownloadError(opened.reason, opened.transient ? 'again' : 'nothing');
		try {
			this.streamOf = opened.streamOf;
			const end = received === 0 ? this.endOfFile(opened) : this.endOfPart(opened, from);
			yield* this.newBytes(opened, end);
		} finally {
			opened.close();
		}
	}

	private endOfFile(opened: OpenFile): number {
		if (opened.status !== 200) throw refusalOf(opened);
		refuseEncoding(opened.headers);
		this.headers = opened.headers;
		this.validator = strongValidator(opened.headers);
		this.length = lengthOf(opened.headers) ?? this.length;
		if ((this.length ?? 0) > this.wanted.maxBytes)
			throw tooLarge(this.wanted.maxBytes, this.length);
		return Infinity;
	}

	private endOfPart(opened: OpenFile, from: number): number {
		const { status, headers } = opened;
		if (isTransient(status)) throw refusalOf(opened);
		const part = status === 206 ? partOf(headers) : undefined;
		const validator = strongValidator(headers) ?? this.validator;
		const fits = part?.from === from && part.total === this.length;
		if (!fits || validator !== this.validator) throw this.noPart();
		refuseEncoding(headers);
		return part.end;
	}

	/** Yields what follows the bytes that are there, up to `end`. Throws where they do not fit. */
	private async *newBytes({ body }: OpenFile, end: number): AsyncGenerator<Buffer> {
		const { deps, over, received, tail, tries } = this;
		let again = tail.length;
		try {
			for await (const chunk of readFileBody(body, { ...deps, signal: over.signal, tries })) {
				tries.checkPace(this.received);
				const passed = Math.min(again, chunk.length);
				const at = tail.length - again;
				if (tail.compare(chunk, 0, passed, at, at + passed) !== 0) throw this.noPart();
				again -= passed;
				if (passed === chunk.length) continue;
				if (this.received + chunk.length - passed > end) throw this.noPart();
				yield this.take(passed === 0 ? chunk : chunk.subarray(passed));
			}
		} finally {
			// It may have been a part of the compressed file.
			if (received > 0 && this.received === received) tries.parts = false;
		}
	}

	private take(bytes: Buffer): Buffer {
		const isLong = bytes.length >= OVERLAP_BYTES;
		const tail = isLong ? bytes : Buffer.concat([this.tail, bytes]);
		this.tail = tail.subarray(-OVERLAP_BYTES);
		this.received += bytes.length;
		this.scanner.push(bytes);
		if (this.received > this.wanted.maxBytes) throw tooLarge(this.wanted.maxBytes);
		return bytes;
	}

	/** Tells whether the end of an answer is that of the file. Throws where it is neither that nor a part's. */
	private isWhole(): boolean {
		const { headers, received, length, tries } = this;
		if (received === 0) throw new DownloadError('the file is empty', 'again');
		// A chunked body says itself where it ends, so that a cut differs from an end.
		const isChunked = headerOf(headers, 'transfer-encoding') !== undefined;
		if (length === undefined ? isChunked : received === length) return true;
		// axios in n8n-core 2.41 decompresses bodies and hides it: the length may be that of compressed bytes, which are a little longer.
		if (length !== undefined && received < length - (64 + length / 1_000))
			throw new DownloadError(`the file broke off after ${received} of ${length} bytes`, 'again');
		// Node.js does not distinguish a reset connection from a closed one where no length is stated.
		if (tries.endSeenAt === received) return true;
		tries.endSeenAt = received;
		const ended = `the file ended after ${received} bytes with no sign that it was complete`;
		throw new DownloadError(ended, 'startOver');
	}

	private noPart(): DownloadError {
		this.tries.parts = false;
		return new DownloadError('the file host did not continue the file', 'startOver');
	}
}
