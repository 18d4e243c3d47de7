/**
 * What an answer says: codes, words, and the task that it names. Everything that interprets an answer takes this, so that no pattern runs
 * over what the request itself said, or over more than a few kB. Source: docs/service.md, "Shapes".
 */
import { asText, isGiven, isObject, parseJson, type JsonObject } from '../base/json';
import { MAX_LEVELS, MAX_LOOKED_AT } from '../base/bounds';
import { getOrCreate } from '../base/boundedMap';
import { quote } from '../base/words';
import type { Answer } from './reply';
import type { CreationRequest } from './request';

/** Reasons that are quoted from one error. */
const MAX_REASONS = 10;
/** Characters of a reason. */
const MAX_REASON = 1_000;
/** Characters of an answer that is no JSON, which are searched. */
const MAX_TEXT = 20_000;

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

/** Finds the service's own words, wherever a refusal or a failed task has them, each once. */
export function errorTextOf(body: JsonObject): string | undefined {
	const { error_message, error, message, msg, detail, errors, violations, metadata } = body;
	const inError = isObject(error)
		? [error.message, error.error, error.errors, error.violations]
		: [error];
	const inMetadata = isObject(metadata) ? metadata.error_message : undefined;
	const places = [error_message, ...inError, message, msg, detail, errors, violations, inMetadata];
	const budget = { left: MAX_LOOKED_AT };
	const reasons = new Set(places.flatMap((said) => reasonsIn(said, { depth: 0, budget })));
	return [...reasons].slice(0, MAX_REASONS).join('; ') || undefined;
}

/** Objects and lists around a value that is looked at. */
const MAX_AROUND = 20;

/** Lists the texts that a request carries. */
export function carriedTexts(value: unknown, depth = 0): string[] {
	if (typeof value === 'string') return [value];
	if (typeof value !== 'object' || value === null || depth > MAX_AROUND) return [];
	return Object.values(value).flatMap((each) => carriedTexts(each, depth + 1));
}

/** Characters in a row that no two texts share by chance. */
const QUOTED = 12;

/** Returns a function that lists what of so many characters a text shares with some words. It goes through the text once, which can be long. */
function sharing(words: string, length: number): (text: string) => Set<string> {
	// Three characters say of most places that nothing there is shared.
	const keyAt = (within: string, at: number) =>
		(within.charCodeAt(at) * 961 +
			within.charCodeAt(at + (length >> 1)) * 31 +
			within.charCodeAt(at + length - 1)) &
		0xffff;
	const keys = new Uint8Array(0x10000);
	const sought = new Set<string>();
	for (let at = 0; at + length <= words.length; at += 1) {
		keys[keyAt(words, at)] = 1;
		sought.add(words.slice(at, at + length));
	}
	return (text) => {
		const shared = new Set<string>();
		for (let at = 0; at + length <= text.length; at += 1) {
			const part = keys[keyAt(text, at)] === 1 ? text.slice(at, at + length) : '';
			if (sought.has(part)) shared.add(part);
		}
		return shared;
	};
}

/** Returns how long the longest beginning of some words is that a text has. @param least so much it surely has */
function quotedLength(words: string, text: string, least: number): number {
	let length = least;
	let at = text.indexOf(words.slice(0, length));
	while (at >= 0) {
		while (length < words.length && text[at + length] === words[length]) length += 1;
		at = length < words.length ? text.indexOf(words.slice(0, length + 1), at + 1) : -1;
	}
	return length;
}

/** Takes out of a service's words what the request said, which services quote, often only in part. */
export function withoutOwnTexts(words: string, own: readonly string[]): string {
	let left = words.slice(0, MAX_REASON * 2);
	/** By length, for the words that are left. */
	const sharedBy = new Map<number, ReturnType<typeof sharing>>();
	for (const text of own) {
		const length = Math.min(text.length, QUOTED);
		if (length <= 3 || left.length < length) continue;
		const shared = getOrCreate(sharedBy, length, () => sharing(left, length))(text);
		if (shared.size > 0) sharedBy.clear();
		for (let at = 0; shared.size > 0 && at + length <= left.length; at += 1) {
			if (!shared.has(left.slice(at, at + length))) continue;
			const rest = left.slice(at);
			left = `${left.slice(0, at)} ${rest.slice(quotedLength(rest, text, length))}`;
		}
	}
	return left;
}

const TASK_ID = /^task_?id$/i;
const TASK_ID_IN_TEXT = /"task_?id"\s{0,9}:\s{0,9}(?:"([^"\\]{1,500})("?)|(-?\d{1,40})\b)/gi;

/** Returns an ID. Services have zeros for none. */
export function asId(value: unknown): string | undefined {
	const text = asText(value);
	return text === undefined || /^[0-]+$/.test(text) ? undefined : text;
}

/** Finds a task that is named anywhere, but not one that the request named. */
function namedIn(value: unknown, own: readonly string[], depth = 0): string | undefined {
	if (typeof value !== 'object' || value === null || depth > MAX_AROUND) return undefined;
	const first: object = Array.isArray(value) ? value.slice(0, MAX_LOOKED_AT) : value;
	for (const [name, each] of Object.entries(first).slice(0, MAX_LOOKED_AT)) {
		const id = TASK_ID.test(name) ? asId(each) : undefined;
		// With spaces, it is words about a field of that name.
		if (id !== undefined && !/\s/.test(id) && !own.includes(id)) return id;
		const inside = namedIn(each, own, depth + 1);
		if (inside !== undefined) return inside;
	}
	return undefined;
}

function namedInText(text: string, own: readonly string[]): Said['named'] {
	const [found] = [...text.slice(0, MAX_TEXT).matchAll(TASK_ID_IN_TEXT)].filter(
		([quoted, inQuotes, , number]) =>
			asId(inQuotes ?? number) !== undefined && !own.some((each) => each.includes(quoted)),
	);
	if (found === undefined) return undefined;
	const [, inQuotes, end, number] = found;
	// An ID that is cut off is another task's.
	return { taskId: end === '' ? undefined : (inQuotes ?? number) };
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
	/** A task that the answer to a creation names, however deep, and the request did not. Its ID can be cut off. */
	named: { taskId: string | undefined } | undefined;
}

type Carrier = Pick<CreationRequest, 'body' | 'pathFields' | 'qs'>;

/** @param request whose own words do not count */
export function saidIn(answer: Answer, request?: Carrier): Said {
	const { status, body, text, unread } = answer;
	const own = request ? carriedTexts([request.body, request.pathFields, request.qs]) : [];
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
	// A large answer to anything else is not searched.
	const inText = request && body === undefined ? namedInText(text, own) : undefined;
	const taskId = request && namedIn(body, own);
	return {
		answer,
		reasons: `${codes} ${withoutOwnTexts(found ?? '', own)}`,
		unparsed: body === undefined ? withoutOwnTexts(text, own) : '',
		words: `HTTP ${status}${rest}`,
		isSilent: rest === '',
		isPage,
		named: taskId === undefined ? inText : { taskId },
	};
}
