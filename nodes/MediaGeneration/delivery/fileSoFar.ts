/**
 * What has arrived of a file, and what is known of the whole: it decides what the next request asks for, whether an answer
 * fits, and whether an end is the end. Rules that must not regress:
 * - bytes of two files are never mixed: a part is asked for only where a strong validator identifies the bytes, and what
 *   comes a second time is compared with what came first;
 * - a length that is known is never forgotten, and what is shorter is not the file;
 * - n8n's HTTP client decompresses bodies and removes the header that says so: a Content-Length may be that of the
 *   compressed bytes, and only the number of bytes shows it.
 */
import { createHash } from 'crypto';
import { retryAfterMs } from '../service/account';
import { headerOf } from '../service/fileHost';
import { asNumber } from '../service/json';
import { DownloadError, megabytes } from './downloadError';
import {
	isFramed,
	lengthBy416,
	partOf,
	refuseEncoding,
	strongValidator,
	type FileAnswer,
	type Part,
} from './fileAnswer';

/** How the body of an answer is to be read. */
export interface Reading {
	/** Undefined where it is all of the file. */
	part: Part | undefined;
	/** Bytes that it brings a second time, at its beginning. */
	again: number;
	/** Of these bytes, as they came first. */
	digest: string;
	/** Whether a cut differs from its end. */
	framed: boolean;
	/** Bytes that had arrived before it. */
	before: number;
}

/** How many of the last bytes are requested again with a part, to see that it fits. */
const OVERLAP_BYTES = 4_096;
/** How much longer compression can make a file: a few bytes for each block, and a header. */
const compressionLoss = (bytes: number): number => 64 + bytes / 1_000;
const TRANSIENT = new Set([408, 425, 429]);

export class FileSoFar {
	/** Bytes that have arrived. */
	received = 0;
	contentType: string | undefined;
	asBrowser = false;
	/** By a part that fits: certain. */
	private total: number | undefined;
	/** By the Content-Length of an answer with all of it. */
	private stated: number | undefined;
	private validator: string | undefined;
	/** Whether the host may be asked for parts. */
	private parts = true;
	private askedFrom = 0;
	/** Where the file ended without a sign that it was complete. */
	private endSeenAt: number | undefined;
	private readonly hash = createHash('sha256');
	private last: Buffer = Buffer.alloc(0);

	constructor(private readonly maxBytes: number) {}

	/** How long the file is, in bytes, if its host has said it. */
	get length(): number | undefined {
		return this.total ?? this.stated;
	}

	/** The headers that ask for what is missing. */
	ask(): Record<string, string> {
		const overlap = Math.min(this.last.length, OVERLAP_BYTES);
		// A part from the start on is all of it, perhaps compressed, with a length that is not the file's.
		if (this.received === overlap || !this.parts) return {};
		this.askedFrom = this.received - overlap;
		const range = { Range: `bytes=${this.askedFrom}-` };
		if (this.validator !== undefined) return { ...range, 'If-Range': this.validator };
		// Good enough to see whether anything follows, but not to take it.
		return this.endSeenAt === this.received ? range : {};
	}

	/** New bytes: every byte of a file passes here once, in order. */
	take(bytes: Buffer): void {
		this.hash.update(bytes);
		// Not copied, but for small chunks.
		this.last =
			bytes.length >= OVERLAP_BYTES
				? bytes
				: Buffer.concat([this.last, bytes]).subarray(-OVERLAP_BYTES);
		this.received += bytes.length;
		if (this.received > this.maxBytes) throw this.tooLarge();
	}

	/**
	 * Checks an answer's status and headers. Undefined where it says that nothing is missing; throws a DownloadError
	 * where it is of no use.
	 *
	 * @param asked what {@link ask} gave
	 * @param now epoch ms
	 */
	accept(answer: FileAnswer, asked: Record<string, string>, now: number): Reading | undefined {
		const { status, headers } = answer;
		const ranged = asked.Range !== undefined;
		if (status === 416 && ranged) {
			this.acceptEnd(headers);
			return undefined;
		}
		if (status !== 200 && !(status === 206 && ranged)) throw this.refusal(answer, now);
		refuseEncoding(headers);
		const part = status === 206 ? this.acceptPart(headers) : undefined;
		if (part === undefined) this.acceptAll(headers);
		const length = part?.total ?? this.length;
		if (length !== undefined && length > this.maxBytes) throw this.tooLarge(length);
		return {
			part,
			again: this.received - (part?.from ?? 0),
			digest: this.digestFrom(part?.from ?? 0),
			framed: isFramed(headers),
			before: this.received,
		};
	}

