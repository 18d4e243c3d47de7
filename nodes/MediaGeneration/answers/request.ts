/** The request that creates a task. */
import type { IDataObject } from 'n8n-workflow';
import type { JsonObject } from '../base/json';

/** A file of a form, with the names that axios reads. */
export interface FormFile {
	field: string;
	name: string;
	type: string;
	size: number;
	sha256: string;
	/** Returns its content, from the beginning at each call. Missing in a request that is only noted. */
	stream?: () => AsyncIterable<Uint8Array>;
}

export interface CreationRequest {
	/** What it makes, in kebab case and like no other, or the path of another endpoint. */
	kind: string;
	/** Whether its result is a file, which is then waited for. Otherwise the task's type tells. */
	makesFile?: boolean | undefined;
	/** Its parts are URL-encoded. */
	path: string;
	qs?: IDataObject;
	body: IDataObject;
	/** Whether the body is sent as a form. */
	form?: boolean;
	/** Names of the form's fields that are sent once for each entry of their list. */
	repeated?: readonly string[];
	files?: readonly FormFile[];
	/** What the path says about the request, under the service's names. */
	pathFields?: JsonObject;
	/** Name on screen, such as 'Music: Generate', of an operation that docs/service.md has under "More routes". */
	optional?: string;
	/** The size of a file up to which services take it, as far as is known. */
	usualFileMb?: number;
	/** Names on screen of the service's fields, for its refusals. */
	labels?: Labels;
}

/** Maps the service's name of a field to those on screen. */
export type Labels = Readonly<Record<string, string | readonly string[]>>;
