/** Fetches a file into n8n's binary store: all of it or nothing, leaving nothing open. A download that breaks off starts over. */
import { SoundScanner, typeOfBytes } from '../audio/scan';
import type { Clock } from '../base/clock';
import { messageOf } from '../base/outcomes';
import { megabytes } from '../base/words';
import { FILE_HEAD_BYTES } from '../base/fileTypes';
import { asNumber } from '../base/json';
import type { N8nContext } from '../transport/client';
import { watched, type OpenFile, type OpenFileFn } from '../transport/fileHost';
import { headerOf, retryAfterMs } from '../answers/limits';
import { isDataUrl } from '../answers/outputs';
import { storeChunks } from './binary';
import { openDataUrl } from './dataUrl';
import { fileTypeOf, problemWith } from './kind';
import { storedFile, type OutputFile, type WantedFile } from './outputFile';

export interface DownloadDeps extends Clock {
	context: N8nContext;
	open: OpenFileFn;
	signal?: AbortSignal | undefined;
}

const SOON_MS = [400, 800, 1_600];
/** A file can be announced a moment before its host has it. */
const ABSENT_MS = [1_000, 4_000, 15_000];

/** Why a try failed, completing "could not be downloaded: ...". */
class FailedTry extends Error {
	/** @param pausesMs before each further try; none if another does not help */
	constructor(
		message: string,
		readonly pausesMs = SOON_MS,
		readonly retryAfterMs = 0,
	) {
		super(message);
	}
}

const refused = (message: string) => new FailedTry(message, []);

function tooLarge(maxBytes: number, length?: number): string {
	const size = length === undefined ? '' : `${megabytes(length)}, and `;
	return `the file is larger than allowed: ${size}'Max File Size' is ${megabytes(maxBytes)}`;
}

/** What a try that failed has shown of the file. */
interface FileFacts {
	/** Length that the host stated last. It binds a later answer that states none. */
	length?: number | undefined;
	/** Bytes after which the file ended with no sign that this was all of it. */
	endSeenAt?: number | undefined;
}

/** Never rejects. */
export async function storeFile(wanted: WantedFile, deps: DownloadDeps): Promise<OutputFile> {
	const { url, kind } = wanted;
	const missing = (problem: string): OutputFile => ({ output: { url, kind }, problem });
	let facts: FileFacts = {};
	for (let tries = 0; ; tries += 1) {
		const tried = await storeOnce(wanted, facts, deps);
		if ('output' in tried) return tried;
		const { message, pausesMs, retryAfterMs } = tried.failed;
		const pauseMs = isDataUrl(url) ? undefined : pausesMs[tries];
		if (deps.signal?.aborted === true) return missing('the download was stopped');
		if (pauseMs === undefined) return missing(message);
		facts = tried.facts;
		await deps.sleep(Math.max(pauseMs, Math.min(retryAfterMs, 30_000)), deps.signal);
	}
}

async function storeOnce(
	wanted: WantedFile,
	before: FileFacts,
	deps: DownloadDeps,
): Promise<OutputFile | { failed: FailedTry; facts: FileFacts }> {
	const { url } = wanted;
	const opened = isDataUrl(url) ? openDataUrl(url) : await deps.open(url, deps.signal);
	if (!opened.ok) {
		const { reason, transient } = opened;
		return { failed: transient ? new FailedTry(reason) : refused(reason), facts: before };
	}
	const transfer = new Transfer(opened, wanted, before);
	const rest = transfer.chunksOf(watched(opened, deps));
	try {
		checkStatus(opened);
		const { mimeType, extension } = await transfer.begin(rest);
		const file = { fileName: `${wanted.baseName}.${extension}`, mimeType };
		const sample = 'next' in opened.body ? undefined : opened.body;
		const storing = { ...deps, ...file, sample };
		const binary = await storeChunks(deps.context, transfer.fromHead(rest), storing).catch(
			(error) => {
				// A store hides why the stream that it reads has failed.
				throw transfer.problem ?? refused(`n8n could not store it: ${messageOf(error)}`);
			},
		);
		const { received: bytes, scanner } = transfer;
		return storedFile(wanted, binary, { ...file, bytes, sound: scanner.end() });
	} catch (error) {
		return { failed: asFailedTry(error), facts: transfer.facts };
	} finally {
		opened.close();
		// If the file waits for its reader, this runs its `finally` blocks.
		rest.return(undefined).catch(() => undefined);
	}
}

