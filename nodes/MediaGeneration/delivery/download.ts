/**
 * The bytes of one file as one stream. A file is delivered whole or not at all, and nothing of it stays open. Rules that must
 * not regress:
 * - what breaks off is continued only where a strong validator identifies the bytes and the length is known (RFC 9110, 13.1.5
 *   and 14); everything else begins again from nothing;
 * - what is shorter than its host stated is not the file, and an end that nobody announced counts where it comes twice;
 * - n8n's HTTP client decompresses bodies and removes the header that says so: a Content-Length may be that of the compressed
 *   bytes.
 */
import type { FileType } from '../media/kinds';
import { SoundScanner } from '../media/scan';
import type { SoundFacts } from '../media/sound';
import { retryAfterMs } from '../service/account';
import { headerOf, type ByteStream, type OpenFile, type OpenFileFn } from '../service/fileHost';
import { asNumber } from '../service/json';
import type { OutputKind } from '../service/outputs';
import { asDownloadError, DownloadError, megabytes, OVER, Pace, readBody } from './body';
import { problemWith } from './content';
import { isFramed, partOf, refuseEncoding, strongValidator } from './fileAnswer';
import { fileTypeOf } from './mimeType';

export interface DownloadDeps {
	open: OpenFileFn;
	/** Epoch ms. */
	now: () => number;
	/** Resolves after `ms`, or earlier when the signal aborts. Never rejects. */
	sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
	signal?: AbortSignal | undefined;
}

/** A file to download. */
export interface WantedFile {
	url: string;
	kind: OutputKind;
	/** A larger file fails. */
	maxBytes: number;
}

export interface Download {
	type: FileType;
	/** In bytes, if the host has said it. */
	length: number | undefined;
	/** All bytes, the first ones included. Throws a DownloadError when the file can't be fetched whole. */
	chunks: AsyncGenerator<Buffer>;
	/** The same as a stream that n8n's store takes. */
	stream(): ByteStream;
	/** Bytes handed out so far. */
	received(): number;
	/** How long the sound is, once all bytes are handed out; undefined for what is not WAV or MP3. */
	seconds(): number | undefined;
	/** What joining needs to know of the sound, once all bytes are handed out. */
	facts(): SoundFacts;
	/** Why `chunks` ended without the end of the file. */
	failure(): DownloadError | undefined;
	/** Closes whatever is open. To be called once the file is no longer wanted, stored or not. */
	close(): void;
}

/** How many requests in a row may bring next to nothing, or nothing that can be continued. */
const MAX_FAILURES = 5;
/** What a request has to bring to count as progress. */
const PROGRESS_BYTES = 16_384;
const MAX_REQUESTS = 500;
/** How often a file that begins like an error page is opened. */
const MAX_LOOKS = 3;
const HEAD_BYTES = 4_100;
/** How many bytes come a second time with a part, to see that it continues the same bytes. */
const OVERLAP_BYTES = 1_024;
const MAX_BACKOFF_MS = 30_000;
const TRANSIENT = new Set([408, 425, 429]);
/** Some file hosts refuse what does not look like a browser (docs/service.md, "HTTP"). */
const USER_AGENT = 'Mozilla/5.0 (compatible; n8n-nodes-media-generation)';
/** How much longer compression can make a file: a few bytes for each block, and a header. */
const compressionLoss = (bytes: number) => 64 + bytes / 1_000;

/** What the answer says that a file begins with. */
interface Beginning {
	validator: string | undefined;
	length: number | undefined;
	framed: boolean;
	contentType: string | undefined;
}

/** What was tried for a file, over all its beginnings. */
class Tries {
	failures = 0;
	requests = 0;
	looks = 0;
	/** Whether its host may be asked for parts. */
	parts = true;
	/** Where the file has ended without a sign that it was complete; -1: nowhere. */
	endSeenAt = -1;
	readonly pace: Pace;

	constructor({ now }: DownloadDeps) {
		this.pace = new Pace(now);
	}
}

/** One file on its way, from its beginning on. */
class Transfer {
	received = 0;
	beginning: Beginning | undefined;
	readonly chunks: AsyncGenerator<Buffer>;
	streamOf: OpenFile['streamOf'] | undefined;
	failure: DownloadError | undefined;
	/** The last bytes that arrived. */
	private tail: Buffer = Buffer.alloc(0);
	private readonly over = new AbortController();
	private readonly stop = () => this.over.abort(OVER);

	constructor(
		private readonly wanted: WantedFile,
		private readonly deps: DownloadDeps,
		private readonly tries: Tries,
	) {
		this.chunks = this.wholeFile();
		deps.signal?.addEventListener('abort', this.stop);
		if (deps.signal?.aborted === true) this.stop();
	}

