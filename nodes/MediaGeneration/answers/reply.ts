/** What became of a request: an answer as it came, or silence. */
import type { BoundedJson } from '../base/bounded';
import { asBoolean, asNumber, isObject } from '../base/json';

export interface Answer extends BoundedJson {
	answered: true;
	status: number;
	headers: Record<string, unknown>;
	/** Only the beginning if the answer exceeds its bound. */
	text: string;
}

export interface NoAnswer {
	answered: false;
	/** Only an `unanswered` request can have reached the service. An `unsent` one was never complete. */
	kind: 'unanswered' | 'unconnected' | 'impossible' | 'unsent';
	reason: string;
}

export type Reply = Answer | NoAnswer;

export const isFilled = (value: unknown): boolean =>
	typeof value === 'object' && value !== null
		? Object.keys(value).length > 0
		: Boolean(typeof value === 'string' ? value.trim() : value);

/** Returns whether an answer says no, as `success: false` and `ok: false` do. */
export const deniesSuccess = (body: unknown): boolean =>
	isObject(body) && [body.success, body.ok].map(asBoolean).includes(false);

/** Returns whether the status is one of success; a code inside can say otherwise. */
export const isSuccessful = ({ status }: Answer) => status >= 200 && status < 300;

/** Returns whether no code inside HTTP 200 says otherwise. */
export function isSuccess(body: unknown): boolean {
	const code = isObject(body) ? asNumber(body.code) : undefined;
	return code === undefined || code === 0 || (code >= 200 && code <= 299);
}

/** The status inside HTTP 200 that is no success (docs/service.md, "Shapes"); 0 for `success: false` alone. Undefined if it says yes. */
export function codeInside(body: unknown): number | undefined {
	if (!isObject(body)) return undefined;
	const codes = [body.code, body.status_code, body.statusCode].map(asNumber);
	const inner = codes.find((each = 0) => each >= 400 && each <= 599);
	return inner ?? (deniesSuccess(body) ? 0 : undefined);
}

/** Like {@link codeInside}, for an answer that is no task: a task has a status and an error of its own. */
export function refusalInside(body: unknown): number | undefined {
	if (!isObject(body)) return undefined;
	const { status, error, errors } = body;
	const isFailed = /^(error|fail(ed)?|false)$/i.test(String(status));
	return codeInside(body) ?? (isFailed || isFilled(error) || isFilled(errors) ? 0 : undefined);
}
