/** Form-Data as a service reads it: undici parses it, and each file is kept as its size and hash. */
import { createHash } from 'node:crypto';
import { Response } from 'undici';
import type { JsonObject } from './types';

export interface FormFile {
	fileName: string;
	type: string;
	bytes: number;
	sha256: string;
}

export class Form {
	/** In the order in which they came. */
	readonly fields: Array<[name: string, value: string]> = [];
	readonly files: Array<[name: string, file: FormFile]> = [];
}

export async function parseForm(bytes: Buffer, contentType: string): Promise<Form | string> {
	const form = new Form();
	try {
		const body = new Response(bytes, { headers: { 'content-type': contentType } });
		for (const [name, value] of await body.formData()) {
			if (typeof value === 'string') form.fields.push([name, value]);
			else {
				const content = Buffer.from(await value.arrayBuffer());
				const sha256 = createHash('sha256').update(content).digest('hex');
				const { name: fileName, type } = value;
				form.files.push([name, { fileName, type, bytes: content.length, sha256 }]);
			}
		}
		return form;
	} catch (error) {
		return `unreadable form: ${String(error)}`;
	}
}

/** What fields mean that are no texts. A form has texts only. */
const READERS: Record<string, (text: string) => unknown> = {
	generations_count: Number,
	with_transcript: (text) => ({ true: true, false: false })[text] ?? text,
	model_parameters: jsonOrText,
	speakers: jsonOrText,
	voice_settings: jsonOrText,
	stand_in: jsonOrText,
};

/** What is JSON as its value, and all else as the text that it is. */
export function jsonOrText(text: string): unknown {
	try {
		return JSON.parse(text) as unknown;
	} catch {
		return text;
	}
}

/** The body that a form stands for; a list of files under each name. */
export function bodyOf({ fields, files }: Form): JsonObject {
	const body: JsonObject = {};
	for (const [name, text] of fields) body[name] = READERS[name]?.(text) ?? text;
	for (const [name, file] of files) body[name] = [...((body[name] as FormFile[]) ?? []), file];
	return body;
}
