/** Fetches a file into n8n's binary store: whole or not at all, leaving nothing open. A download that breaks off starts over. */
import type { IBinaryData } from 'n8n-workflow';
import { FILE_HEAD_BYTES, typeOfBytes } from '../audio/kinds';
import { SoundScanner } from '../audio/scan';
import type { SoundFacts } from '../audio/sound';
import { backoffMs, type Clock } from '../base/clock';
import { messageOf } from '../base/outcomes';
import { megabytes } from '../base/words';
import { asNumber } from '../base/json';
import type { N8nContext } from '../transport/client';
import { streamOf, watched } from '../transport/fileHost';
import type { ByteStream, OpenFile, OpenFileFn } from '../transport/fileHost';
import type { TaskOutput } from '../answers/outputs';
import { headerOf, retryAfterMs } from '../answers/limits';
import { learnMode, storeMemory } from './binary';
import { fileTypeOf, problemWith } from './kind';

export interface DownloadDeps extends Clock {
	context: N8nContext;
	open: OpenFileFn;
	signal?: AbortSignal | undefined;
}

export interface WantedFile extends TaskOutput {
	maxBytes: number;
	/** Name without its extension. */
	stem: string;
	/** Output format that the request asked for, if any. */
	format?: string | undefined;
}

export interface Stored {
	binary: IBinaryData;
	fileName: string;
	mimeType: string;
	bytes: number;
	sound: SoundFacts;
}

/** Another try does not help. The message completes "could not be downloaded: ...". */
class Refused extends Error {}

/** The host asks for a pause. */
class Busy extends Error {
	retryAfterMs = 0;
}

export function tooLarge(maxBytes: number, length?: number): string {
	const size = length === undefined ? '' : `${megabytes(length)}, and `;
	return `the file is larger than allowed: ${size}Max File Size is ${megabytes(maxBytes)}`;
}

/** What the tries of one file have in common. */
interface Known {
	/** Length that the host stated last. It binds a later answer that states none. */
	length?: number | undefined;
	/** Bytes after which the file ended without a sign that it was complete. */
	endSeenAt?: number;
	/** Gives back the memory that the store may use. */
	giveBack?: () => void;
}

/** @returns the file, or why it could not be stored, completing "could not be downloaded: ..." */
export async function storeFile(wanted: WantedFile, deps: DownloadDeps): Promise<Stored | string> {
	const known: Known = {};
	try {
		return await storeInTries(wanted, known, deps);
	} finally {
		known.giveBack?.();
	}
}

async function storeInTries(wanted: WantedFile, known: Known, deps: DownloadDeps) {
	for (let tries = 1; ; tries += 1) {
		try {
			return await storeOnce(wanted, known, deps);
		} catch (error) {
			if (deps.signal?.aborted === true) return 'the download was stopped';
			if (error instanceof Refused || tries === 4) return messageOf(error);
			const retryAfterMs = error instanceof Busy ? Math.min(error.retryAfterMs, 30_000) : 0;
			const pauseMs = backoffMs(tries, { firstMs: 400, mostMs: 30_000, retryAfterMs });
			await deps.sleep(pauseMs, deps.signal);
		}
	}
}

async function storeOnce(wanted: WantedFile, known: Known, deps: DownloadDeps): Promise<Stored> {
	const opened = await deps.open(wanted.url, deps.signal);
	if (!opened.ok) throw opened.transient ? new Error(opened.reason) : new Refused(opened.reason);
	const transfer = new Transfer(opened, wanted, known);
	const rest = transfer.chunksOf(watched(opened, deps));
	let stream: ByteStream | undefined;
	try {
		checkStatus(opened);
		const type = await transfer.begin(rest);
		// The host may hang up meanwhile, so a further try does not wait again.
		known.giveBack ??= await storeMemory.take(known.length ?? wanted.maxBytes, deps.signal);
		try {
			// A store that fails before it has read the stream leaves the stream, and its error, to us.
			stream = streamOf(opened.body, transfer.whole(rest)).on('error', () => undefined);
			const fileName = `${wanted.stem}.${type.extension}`;
			const { mimeType } = type;
			const binary = await deps.context.helpers.prepareBinaryData(stream, fileName, mimeType);
			learnMode(binary);
			const { received: bytes, scanner } = transfer;
			return { binary, fileName, mimeType, bytes, sound: scanner.end() };
		} catch (error) {
			throw transfer.problem ?? new Refused(`n8n could not store it: ${messageOf(error)}`);
		}
	} finally {
		stream?.destroy();
		opened.close();
		// If the file waits for its reader, this runs its `finally` blocks.
		rest.return(undefined).catch(() => undefined);
	}
}