const asFailedTry = (error: unknown) =>
	error instanceof FailedTry ? error : new FailedTry(messageOf(error));

function checkStatus({ status, headers }: OpenFile): void {
	if (status === 200) return;
	const message = `the file host answered HTTP ${status}`;
	// Stores that may not list their files answer in XML that access is denied to one that is not there.
	const isDenied = status === 403 && /xml/i.test(headerOf(headers, 'content-type') ?? '');
	const isAbsent = status === 404 || isDenied;
	if (!isAbsent && ![408, 425, 429].includes(status) && status < 500) throw refused(message);
	throw new FailedTry(message, isAbsent ? ABSENT_MS : SOON_MS, retryAfterMs(headers));
}

/** Some stores name an encoding that the file doesn't have, such as "aws-chunked". The first bytes decide if they can. */
function checkEncoding(headers: OpenFile['headers'], head: Buffer): void {
	const encoding = headerOf(headers, 'content-encoding') ?? '';
	if (/^(identity)?$/i.test(encoding) || typeOfBytes(head) !== undefined) return;
	throw refused(
		`the file host sent it in an encoding that n8n can't undo: ${encoding.slice(0, 60)}`,
	);
}

/** The bytes of one answer, on their way into the store. */
class Transfer {
	received = 0;
	readonly scanner = new SoundScanner();
	/** Why the stream failed. */
	problem: FailedTry | undefined;
	private readonly head: Buffer[] = [];

	constructor(
		private readonly opened: OpenFile,
		private readonly wanted: WantedFile,
		public facts: FileFacts,
	) {}

	/** Reads until the first bytes show whether this is the file, and of which type. */
	async begin(chunks: AsyncGenerator<Buffer>) {
		const { head, facts, wanted } = this;
		const { headers } = this.opened;
		const length = asNumber(headerOf(headers, 'content-length'));
		if ((length ?? 0) > wanted.maxBytes) throw refused(tooLarge(wanted.maxBytes, length));
		while (this.received < FILE_HEAD_BYTES) {
			const next = await chunks.next();
			if (next.done === true) break;
			head.push(next.value);
		}
		// A pause, or music, has no words.
		if (this.received === 0 && wanted.kind !== 'transcript')
			throw new FailedTry('the file is empty');
		const bytes = Buffer.concat(head);
		checkEncoding(headers, bytes);
		const about = { ...wanted, stated: headerOf(headers, 'content-type') };
		const problem = problemWith(bytes, about);
		if (problem !== undefined) throw new FailedTry(problem);
		// The length of an error page is not the file's.
		this.facts = { ...facts, length: length ?? facts.length };
		return fileTypeOf(bytes, about);
	}

	async *chunksOf(body: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
		const { maxBytes } = this.wanted;
		for await (const chunk of body) {
			this.received += chunk.length;
			if (this.received > maxBytes) throw refused(tooLarge(maxBytes));
			this.scanner.push(chunk);
			yield chunk;
		}
	}

	async *fromHead(rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
		try {
			yield* this.head;
			yield* rest;
			// Only an error keeps a store from accepting what it has as the file.
			this.checkEnd();
		} catch (error) {
			throw (this.problem = asFailedTry(error));
		}
	}

	/** Throws if the end of the answer is not that of the file. */
	private checkEnd(): void {
		const { received, facts } = this;
		const { headers } = this.opened;
		// n8n fails a body that ends before its own length. It also decompresses bodies and hides it, so that any other length is right (axios, n8n-core 2.41).
		if (headerOf(headers, 'content-length') !== undefined) return;
		const { length } = facts;
		if (length !== undefined && received < length)
			throw new FailedTry(`the file broke off after ${received} of ${length} bytes`);
		if (length !== undefined) return;
		const sound = this.scanner.end();
		// Some headers count themselves, too.
		if (sound.kind === 'wav' && received < (sound.statedBytes ?? 0))
			throw new FailedTry(`the sound broke off after ${sound.bytes} of ${sound.statedBytes} bytes`);
		// A chunked body says itself where it ends, so that a cut differs from an end.
		const isChunked = /chunked/i.test(headerOf(headers, 'transfer-encoding') ?? '');
		if (isChunked || facts.endSeenAt === received) return;
		// Node.js does not distinguish a reset connection from a closed one if no length is stated.
		this.facts = { ...facts, endSeenAt: received };
		throw new FailedTry(
			`the connection closed after ${received} bytes, and the host did not say how long the file is`,
		);
	}
}
