/**
 * What is there of a file, and what is known of the whole: it decides what the next request asks for, whether an answer
 * fits, and whether an end is the end. Rules that must not regress:
 * - bytes of two files are never mixed: a part is asked for only where a strong validator stands for the bytes, and what
 *   comes a second time is compared with what is there;
 * - a length that is known is never forgotten, and what is shorter is not the file;
 * - n8n's HTTP client decompresses bodies and removes the header that says so: a Content-Length may be that of the
 *   compressed bytes, and nothing but the number of bytes gives that away.
 */
import { createHash } from 'crypto';
import { retryAfterMs } from '../service/account';
import { headerOf } from '../service/fileHost';
import { asNumber } from '../service/json';
import { DownloadError, megabytes } from './downloadError';

export interface FileAnswer {
	status: number;
	headers: Record<string, unknown>;
}

/** How an answer is to be read. */
export interface Reading {
	/** Where in the file its bytes begin. */
	from: number;
	/** Digest of what is there from that place on: what its first bytes must be. */
	known: string;
	part: boolean;
	/** Whether its end is certain by itself. */
	framed: boolean;
	/** Bytes that were there before it. */
	before: number;
}

/** How much of the end of what is there comes once more with a part, to see that it fits. */
const OVERLAP_BYTES = 4_096;
/** A date counts as a strong validator where the file was this old when it was sent (RFC 9110, 8.8.2.2). */
const SETTLED_MS = 60_000;
/** How much longer compression can make a file: a few bytes for each block, and a header. */
const compressionLoss = (bytes: number): number => 64 + bytes / 1_000;

const TRANSIENT = new Set([408, 425, 429]);

/** What a part is continued by: a strong ETag, or a date that is as good. */
function strongValidator(headers: Record<string, unknown>): string | undefined {
	const etag = headerOf(headers, 'etag');
	if (etag !== undefined) return etag.startsWith('"') ? etag : undefined;
	const modified = headerOf(headers, 'last-modified');
	const age = Date.parse(headerOf(headers, 'date') ?? '') - Date.parse(modified ?? '');
	return age >= SETTLED_MS ? modified : undefined;
}

function refuseEncoding(headers: Record<string, unknown>): void {
	const encoding = headerOf(headers, 'content-encoding') ?? 'identity';
	if (encoding !== '' && encoding.toLowerCase() !== 'identity')
		throw new DownloadError(
			`the file host sent it in an encoding that n8n can't undo: ${encoding.slice(0, 60)}`,
			'nothing',
		);
}

export class FileSoFar {
	/** Bytes that are there. */
	received = 0;
	contentType: string | undefined;
	asBrowser = false;
	/** By a part's Content-Range: certain. */
	private total: number | undefined;
	/** By the Content-Length of an answer with all of it. */
	private stated: number | undefined;
	private validator: string | undefined;
	/** Whether the host has shown that it knows ranges, or that it doesn't. */
	private parts: 'offered' | 'untried' | 'useless' = 'untried';
	private endAsked = false;
	private readonly hash = createHash('sha256');
	private last: Buffer = Buffer.alloc(0);

	constructor(private readonly maxBytes: number) {}

	/** How long the file is as far as its host has said, in bytes. */
	get length(): number | undefined {
		return this.total ?? this.stated;
	}

	/** The headers that ask for what is missing. */
	ask(): Record<string, string> {
		if (this.received === 0 || this.validator === undefined || this.parts === 'useless') return {};
		const from = this.received - Math.min(this.last.length, OVERLAP_BYTES);
		return { Range: `bytes=${from}-`, 'If-Range': this.validator };
	}

	/** New bytes: every byte of a file passes here once, in order. */
	take(bytes: Buffer): void {
		this.hash.update(bytes);
		this.last = bytes;
		this.received += bytes.length;
		if (this.received > this.maxBytes) throw this.tooLarge();
	}

	/**
	 * Checks an answer's status and headers. Undefined where it says that all is there already; throws a DownloadError
	 * where it is of no use.
	 *
	 * @param now epoch ms
	 */
	accept(answer: FileAnswer, asked: Record<string, string>, now: number): Reading | undefined {
		const { status, headers } = answer;
		const ranged = asked.Range !== undefined;
		if (status === 416 && ranged) return this.acceptNoRange(headers);
		if (status !== 200 && !(status === 206 && ranged)) throw this.refusal(answer, now);
		refuseEncoding(headers);
		const from = status === 206 ? this.acceptPart(headers) : this.acceptAll(headers);
		if (this.length !== undefined && this.length > this.maxBytes) throw this.tooLarge();
		return {
			from,
			known: this.digestFrom(from),
			part: status === 206,
			framed:
				headerOf(headers, 'content-length') !== undefined ||
				headerOf(headers, 'transfer-encoding') !== undefined,
			before: this.received,
		};
	}

