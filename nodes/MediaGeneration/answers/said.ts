/**
 * What an answer says: codes and words. Everything that interprets an answer takes this, so that no pattern runs
 * over what the request itself said, or over more than a few kB. Source: docs/service.md, "Shapes".
 */
import { asText, isGiven, isObject, parseJson, type JsonObject } from '../base/json';
import { MAX_LEVELS, MAX_LOOKED_AT, MAX_TEXT } from '../base/bounds';
import { quote } from '../base/words';
import { withoutOwnTexts } from './ownTexts';
import type { Answer } from './reply';

/** Reasons that are quoted from one error. */
const MAX_REASONS = 10;
/** Characters of a reason. */
const MAX_REASON = 1_000;

function fieldOfError({ loc, field, param, propertyPath }: JsonObject): string | undefined {
	const places = Array.isArray(loc) ? (loc as unknown[]).flatMap((each) => asText(each) ?? []) : [];
	// FastAPI's `["body", "text"]` means the field "text" of the request.
	const isPart = ['body', 'query', 'path', 'header'].includes(places[0] ?? '');
	const own = isPart ? places.slice(1) : places;
	return asText(own.join('.')) ?? [field, param, propertyPath].map(asText).find(isGiven);
}

/** In an error that has one of them, nothing else is a reason. */
const WORDS_FIELDS = ['message', 'msg', 'reason', 'detail', 'error'];

/** Where in an error something stands. */
interface PlaceInError {
	field?: string | undefined;
	depth: number;
	/** What is still looked at in the whole error. */
	budget: { left: number };
}

/** Lists the reasons in an error, whatever its shape: texts, objects with a message, lists of either, or any of them by field name. */
function reasonsIn(said: unknown, place: PlaceInError): string[] {
	const { field, depth, budget } = place;
	budget.left -= 1;
	if (budget.left < 0) return [];
	const inside = (each: unknown, name = field) =>
		reasonsIn(each, { field: name, depth: depth + 1, budget });
	const text = asText(said)?.slice(0, MAX_TEXT);
	if (text !== undefined) {
		// Some services put their provider's error into theirs as a text.
		const packed = /^\s*[[{]/.test(text) && depth <= MAX_LEVELS ? inside(parseJson(text)) : [];
		if (packed.length > 0) return packed;
		return [(field === undefined ? text : `${field}: ${text}`).slice(0, MAX_REASON)];
	}
	if (typeof said !== 'object' || said === null || depth > MAX_LEVELS) return [];
	if (Array.isArray(said))
		return said.slice(0, MAX_REASONS).flatMap((each: unknown) => inside(each));
	const error = said as JsonObject;
	const name = fieldOfError(error) ?? field;
	for (const words of WORDS_FIELDS) {
		const found = inside(error[words], name);
		if (found.length > 0) return found;
	}
	const others = Object.entries(error).filter(([key]) => !WORDS_FIELDS.includes(key));
	const fields = others.slice(0, MAX_REASONS);
	return fields.flatMap(([key, each]) => inside(each, key));
}

/** Names of fields with the reason of an error. Each is asked for by name, because an answer can have very many. */
const REASON_FIELDS = [
	...['error_message', 'errorMessage', 'error_msg', 'errorMsg', 'error_description'],
	...['fail_reason', 'failReason', 'failure_reason', 'failureReason', 'fail_msg', 'failMsg'],
];

/** Finds the service's own words, wherever a refusal or a failed task has them, each once. */
export function errorTextOf(body: JsonObject): string | undefined {
	const { error, message, msg, detail, errors, violations, metadata, result } = body;
	const inError = isObject(error)
		? [error.message, error.error, error.errors, error.violations]
		: [error];
	const named = (within: JsonObject) => REASON_FIELDS.map((name) => within[name]);
	const inside = [metadata, result].flatMap((each) =>
		isObject(each) ? [...named(each), each.error, each.reason] : [],
	);
	const places = [...named(body), ...inError, message, msg, detail, errors, violations, ...inside];
	const budget = { left: MAX_LOOKED_AT };
	const reasons = new Set(places.flatMap((said) => reasonsIn(said, { depth: 0, budget })));
	return [...reasons].slice(0, MAX_REASONS).join('; ') || undefined;
}

export interface Said {
	answer: Answer;
	/** Codes and words without the request's own texts: what patterns may run over. */
	reasons: string;
	/** The beginning of a text that is no JSON, likewise without them. */
	unparsed: string;
	/** For people: the status, with the service's own words or why there are none. */
	words: string;
	/** Whether that is the status alone. */
	isSilent: boolean;
	/** Whether something in front of the service has answered: a page where JSON belongs. */
	isPage: boolean;
}

/** @param own texts of the request, which do not count */
export function saidIn(answer: Answer, own: readonly string[] = []): Said {
	const { status, body, text, unread } = answer;
	const fields = isObject(body) ? body : {};
	const error = isObject(fields.error) ? fields.error : {};
	const places = [
		fields.code,
		fields.status_code,
		fields.type,
		error.code,
		error.type,
		error.status,
	];
	const codes = places.flatMap((code) => asText(code)?.slice(0, 100) ?? []).join(' ');
	const found = errorTextOf(fields);
	const isPage = body === undefined && unread === undefined && /^\s*</.test(text);
	const page = isPage ? ' with a page, from something in front of the service' : undefined;
	const inWords = found ? `: ${quote(found, MAX_REASON)}` : page;
	const rest = inWords ?? (unread === undefined ? '' : ` with an answer ${unread}`);
	return {
		answer,
		reasons: `${codes} ${withoutOwnTexts(found ?? '', own)}`,
		unparsed: body === undefined ? withoutOwnTexts(text, own) : '',
		words: `HTTP ${status}${rest}`,
		isSilent: rest === '',
		isPage,
	};
}
