/**
 * The bytes of one file as one stream, whatever happens on the way: what breaks off is continued by Range, or from the
 * start where the host knows no ranges. A file is delivered whole or not at all.
 */
import {
	discard,
	headerOf,
	type ByteStream,
	type OpenFile,
	type OpenFileFn,
} from '../service/fileHost';
import { retryAfterMs } from '../service/account';
import type { OutputKind } from '../service/outputs';
import { asNumber } from '../service/json';
import { fileTypeOf, looksLikeHtml, looksLikeJson, type FileType } from './mimeType';

export interface DownloadDeps {
	open: OpenFileFn;
	now(): number;
	/** Resolves after `ms`, or earlier when the signal aborts. Never rejects. */
	sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
	signal?: AbortSignal;
}

export interface Download {
	type: FileType;
	/** All bytes, the first ones included. Throws a DownloadError when the file can't be had whole. */
	chunks: AsyncGenerator<Buffer>;
	/** Any stream of the host, to make streams from. */
	sample: ByteStream;
	/** Bytes handed out so far. */
	received(): number;
}

export class DownloadError extends Error {
	constructor(
		message: string,
		readonly transient: boolean,
		readonly retryAfterMs?: number,
	) {
		super(message);
		this.name = 'DownloadError';
	}
}

const MAX_ATTEMPTS = 5;
const HEAD_BYTES = 4_100;
const STALL_MS = 60_000;
/** Some file hosts refuse what does not look like a browser (service-facts, "HTTP"). */
const BROWSER =
	'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36';

interface Progress {
	received: number;
	total: number | undefined;
	validator: string | undefined;
	contentType: string | undefined;
	sample: ByteStream | undefined;
	asBrowser: boolean;
}

export function megabytes(bytes: number): string {
	return `${Math.round(bytes / 100_000) / 10} MB`;
}

function tooLarge(bytes: number | undefined, maxBytes: number): DownloadError {
	const size = bytes === undefined ? 'more' : megabytes(bytes);
	return new DownloadError(
		`the file is larger than allowed: ${size}, and Max File Size is ${megabytes(maxBytes)}`,
		false,
	);
}

/** Hosts without validators give a change away by the length at least. */
function refuseOtherLength(length: string | undefined, { total }: Progress): void {
	if (length !== undefined && total !== undefined && Number(length) !== total)
		throw new DownloadError('the file changed while it was downloaded', false);
}

/** Checks an answer's status and headers, and notes what a continuation must match. */
function accept(file: OpenFile, progress: Progress, maxBytes: number, now: number): void {
	const { status, headers } = file;
	if (status === 403 && !progress.asBrowser) {
		progress.asBrowser = true;
		throw new DownloadError('the file host answered HTTP 403', true);
	}
	if (status !== 200 && !(status === 206 && progress.received > 0)) {
		const transient = status === 408 || status === 425 || status === 429 || status >= 500;
		throw new DownloadError(
			`the file host answered HTTP ${status}`,
			transient,
			retryAfterMs(headers['retry-after'], now),
		);
	}
	const length = asNumber(headerOf(headers, 'content-length'));
	const encoded = (headerOf(headers, 'content-encoding') ?? 'identity') !== 'identity';
	const validator = headerOf(headers, 'etag') ?? headerOf(headers, 'last-modified');
	if (progress.received > 0) {
		if (validator !== progress.validator)
			throw new DownloadError('the file changed while it was downloaded', false);
		if (status === 206) {
			const range = /^bytes (\d+)-\d*\/(\d+)?/.exec(headerOf(headers, 'content-range') ?? '');
			if (Number(range?.[1]) !== progress.received)
				throw new DownloadError('the file host continued at a wrong place', false);
			refuseOtherLength(range?.[2], progress);
			return;
		}
		refuseOtherLength(encoded ? undefined : headerOf(headers, 'content-length'), progress);
	}
	progress.validator = validator;
	progress.contentType = headerOf(headers, 'content-type');
	progress.total = encoded ? undefined : length;
	if (progress.total !== undefined && progress.total > maxBytes)
		throw tooLarge(progress.total, maxBytes);
	if (progress.total === 0) throw new DownloadError('the file is empty', true);
}

/**
 * Chunks of a body; a body that stands still is given up. One timer watches the whole body and no chunk is copied: with
 * thousands of chunks, what each of them leaves behind is what makes n8n's memory grow.
 */
async function* readBody(body: ByteStream, deps: DownloadDeps): AsyncGenerator<Buffer> {
	const iterator = body[Symbol.asyncIterator]() as AsyncIterator<Buffer | string>;
	const over = new AbortController();
	// Undefined while it is not the host that is waited for, but the store.
	let waitingSince: number | undefined;
	let giveUp: (reason: DownloadError) => void = () => undefined;
	void (async () => {
		for (
			let left = STALL_MS;
			left > 0;
			left = (waitingSince ?? deps.now()) + STALL_MS - deps.now()
		) {
			await deps.sleep(left, over.signal);
			if (over.signal.aborted) return;
		}
		giveUp(new DownloadError('the file host stopped sending', true));
	})();
	try {
		for (;;) {
			waitingSince = deps.now();
			const next = await new Promise<IteratorResult<Buffer | string>>((resolve, reject) => {
				giveUp = reject;
				iterator.next().then(resolve, reject);
			});
			waitingSince = undefined;
			if (next.done === true) return;
			yield typeof next.value === 'string' ? Buffer.from(next.value) : next.value;
		}
	} finally {
		over.abort('over');
		discard(body);
	}
}

