/**
 * The bytes of one file as one stream, whatever happens on the way: what breaks off is continued by a part, or from the
 * start where the host does not serve parts. A file is delivered whole or not at all, and nothing of it stays open.
 */
import { createHash } from 'crypto';
import type { FileType } from '../media/kinds';
import { SoundScanner } from '../media/scan';
import type { SoundFacts } from '../media/sound';
import type { ByteStream, OpenFile, OpenFileFn } from '../service/fileHost';
import type { OutputKind } from '../service/outputs';
import { OVER, Pace, readBody } from './body';
import { problemWith } from './content';
import { asDownloadError, DownloadError } from './downloadError';
import { FileSoFar, type Reading } from './fileSoFar';
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

/** How many requests in a row may bring next to nothing. */
const MAX_FRUITLESS = 5;
/** What a request has to bring to count as progress. */
const PROGRESS_BYTES = 16_384;
const MAX_REQUESTS = 500;
/** How many ends are confirmed without counting as a try. */
const MAX_CONFIRMATIONS = 3;
/** How often a file that begins like an error page is opened. */
const MAX_LOOKS = 3;
const HEAD_BYTES = 4_100;
const MAX_BACKOFF_MS = 30_000;
/** Some file hosts refuse what does not look like a browser (docs/service.md, "HTTP"). */
const BROWSER =
	'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36';

/** One file on its way; each look at it takes a new one. */
class Transfer {
	readonly file: FileSoFar;
	readonly chunks: AsyncGenerator<Buffer>;
	streamOf: OpenFile['streamOf'] | undefined;
	failure: DownloadError | undefined;
	private readonly over = new AbortController();
	private readonly stop = () => this.over.abort(OVER);

	constructor(
		private readonly wanted: WantedFile,
		private readonly deps: DownloadDeps,
		private readonly pace: Pace,
	) {
		this.file = new FileSoFar(wanted.maxBytes);
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
		const { deps, file, over } = this;
		let fruitless = 0;
		let confirmations = 0;
		for (let requests = 1; ; requests += 1) {
			const { received, asBrowser } = file;
			let failure: DownloadError;
			try {
				yield* this.request();
				return;
			} catch (error) {
				failure = asDownloadError(error);
			}
			if (failure.next === 'confirm' && confirmations < MAX_CONFIRMATIONS) {
				confirmations += 1;
				continue;
			}
			fruitless = file.received - received >= PROGRESS_BYTES ? 1 : fruitless + 1;
			const hopeless = failure.next === 'nothing' || failure.next === 'startOver';
			const enough = fruitless >= MAX_FRUITLESS || requests >= MAX_REQUESTS;
			if (hopeless || enough || over.signal.aborted) {
				this.failure = failure;
				throw failure;
			}
			if (asBrowser !== file.asBrowser) continue;
			const backoff = failure.retryAfterMs ?? 400 * 2 ** (fruitless - 1);
			await this.pace.during(deps.sleep(Math.min(backoff, MAX_BACKOFF_MS), over.signal));
		}
	}

	private async *request(): AsyncGenerator<Buffer> {
		const { deps, file, over, pace } = this;
		pace.check(file.received);
		const asked = file.ask();
		const opened = await pace.during(
			deps.open(
				this.wanted.url,
				{ ...(file.asBrowser ? { 'User-Agent': BROWSER } : {}), ...asked },
				over.signal,
			),
		);
		if (!opened.ok) throw new DownloadError(opened.reason, opened.transient ? 'again' : 'nothing');
		try {
			this.streamOf = opened.streamOf;
			const reading = file.accept(opened, asked, deps.now());
			if (reading !== undefined) yield* this.read(opened, reading);
		} finally {
			opened.close();
		}
	}

	private async *read(opened: OpenFile, reading: Reading): AsyncGenerator<Buffer> {
		const { deps, file, over, pace } = this;
		// Bytes that arrived before come again where the answer begins before their end: they are compared and skipped.
		let { again } = reading;
		const comparison = createHash('sha256');
		const { now, sleep } = deps;
		try {
			for await (const chunk of readBody(opened.body, { now, sleep, signal: over.signal, pace })) {
				pace.check(file.received);
				const passed = Math.min(again, chunk.length);
				if (passed > 0) {
					comparison.update(chunk.subarray(0, passed));
					again -= passed;
					if (again === 0) file.compare(comparison.digest('hex'), reading);
					if (passed === chunk.length) continue;
				}
				const fresh = passed === 0 ? chunk : chunk.subarray(passed);
				file.take(fresh);
				yield fresh;
			}
			file.ended(reading, again);
		} catch (error) {
			if (reading.part !== undefined && file.received === reading.before) file.partFailed();
			throw asDownloadError(error);
		}
	}
}

/**
 * Opens a file and reads enough of it to know its type.
 * Throws a DownloadError whose message completes "could not be downloaded: ...".
 */
export async function openDownload(wanted: WantedFile, deps: DownloadDeps): Promise<Download> {
	const { url, kind } = wanted;
	const pace = new Pace(deps.now);
	for (let looks = 1; ; looks += 1) {
		const transfer = new Transfer(wanted, deps, pace);
		try {
			const first = await firstChunks(transfer.chunks);
			const head = Buffer.concat(first);
			const about = { kind, url, stated: transfer.file.contentType };
			const problem = problemWith(head, about);
			if (problem === undefined) return downloadOf(transfer, first, fileTypeOf(head, about));
			if (looks >= MAX_LOOKS) throw new DownloadError(problem, 'nothing');
		} catch (error) {
			transfer.close();
			throw asDownloadError(error);
		}
		transfer.close();
		await deps.sleep(700 * looks, deps.signal);
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
	const meter = new SoundScanner();
	const chunks = metered(joined(first, transfer.chunks), meter);
	return {
		type,
		length: transfer.file.length,
		chunks,
		stream: () => {
			if (transfer.streamOf === undefined) throw new DownloadError('the file is empty', 'nothing');
			return transfer.streamOf(chunks);
		},
		received: () => transfer.file.received,
		seconds: () => meter.seconds(),
		facts: () => meter.end(),
		failure: () => transfer.failure,
		close: () => transfer.close(),
	};
}

async function* joined(first: Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
	yield* first;
	yield* rest;
}

/** Every chunk passes here once. */
async function* metered(
	chunks: AsyncGenerator<Buffer>,
	meter: SoundScanner,
): AsyncGenerator<Buffer> {
	for await (const chunk of chunks) {
		meter.push(chunk);
		yield chunk;
	}
}