	close(): void {
		this.deps.signal?.removeEventListener('abort', this.stop);
		this.stop();
		// Where the file waits for its reader, this runs its `finally` blocks.
		this.chunks.return(undefined).catch(() => undefined);
	}

	/** All bytes in one sequence, over as many requests as it takes. */
	private async *wholeFile(): AsyncGenerator<Buffer> {
		for (;;) {
			const { received } = this;
			try {
				yield* this.request();
				if (this.isWhole()) return;
			} catch (error) {
				await this.recover(asDownloadError(error), this.received - received);
			}
		}
	}

	/** Waits before the next request. Throws where none can help, or the file has to begin from nothing. */
	private async recover(failure: DownloadError, gained: number): Promise<void> {
		const { deps, over, tries } = this;
		const canGoOn = failure.next === 'again' && (this.received === 0 || this.canResume());
		tries.failures = canGoOn && gained >= PROGRESS_BYTES ? 1 : tries.failures + 1;
		const isEnough = tries.failures >= MAX_FAILURES || tries.requests >= MAX_REQUESTS;
		if (failure.next === 'nothing' || isEnough || over.signal.aborted)
			throw (this.failure = new DownloadError(failure.message, 'nothing'));
		const backoff = failure.retryAfterMs ?? 400 * 2 ** (tries.failures - 1);
		await tries.pace.during(deps.sleep(Math.min(backoff, MAX_BACKOFF_MS), over.signal));
		if (!canGoOn) throw (this.failure = new DownloadError(failure.message, 'startOver'));
	}

	private canResume(): boolean {
		const { received, beginning, tail, tries } = this;
		const { validator, length = 0 } = beginning ?? {};
		return tries.parts && validator !== undefined && received > tail.length && received < length;
	}

	private async *request(): AsyncGenerator<Buffer> {
		const { deps, over, received, tail, tries } = this;
		tries.pace.check(received);
		tries.requests += 1;
		const from = received - tail.length;
		const range: Record<string, string> =
			received === 0
				? {}
				: { Range: `bytes=${from}-`, 'If-Range': this.beginning?.validator ?? '' };
		const headers = { 'User-Agent': USER_AGENT, ...range };
		const opened = await tries.pace.during(deps.open(this.wanted.url, headers, over.signal));
		if (!opened.ok) throw new DownloadError(opened.reason, opened.transient ? 'again' : 'nothing');
		try {
			this.streamOf = opened.streamOf;
			if (received === 0) yield* this.begin(opened);
			else yield* this.resume(opened, from);
		} finally {
			opened.close();
		}
	}

	private async *begin(opened: OpenFile): AsyncGenerator<Buffer> {
		const { headers, status } = opened;
		if (status !== 200) throw this.refusal(opened);
		refuseEncoding(headers);
		const length = asNumber(headerOf(headers, 'content-length'));
		this.beginning = {
			validator: strongValidator(headers),
			length,
			framed: isFramed(headers),
			contentType: headerOf(headers, 'content-type'),
		};
		if (length !== undefined && length > this.wanted.maxBytes) throw this.tooLarge(length);
		for await (const chunk of this.bodyOf(opened)) yield this.take(chunk);
	}

	/** What a part brings behind the bytes that are there. Whatever does not fit ends it. */
	private async *resume(opened: OpenFile, from: number): AsyncGenerator<Buffer> {
		const { beginning, tail, received } = this;
		const { status, headers } = opened;
		if (TRANSIENT.has(status) || status >= 500) throw this.refusal(opened);
		const part = status === 206 ? partOf(headers) : undefined;
		const validator = strongValidator(headers) ?? beginning?.validator;
		const fits = part?.from === from && part.total === beginning?.length;
		if (!fits || validator !== beginning?.validator) throw this.noPart();
		refuseEncoding(headers);
		let again = tail.length;
		try {
			for await (const chunk of this.bodyOf(opened)) {
				const passed = Math.min(again, chunk.length);
				const expected = tail.subarray(tail.length - again, tail.length - again + passed);
				if (!chunk.subarray(0, passed).equals(expected)) throw this.noPart();
				again -= passed;
				if (passed === chunk.length) continue;
				if (this.received + chunk.length - passed > part.end) throw this.noPart();
				yield this.take(chunk.subarray(passed));
			}
		} finally {
			// Perhaps it was a part of the compressed file.
			if (this.received === received) this.tries.parts = false;
		}
	}

	private async *bodyOf({ body }: OpenFile): AsyncGenerator<Buffer> {
		const { deps, over, tries } = this;
		const { now, sleep } = deps;
		const { pace } = tries;
		for await (const chunk of readBody(body, { now, sleep, signal: over.signal, pace })) {
			pace.check(this.received);
			yield chunk;
		}
	}