	/** Called with the digest of what has come a second time. Throws where that is not what came first. */
	compare(digest: string, reading: Reading): void {
		const { part } = reading;
		if (digest !== reading.digest)
			throw part === undefined ? this.changed() : this.noParts('continued with other bytes');
		// Not before: it may be a part of the compressed file.
		this.total ??= part?.total;
	}

	/**
	 * Called when an answer has come to its end by itself. Throws where that is not the end of the file.
	 *
	 * @param missing bytes that did not come a second time
	 */
	ended({ part, framed, before }: Reading, missing: number): void {
		const { received, total, stated } = this;
		if (received === 0) throw new DownloadError('the file is empty', 'again');
		if (missing > 0 || received < (part?.end ?? 0)) throw this.brokeOff();
		if (total !== undefined) {
			if (received === total) return;
			throw received < total ? this.brokeOff() : this.tooLong(total);
		}
		if (part !== undefined) {
			// A host that does not know how long the file is has sent all of it once nothing new comes.
			if (received > before) throw this.brokeOff();
		} else if (stated === undefined) {
			if (!framed) this.askAboutEnd();
		} else if (received !== stated) {
			if (received < stated - compressionLoss(stated)) throw this.brokeOff();
			// It was compressed on its way: the length is not the file's.
			this.stated = undefined;
			this.askAboutEnd();
		}
	}

	/** Called after a part that brought nothing: the offset it was asked for may mean nothing in the compressed file. */
	partFailed(): void {
		this.parts = false;
	}

	private acceptAll(headers: FileAnswer['headers']): void {
		const length = asNumber(headerOf(headers, 'content-length'));
		// Where nothing has arrived, an answer before this one may have been of something else.
		if (this.received === 0) this.stated = length ?? this.stated;
		else if (length !== undefined && length !== (this.stated ?? length)) throw this.changed();
		this.stated ??= length;
		// What comes after the bytes that are there comes from this answer, whatever validator the one before it had.
		this.validator = strongValidator(headers);
		this.contentType ??= headerOf(headers, 'content-type');
	}

	private acceptPart(headers: FileAnswer['headers']): Part {
		const part = partOf(headers);
		const validator = strongValidator(headers);
		if (
			part?.from !== this.askedFrom ||
			(part.total ?? this.length) !== (this.length ?? part.total) ||
			(validator ?? this.validator) !== this.validator ||
			(this.validator === undefined && part.end > this.received)
		)
			throw this.noParts('continued at a wrong offset');
		return part;
	}

	private acceptEnd(headers: FileAnswer['headers']): void {
		const total = lengthBy416(headers);
		if (total !== this.received || total !== (this.length ?? total))
			throw this.noParts('did not continue the file (HTTP 416)');
	}

	private digestFrom(from: number): string {
		if (from === 0) return this.hash.copy().digest('hex');
		const again = this.last.subarray(this.last.length - (this.received - from));
		return createHash('sha256').update(again).digest('hex');
	}

	/**
	 * Where no length confirms an end, it may be a cut: Node.js does not distinguish a reset connection from a closed one, and
	 * what n8n's HTTP client was still decompressing at that moment is lost silently. So what follows is requested, or all of
	 * it: a file that ends at the same offset again is whole.
	 */
	private askAboutEnd(): void {
		if (this.endSeenAt === this.received) return;
		this.endSeenAt = this.received;
		throw new DownloadError(
			`the file ended after ${this.received} bytes with no sign that it was complete`,
			'confirm',
		);
	}

	private refusal({ status, headers }: FileAnswer, now: number): DownloadError {
		const words = `the file host answered HTTP ${status}`;
		if (status === 403 && !this.asBrowser) {
			this.asBrowser = true;
			return new DownloadError(words, 'again');
		}
		const next = TRANSIENT.has(status) || status >= 500 ? 'again' : 'nothing';
		return new DownloadError(words, next, retryAfterMs(headers['retry-after'], now));
	}

	private noParts(what: string): DownloadError {
		this.parts = false;
		return new DownloadError(`the file host ${what}`, 'again');
	}

	private changed(): DownloadError {
		return new DownloadError('the file changed while it was downloaded', 'startOver');
	}

	private brokeOff(): DownloadError {
		const of = this.length === undefined ? '' : ` of ${this.length}`;
		return new DownloadError(`the file broke off after ${this.received}${of} bytes`, 'again');
	}

	private tooLong(total: number): DownloadError {
		return new DownloadError(
			`the file is longer than the ${total} bytes that its host stated`,
			'startOver',
		);
	}

	private tooLarge(length?: number): DownloadError {
		const size = length === undefined ? '' : `${megabytes(length)}, and `;
		return new DownloadError(
			`the file is larger than allowed: ${size}Max File Size is ${megabytes(this.maxBytes)}`,
			'nothing',
		);
	}
}