function checkStatus({ status, headers }: OpenFile): void {
	if (status === 200) return;
	const message = `the file host answered HTTP ${status}`;
	// A file can be announced a moment before its host has it.
	const isPassing = [404, 408, 425, 429].includes(status) || status >= 500;
	if (!isPassing) throw new Refused(message);
	throw Object.assign(new Busy(message), { retryAfterMs: retryAfterMs(headers) ?? 0 });
}

/** Some stores name an encoding that the file does not have, such as "aws-chunked", so the first bytes decide if they can. */
function checkEncoding(headers: OpenFile['headers'], head: Buffer): void {
	const encoding = headerOf(headers, 'content-encoding') ?? '';
	if (/^(identity)?$/i.test(encoding) || typeOfBytes(head) !== undefined) return;
	throw new Refused(
		`the file host sent it in an encoding that n8n can't undo: ${encoding.slice(0, 60)}`,
	);
}

/** The bytes of one answer, on their way into the store. */
class Transfer {
	received = 0;
	readonly scanner = new SoundScanner();
	/** Why the stream failed: a store hides it. */
	problem: Error | undefined;
	private readonly head: Buffer[] = [];

	constructor(
		private readonly opened: OpenFile,
		private readonly wanted: WantedFile,
		private readonly known: Known,
	) {}

	/** Reads until the first bytes show whether this is the file, and of which type. */
	async begin(chunks: AsyncGenerator<Buffer>) {
		const { head, known, wanted } = this;
		const { headers } = this.opened;
		const length = asNumber(headerOf(headers, 'content-length'));
		if ((length ?? 0) > wanted.maxBytes) throw new Refused(tooLarge(wanted.maxBytes, length));
		while (this.received < FILE_HEAD_BYTES) {
			const next = await chunks.next();
			if (next.done === true) break;
			head.push(next.value);
		}
		if (this.received === 0) throw new Error('the file is empty');
		const bytes = Buffer.concat(head);
		checkEncoding(headers, bytes);
		const about = { ...wanted, stated: headerOf(headers, 'content-type') };
		const problem = problemWith(bytes, about);
		if (problem !== undefined) throw new Error(problem);
		// The length of an error page is not the file's.
		known.length = length ?? known.length;
		return fileTypeOf(bytes, about);
	}

	async *chunksOf(body: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
		const { maxBytes } = this.wanted;
		for await (const chunk of body) {
			this.received += chunk.length;
			if (this.received > maxBytes) throw new Refused(tooLarge(maxBytes));
			this.scanner.push(chunk);
			yield chunk;
		}
	}

	async *whole(rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
		try {
			yield* this.head;
			yield* rest;
			// Only an error keeps a store from accepting what it has as the file.
			this.checkEnd();
		} catch (error) {
			this.problem = error instanceof Error ? error : new Error(messageOf(error));
			throw this.problem;
		}
	}

	/** Throws if the end of the answer is not that of the file. */
	private checkEnd(): void {
		const { received, known } = this;
		const { headers } = this.opened;
		// n8n fails a body that ends before its own length. It also decompresses bodies and hides it, so that any other length is right (axios, n8n-core 2.41).
		if (headerOf(headers, 'content-length') !== undefined) return;
		const { length } = known;
		if (length !== undefined && received < length)
			throw new Error(`the file broke off after ${received} of ${length} bytes`);
		// A chunked body says itself where it ends, so that a cut differs from an end.
		const isChunked = /chunked/i.test(headerOf(headers, 'transfer-encoding') ?? '');
		if (length !== undefined || isChunked || known.endSeenAt === received) return;
		// Node.js does not distinguish a reset connection from a closed one if no length is stated.
		known.endSeenAt = received;
		throw new Error(`the file ended after ${received} bytes with no sign that it was complete`);
	}
}