	private take(bytes: Buffer): Buffer {
		// Not copied, but for small chunks.
		this.tail =
			bytes.length >= OVERLAP_BYTES
				? bytes.subarray(-OVERLAP_BYTES)
				: Buffer.concat([this.tail, bytes]).subarray(-OVERLAP_BYTES);
		this.received += bytes.length;
		if (this.received > this.wanted.maxBytes) throw this.tooLarge();
		return bytes;
	}

	/** Whether the end of an answer is that of the file. Throws where it is neither that nor a part's. */
	private isWhole(): boolean {
		const { received, beginning, tries } = this;
		const { length, framed = false } = beginning ?? {};
		if (received === 0) throw new DownloadError('the file is empty', 'again');
		if (length === undefined ? framed : received === length) return true;
		if (length !== undefined && received < length - compressionLoss(length))
			throw new DownloadError(`the file broke off after ${received} of ${length} bytes`, 'again');
		// Node.js does not distinguish a reset connection from a closed one where no length is stated.
		if (tries.endSeenAt === received) return true;
		tries.endSeenAt = received;
		throw new DownloadError(
			`the file ended after ${received} bytes with no sign that it was complete`,
			'startOver',
		);
	}

	private refusal({ status, headers }: OpenFile): DownloadError {
		const next = TRANSIENT.has(status) || status >= 500 ? 'again' : 'nothing';
		const pauseMs = retryAfterMs(headers['retry-after'], this.deps.now());
		return new DownloadError(`the file host answered HTTP ${status}`, next, pauseMs);
	}

	private noPart(): DownloadError {
		this.tries.parts = false;
		return new DownloadError('the file host did not continue the file', 'startOver');
	}

	private tooLarge(length?: number): DownloadError {
		const size = length === undefined ? '' : `${megabytes(length)}, and `;
		return new DownloadError(
			`the file is larger than allowed: ${size}Max File Size is ${megabytes(this.wanted.maxBytes)}`,
			'nothing',
		);
	}
}

/** Opens a file as often as it takes: each `open` begins from nothing, and all of them share their tries and their time. */
export class FileSource {
	private readonly tries: Tries;

	constructor(
		private readonly wanted: WantedFile,
		private readonly deps: DownloadDeps,
	) {
		this.tries = new Tries(deps);
	}

	/**
	 * Opens the file and reads enough of it to know its type.
	 * Throws a DownloadError whose message completes "could not be downloaded: ...".
	 */
	async open(): Promise<Download> {
		const { url, kind } = this.wanted;
		for (;;) {
			const transfer = new Transfer(this.wanted, this.deps, this.tries);
			try {
				const first = await firstChunks(transfer.chunks);
				const head = Buffer.concat(first);
				const about = { kind, url, stated: transfer.beginning?.contentType };
				const problem = problemWith(head, about);
				if (problem === undefined) return downloadOf(transfer, first, fileTypeOf(head, about));
				this.tries.looks += 1;
				if (this.tries.looks >= MAX_LOOKS) throw new DownloadError(problem, 'nothing');
			} catch (error) {
				transfer.close();
				const failure = asDownloadError(error);
				if (failure.next !== 'startOver') throw failure;
				continue;
			}
			transfer.close();
			await this.deps.sleep(700 * this.tries.looks, this.deps.signal);
		}
	}
}

async function firstChunks(chunks: AsyncGenerator<Buffer>): Promise<Buffer[]> {
	const first: Buffer[] = [];
	for (let length = 0; length < HEAD_BYTES;) {
		const next = await chunks.next();
		if (next.done === true) break;
		first.push(next.value);
		length += next.value.length;
	}
	return first;
}

function downloadOf(transfer: Transfer, first: Buffer[], type: FileType): Download {
	const scanner = new SoundScanner();
	/** Every chunk passes here once. */
	async function* scanned(): AsyncGenerator<Buffer> {
		for (const chunk of first) {
			scanner.push(chunk);
			yield chunk;
		}
		for await (const chunk of transfer.chunks) {
			scanner.push(chunk);
			yield chunk;
		}
	}
	const chunks = scanned();
	return {
		type,
		length: transfer.beginning?.length,
		chunks,
		stream: () => {
			if (transfer.streamOf === undefined) throw new DownloadError('the file is empty', 'nothing');
			return transfer.streamOf(chunks);
		},
		received: () => transfer.received,
		seconds: () => scanner.seconds(),
		facts: () => scanner.end(),
		failure: () => transfer.failure,
		close: () => transfer.close(),
	};
}
