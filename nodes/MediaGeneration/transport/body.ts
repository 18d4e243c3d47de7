/** Encodes the body of a request: as JSON, or as a form with files (docs/service.md, "Forms and files"). */
import type { IDataObject } from 'n8n-workflow';
import type { FormFile } from '../answers/request';
import { reasonOf } from '../n8n/networkError';

export interface Body {
	body?: IDataObject;
	/** A body with files is a form in any case. */
	form?: boolean;
	files?: readonly FormFile[];
}

/**
 * A form whose files are read while they are sent. n8n hands it to axios, which takes any object that resembles the web's FormData, and
 * adds up its Content-Length (axios 1.x, `formDataToStream`). FormData itself takes only Blobs, which hold whole files.
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

/**
 * Reads a file to send it, and fails before its end if it has changed: a request with less than its Content-Length is
 * incomplete (RFC 9112, 6.3). @param failed makes the error to throw
 */
async function* wholeFile(
	{ name, size, stream }: FormFile,
	failed: (error: unknown) => Error,
): AsyncGenerator<Uint8Array> {
	let left = size;
	try {
		for await (const chunk of stream?.() ?? []) {
			left -= chunk.length;
			if (left < 0) break;
			yield chunk;
		}
		if (left !== 0) throw new Error(`${name} has changed`);
	} catch (error) {
		throw failed(error);
	}
}

interface Encoded {
	body?: IDataObject | StreamedForm;
	headers: Record<string, string>;
	/** Returns why a file could not be sent, so that the request was never complete. */
	unsent?: () => string | undefined;
}

/** Encodes a body for n8n's HTTP helper, with its headers. axios sets a form's Content-Type, because it chooses the boundary. */
export function encodeBody({ body, form = false, files = [] }: Body): Encoded {
	if (body === undefined) return { headers: {} };
	if (!form && files.length === 0) return { body, headers: { 'Content-Type': 'application/json' } };
	let unsent: string | undefined;
	const failed = (error: unknown) => new Error((unsent = reasonOf(error)));
	const partOf = (file: FormFile): [string, FormFile] => {
		const stream = () => wholeFile(file, failed);
		return [file.field, { ...file, stream }];
	};
	const parts = [...Object.entries(body).flatMap(textIn), ...files.map(partOf)];
	return { body: new StreamedForm(parts), headers: {}, unsent: () => unsent };
}