async function* attempt(
	url: string,
	progress: Progress,
	maxBytes: number,
	deps: DownloadDeps,
): AsyncGenerator<Buffer> {
	const { received, validator } = progress;
	const file = await deps.open(
		url,
		{
			...(progress.asBrowser ? { 'User-Agent': BROWSER } : {}),
			...(received > 0 ? { Range: `bytes=${received}-` } : {}),
			...(received > 0 && validator !== undefined && !validator.startsWith('W/')
				? { 'If-Range': validator }
				: {}),
		},
		deps.signal,
	);
	if (!file.ok) throw new DownloadError(file.reason, file.transient);
	try {
		accept(file, progress, maxBytes, deps.now());
	} catch (error) {
		discard(file.body);
		throw asDownloadError(error);
	}
	progress.sample ??= file.body;
	// A host without ranges sends all again: what is there already is passed over.
	let skip = file.status === 206 ? 0 : received;
	for await (const chunk of readBody(file.body, deps)) {
		if (skip >= chunk.length) {
			skip -= chunk.length;
			continue;
		}
		const fresh = skip === 0 ? chunk : chunk.subarray(skip);
		skip = 0;
		progress.received += fresh.length;
		if (progress.received > maxBytes) throw tooLarge(undefined, maxBytes);
		yield fresh;
	}
	if (progress.total !== undefined && progress.received < progress.total) {
		throw new DownloadError(
			`the file broke off after ${progress.received} of ${progress.total} bytes`,
			true,
		);
	}
	if (progress.received === 0) throw new DownloadError('the file is empty', true);
}

function asDownloadError(error: unknown): DownloadError {
	if (error instanceof DownloadError) return error;
	return new DownloadError(error instanceof Error ? error.message : 'the download failed', true);
}

/** All bytes in one sequence, over as many requests as it takes; at most five in a row that bring nothing new. */
async function* wholeFile(
	url: string,
	progress: Progress,
	maxBytes: number,
	deps: DownloadDeps,
): AsyncGenerator<Buffer> {
	let fruitless = 0;
	for (;;) {
		const before = progress.received;
		const wasBrowser = progress.asBrowser;
		let failure: DownloadError;
		try {
			yield* attempt(url, progress, maxBytes, deps);
			return;
		} catch (error) {
			failure = asDownloadError(error);
		}
		fruitless = progress.received > before ? 1 : fruitless + 1;
		if (!failure.transient || fruitless >= MAX_ATTEMPTS || deps.signal?.aborted === true)
			throw failure;
		if (wasBrowser === progress.asBrowser) {
			const backoff = Math.min(failure.retryAfterMs ?? 400 * 2 ** (fruitless - 1), 30_000);
			await deps.sleep(backoff, deps.signal);
		}
	}
}

/** Error pages and error objects with status 200 are no results (service-facts, "HTTP"). */
function errorPage(head: Buffer, kind: OutputKind): string | undefined {
	if (looksLikeHtml(head)) return 'the file host sent a web page instead of the file';
	if (!looksLikeJson(head)) return undefined;
	if (kind === 'audio' || kind === 'image')
		return 'the file host sent a JSON message instead of the file';
	const text = head.toString('utf8');
	return /^\s*\{\s*"(success"\s*:\s*false|error")/.test(text)
		? 'the file host sent an error message instead of the file'
		: undefined;
}

/**
 * Opens a file and reads enough of it to know its type.
 * Throws a DownloadError whose message completes "could not be downloaded: ...".
 */
export async function openDownload(
	url: string,
	kind: OutputKind,
	maxBytes: number,
	deps: DownloadDeps,
): Promise<Download> {
	for (let tries = 1; ; tries += 1) {
		const progress: Progress = {
			received: 0,
			total: undefined,
			validator: undefined,
			contentType: undefined,
			sample: undefined,
			asBrowser: false,
		};
		const chunks = wholeFile(url, progress, maxBytes, deps);
		const first: Buffer[] = [];
		let headLength = 0;
		while (headLength < HEAD_BYTES) {
			const next = await chunks.next();
			if (next.done === true) break;
			first.push(next.value);
			headLength += next.value.length;
		}
		const head = Buffer.concat(first);
		const problem = errorPage(head, kind);
		if (problem === undefined && progress.sample !== undefined) {
			return {
				type: fileTypeOf(head, progress.contentType, url, kind),
				chunks: joined(first, chunks),
				sample: progress.sample,
				received: () => progress.received,
			};
		}
		await chunks.return(undefined);
		if (tries >= 3 || deps.signal?.aborted === true)
			throw new DownloadError(problem ?? 'the file is empty', false);
		await deps.sleep(700 * tries, deps.signal);
	}
}

async function* joined(first: Buffer[], rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
	yield* first;
	yield* rest;
}
