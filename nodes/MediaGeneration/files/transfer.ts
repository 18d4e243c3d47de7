/** One answer of a file host on its way into the store: whether it is the file, and whether all of the file came. */
import { headerOf } from '../answers/limits';
import { SoundScanner, typeOfBytes } from '../audio/scan';
import type { SoundFacts } from '../audio/sound';
import { FILE_HEAD_BYTES, type FileType } from '../base/fileTypes';
import { asNumber } from '../base/json';
import { messageOf } from '../base/outcomes';
import { megabytes } from '../base/words';
import type { OpenFile } from '../transport/fileHost';
import { fileTypeOf, problemWith } from './kind';
import type { WantedFile } from './outputFile';

const SOON_MS = [400, 800, 1_600];

/** Its message completes "could not be downloaded: ...". */
export class DownloadError extends Error {
	/** @param pausesMs before each further request; none if another does not help */
	constructor(
		message: string,
		readonly pausesMs = SOON_MS,
		readonly retryAfterMs = 0,
	) {
		super(message);
	}
}

export const refused = (message: string) => new DownloadError(message, []);

export const asDownloadError = (error: unknown) =>
	error instanceof DownloadError ? error : new DownloadError(messageOf(error));

function tooLarge(maxBytes: number, length?: number): DownloadError {
	const size = length === undefined ? '' : `${megabytes(length)}, and `;
	return refused(
		`the file is larger than allowed: ${size}'Max File Size' is ${megabytes(maxBytes)}`,
	);
}

/** What the answers so far have shown of a file. */
export interface FileFacts {
	/** Length that the host stated last. It binds a later answer that states none. */
	length?: number | undefined;
	/** Bytes after which the file ended with no sign that this was all of it. */
	endSeenAt?: number | undefined;
}

export class Transfer {
	/** Bytes so far. */
	private received = 0;
	/** Why `chunks` ended early: a store hides why the stream that it reads has failed. */
	private problem: DownloadError | undefined;
	private readonly head: Buffer[] = [];
	private readonly scanner = new SoundScanner();

	/** @param facts of earlier answers; those of this one are added to them */
	constructor(
		private readonly body: AsyncGenerator<Buffer>,
		private readonly about: { wanted: WantedFile; headers: OpenFile['headers'] },
		private readonly facts: FileFacts,
	) {}

	/** Reads until the first bytes show whether this is the file, and of which type. */
	async begin(): Promise<FileType> {
		const { wanted } = this.about;
		const length = asNumber(this.header('content-length'));
		if ((length ?? 0) > wanted.maxBytes) throw tooLarge(wanted.maxBytes, length);
		while (this.received < FILE_HEAD_BYTES) {
			const chunk = await this.next();
			if (chunk === undefined) break;
			this.head.push(chunk);
		}
		// A pause, or music, has no words.
		if (this.received === 0 && wanted.kind !== 'transcript')
			throw new DownloadError('the file is empty');
		const head = Buffer.concat(this.head);
		this.checkEncoding(head);
		const file = { ...wanted, stated: this.header('content-type') };
		const problem = problemWith(head, file);
		if (problem !== undefined) throw new DownloadError(problem);
		// The length of an error page is not the file's.
		this.facts.length = length ?? this.facts.length;
		return fileTypeOf(head, file);
	}

	/** Hands the file to a store, after `begin`. */
	async into<T>(
		store: (chunks: AsyncGenerator<Buffer>) => Promise<T>,
	): Promise<{ stored: T; fileSize: number; sound: SoundFacts }> {
		const stored = await store(this.chunks()).catch((error: unknown) => {
			throw this.problem ?? refused(`n8n could not store it: ${messageOf(error)}`);
		});
		return { stored, fileSize: this.received, sound: this.scanner.end() };
	}

	end(): void {
		// If the body waits for its reader, this runs its `finally` blocks.
		this.body.return(undefined).catch(() => undefined);
	}

	private header(name: string): string | undefined {
		return headerOf(this.about.headers, name);
	}

	private async *chunks(): AsyncGenerator<Buffer> {
		try {
			yield* this.head;
			for (let chunk; (chunk = await this.next()) !== undefined;) yield chunk;
			// Only an error keeps a store from accepting what it has as the file.
			this.checkEnd();
		} catch (error) {
			throw (this.problem = asDownloadError(error));
		}
	}

	private async next(): Promise<Buffer | undefined> {
		const next = await this.body.next();
		if (next.done === true) return undefined;
		const { maxBytes } = this.about.wanted;
		this.received += next.value.length;
		if (this.received > maxBytes) throw tooLarge(maxBytes);
		this.scanner.push(next.value);
		return next.value;
	}

	/** Some stores name an encoding that the file doesn't have, such as "aws-chunked". The first bytes decide if they can. */
	private checkEncoding(head: Buffer): void {
		const encoding = this.header('content-encoding') ?? '';
		if (/^(identity)?$/i.test(encoding) || typeOfBytes(head) !== undefined) return;
		throw refused(
			`the file host sent it in an encoding that n8n can't undo: ${encoding.slice(0, 60)}`,
		);
	}

	/** Throws if the end of the answer is not that of the file. */
	private checkEnd(): void {
		const { received, facts } = this;
		// n8n rejects a body that ends before its own length. It also decompresses bodies and hides it, so that any other length is right (axios, n8n-core 2.41).
		if (this.header('content-length') !== undefined) return;
		const { length } = facts;
		if (length !== undefined && received < length)
			throw new DownloadError(`the file broke off after ${received} of ${length} bytes`);
		if (length !== undefined) return;
		const sound = this.scanner.end();
		// Some headers count their own bytes, too.
		if (sound.kind === 'wav' && received < (sound.statedBytes ?? 0))
			throw new DownloadError(
				`the sound broke off after ${sound.bytes} of ${sound.statedBytes} bytes`,
			);
		// A chunked body says itself where it ends, so that a cut differs from an end.
		const isChunked = /chunked/i.test(this.header('transfer-encoding') ?? '');
		if (isChunked || facts.endSeenAt === received) return;
		// Node.js does not distinguish a reset connection from a closed one if no length is stated.
		facts.endSeenAt = received;
		throw new DownloadError(
			`the connection closed after ${received} bytes, and the host did not say how long the file is`,
		);
	}
}
