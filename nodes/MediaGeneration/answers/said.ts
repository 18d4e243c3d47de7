/**
 * What an answer says: codes and words. Everything that interprets an answer takes this, so that no pattern runs
 * over what the request itself said, or over more than a few kB. Source: docs/service.md, "Shapes".
 */
import { asText, isGiven, isObject, type JsonObject } from '../base/json';
import { MAX_LEVELS } from '../base/bounds';
import { quote } from '../base/words';
import { withoutOwnTexts } from './ownTexts';
import { isFilled, type Answer } from './reply';
import { asId } from './task';
import { walk, type Found } from './walk';

/** How many reasons of one error are quoted. */
const MAX_REASONS = 10;
/** How many characters of a reason are quoted. */
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

/** Returns the fields of an error that hold its reasons. */
function fieldsWithReasons(error: JsonObject): Array<[name: string, value: unknown]> {
	const fields = Object.entries(error);
	const mayHold = (value: unknown) => typeof value === 'object' && isFilled(value);
	const hasWords = (value: unknown) =>
		asText(value) !== undefined ||
		(mayHold(value) && Object.values(value as object).some((it) => asText(it) ?? mayHold(it)));
	const words = WORDS_FIELDS.map((name) =>
		fields.find(([key, value]) => key === name && hasWords(value)),
	);
	const best = words.find(isGiven);
	return best ? [best] : fields.filter(([key]) => !WORDS_FIELDS.includes(key));
}

/** Returns the field of the request that a reason refers to, in the words of the error. */
function fieldOfReason({ name, holder }: Found): string | undefined {
	if (holder === undefined) return undefined;
	return WORDS_FIELDS.includes(name) ? (fieldOfError(holder.value) ?? fieldOfReason(holder)) : name;
}

/** Lists the reasons in an error, whatever its shape: texts, objects with a message, lists of either, or any of them by field name. Some services put their provider's error into theirs as a text. */
function reasonsIn(said: unknown): string[] {
	const within = { maxDepth: MAX_LEVELS, most: 10 * MAX_REASONS, unpacks: true };
	return walk(said, { ...within, fieldsOf: fieldsWithReasons }).flatMap((found) => {
		const text = asText(found.value)?.slice(0, MAX_REASON);
		const words = [fieldOfReason(found), text].filter(isGiven).join(': ');
		return text === undefined ? [] : [words.slice(0, MAX_REASON)];
	});
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
	const reasons = new Set(places.filter(isFilled).flatMap(reasonsIn));
	return [...reasons].slice(0, MAX_REASONS).join('; ') || asId(body.error_code);
}

export interface Said {
	answer: Answer;
	/** Codes and words without the request's own texts: what patterns may run over. */
	reasons: string;
	/** The beginning of a text that is no JSON, likewise without them. */
	unparsed: string;
	/** For people: the status, with the service's own words or why there are none. */
	words: string;
	/** Whether `words` are the status alone. */
	isSilent: boolean;
	/** Whether something in front of the service has answered: a page where JSON belongs. */
	isPage: boolean;
}

/** @param own texts of the request, which do not count */
export function saidIn(answer: Answer, own: readonly string[]): Said {
	const { status, body, text, unread } = answer;
	const fields = isObject(body) ? body : {};
	const error = isObject(fields.error) ? fields.error : {};
	const { code, status_code, type } = fields;
	const inFields = [code, status_code, type, error.code, error.type, error.status];
	const codes = inFields.flatMap((each) => asText(each)?.slice(0, 100) ?? []).join(' ');
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
