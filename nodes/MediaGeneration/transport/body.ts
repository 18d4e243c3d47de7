/** Encodes the body of a request: as JSON, or as a form with files (docs/service.md, "Forms and files"). */
import type { IDataObject } from 'n8n-workflow';
import type { FormFile } from '../answers/request';
import { ABORTED, type TimeLimit } from '../base/abort';
import { reasonOf } from '../n8n/networkError';

export interface Body {
	body?: IDataObject;
	/** A body with files is a form in any case. */
	form?: boolean;
	/** Names of fields that are sent once for each entry of their list. Other lists become JSON. */
	repeated?: readonly string[];
	files?: readonly FormFile[];
}

/**
 * A form whose files are read while they are sent. n8n hands it to axios, which takes any object that resembles the web's FormData, and
 * adds up its Content-Length (axios 1.x, `formDataToStream`). FormData itself takes only Blobs, which hold complete files.
 */
class StreamedForm {
	readonly [Symbol.toStringTag] = 'FormData';

	constructor(private readonly parts: ReadonlyArray<[field: string, part: string | FormFile]>) {}

	/** Never called, but axios checks that it exists. */
	append(): void {}

	entries() {
		return this.parts.values();
	}

	[Symbol.iterator]() {
		return this.entries();
	}
}

/** A form has only texts and files: other values become JSON. */
function textIn([name, value]: [string, IDataObject[string]]): Array<[string, string]> {
	if (value === undefined || value === null) return [];
	return [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]];
}

/** Small pieces show soon whether a body still flows, and keep what is handed over and not yet sent small. */
const PIECE_BYTES = 16_384;
const STANDSTILL_MS = 60_000;

/** Why the service can't have received a complete request: a file could not be read again, or the request ended before the last byte. */
export interface Unsent {
	kind: 'unread' | 'cut';
	reason: string;
}

/** The files of a form on their way. Counts what was handed over: a request with less than its Content-Length is incomplete (RFC 9112, 6.3). */
export class Upload {
	private left: number;
	private isOver = false;
	private unread: Unsent | undefined;
	private restart: (isLast: boolean) => void = () => {};

	constructor(files: readonly FormFile[]) {
		this.left = files.reduce((sum, { size }) => sum + size, 0);
	}

	/** While its files flow, nothing gives the request up; they may stand still for a minute. @param answerMs from the last byte to the answer */
	extend(limit: TimeLimit, answerMs: number): void {
		this.restart = (isLast) => limit.restart(isLast ? answerMs : STANDSTILL_MS);
	}

	/** Fails before the end of a file that has changed. */
	async *piecesOf({ name, size, stream }: FormFile): AsyncGenerator<Uint8Array> {
		let left = size;
		try {
			for await (const chunk of stream?.() ?? []) {
				left -= chunk.length;
				if (left < 0) break;
				for (let at = 0; at < chunk.length; at += PIECE_BYTES)
					yield this.handOver(chunk.subarray(at, at + PIECE_BYTES));
			}
			if (left !== 0) throw new Error(`${name} has changed`);
		} catch (error) {
			throw this.notRead(error);
		}
	}

	private notRead(error: unknown): Error {
		const reason = `a file could not be read again (${reasonOf(error)})`;
		this.unread ??= { kind: 'unread', reason };
		return new Error(reason);
	}

	private handOver(piece: Uint8Array): Uint8Array {
		if (this.isOver) throw ABORTED;
		this.left -= piece.length;
		this.restart(this.left <= 0);
		return piece;
	}

	/** Hands over nothing more. @param why the request has ended. @returns undefined if the service can have received all of it */
	end(why: string): Unsent | undefined {
		this.isOver = true;
		if (this.unread !== undefined || this.left <= 0) return this.unread;
		const reason = `the connection ended, or stood still for 60 s, before the last byte of its files (${why})`;
		return { kind: 'cut', reason };
	}
}

interface Encoded {
	body?: IDataObject | StreamedForm;
	headers: Record<string, string>;
	upload?: Upload;
}

/** Encodes a body for n8n's HTTP helper, with its headers. axios sets a form's Content-Type, because it chooses the boundary. */
export function encodeBody({ body, form = false, repeated = [], files = [] }: Body): Encoded {
	if (body === undefined) return { headers: {} };
	if (!form && files.length === 0) return { body, headers: { 'Content-Type': 'application/json' } };
	const upload = new Upload(files);
	const partOf = (file: FormFile): [string, FormFile] => {
		return [file.field, { ...file, stream: () => upload.piecesOf(file) }];
	};
	const fields = Object.entries(body).flatMap(([name, value]): Array<[string, typeof value]> => {
		const isRepeated = repeated.includes(name) && Array.isArray(value);
		return isRepeated ? value.map((each) => [name, each]) : [[name, value]];
	});
	const parts = [...fields.flatMap(textIn), ...files.map(partOf)];
	return { body: new StreamedForm(parts), headers: {}, upload };
}