	/**
	 * Called when an answer has come to its end by itself. Throws where that is not the end of the file.
	 *
	 * @param again bytes that were there already and did not come again
	 */
	ended({ part, framed, before }: Reading, again: number): void {
		const { received, total, stated } = this;
		if (again > 0) throw this.brokeOff();
		if (received === 0) throw new DownloadError('the file is empty', 'again');
		if (total !== undefined && received > total)
			throw new DownloadError(
				`the file is longer than the ${total} bytes it was said to have`,
				'startOver',
			);
		if (total !== undefined || part) {
			if (received === total || (total === undefined && received === before)) return;
			throw this.brokeOff();
		}
		if (stated === undefined) {
			if (!framed) this.askAboutEnd();
			return;
		}
		// The body of an answer is never cut by itself: what is longer, or a trifle shorter, was compressed on its way.
		if (received < stated - compressionLoss(stated)) throw this.brokeOff();
	}

	private acceptAll(headers: Record<string, unknown>): number {
		const length = asNumber(headerOf(headers, 'content-length'));
		if (
			this.received > 0 &&
			length !== undefined &&
			this.stated !== undefined &&
			length !== this.stated
		)
			throw this.changed();
		this.stated ??= length;
		// What comes after the bytes that are there comes from this answer, whatever validator the one before it had.
		this.validator = strongValidator(headers);
		this.contentType ??= headerOf(headers, 'content-type');
		if (this.parts === 'untried' && headerOf(headers, 'accept-ranges') === 'bytes')
			this.parts = 'offered';
		return 0;
	}

	private acceptPart(headers: Record<string, unknown>): number {
		const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headerOf(headers, 'content-range') ?? '');
		const [from, end] = [Number(range?.[1]), Number(range?.[2])];
		const total = asNumber(range?.[3]);
		const length = asNumber(headerOf(headers, 'content-length')) ?? end + 1 - from;
		const validator = strongValidator(headers);
		const fits =
			from <= this.received &&
			from >= this.received - this.last.length &&
			length === end + 1 - from &&
			(total === undefined || (total > end && total === (this.length ?? total))) &&
			(validator === undefined || validator === this.validator);
		if (!fits) throw this.noParts('the file host continued at a wrong place');
		this.total ??= total;
		return from;
	}

	private acceptNoRange(headers: Record<string, unknown>): undefined {
		const total = /^bytes \*\/(\d+)$/.exec(headerOf(headers, 'content-range') ?? '')?.[1];
		if (Number(total) === this.received && this.received === (this.length ?? this.received))
			return undefined;
		throw this.noParts('the file host did not continue the file (HTTP 416)');
	}

	private digestFrom(from: number): string {
		if (from === 0) return this.hash.copy().digest('hex');
		const again = this.last.subarray(this.last.length - (this.received - from));
		return createHash('sha256').update(again).digest('hex');
	}

	/** An end that no header has announced may be a cut. A host that knows ranges can be asked. */
	private askAboutEnd(): void {
		if (this.endAsked || this.parts !== 'offered' || this.validator === undefined) return;
		this.endAsked = true;
		throw new DownloadError(`the file ended after ${this.received} bytes without a word`, 'again');
	}

	private refusal({ status, headers }: FileAnswer, now: number): DownloadError {
		const words = `the file host answered HTTP ${status}`;
		if (status === 403 && !this.asBrowser) {
			this.asBrowser = true;
			return new DownloadError(words, 'again');
		}
		const transient = TRANSIENT.has(status) || status >= 500;
		return new DownloadError(
			words,
			transient ? 'again' : 'nothing',
			retryAfterMs(headers['retry-after'], now),
		);
	}

	/** What came a second time is not what came first. */
	mismatch(part: boolean): DownloadError {
		return part ? this.noParts('the file host continued with other bytes') : this.changed();
	}

	/** A part that brought nothing: n8n may have taken a place in compressed bytes for one in the file. */
	partFailed(): void {
		this.parts = 'useless';
	}

	private noParts(message: string): DownloadError {
		this.parts = 'useless';
		return new DownloadError(message, 'again');
	}

	private changed(): DownloadError {
		return new DownloadError('the file changed while it was downloaded', 'startOver');
	}

	private brokeOff(): DownloadError {
		const of = this.length === undefined ? '' : ` of ${this.length}`;
		return new DownloadError(`the file broke off after ${this.received}${of} bytes`, 'again');
	}

	private tooLarge(): DownloadError {
		const known =
			this.length !== undefined && this.length > this.maxBytes ? this.length : undefined;
		const size = known === undefined ? '' : `${megabytes(known)}, and `;
		return new DownloadError(
			`the file is larger than allowed: ${size}Max File Size is ${megabytes(this.maxBytes)}`,
			'nothing',
		);
	}
}
