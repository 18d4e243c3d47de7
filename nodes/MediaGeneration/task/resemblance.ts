/** Compares a listed task with a request, by what the task says of itself. Pure. */
import type { CreationRequest } from '../actions/operation';
import { ensured } from '../base/boundedMap';
import { asNumber, asText, isObject, type JsonObject } from '../base/json';
import { isTextCut } from '../transport/taskList';
import { voiceOnV3 } from './speechRoute';

const BOOKKEEPING =
	/^(id|task_id|status|state|progress|type|created_at|updated_at|receive_url)$|error/;
/** These fields tell one request from another. */
const CONTENT = ['text', 'prompt', 'idea', 'lyrics', 'input', 'description'];
/** Only these exclude a task: services write others in words of their own. */
const EXCLUDING = ['text', 'prompt', 'idea', 'lyrics'];

/** Collects every value in an object, in depth, by the name it stands under, unless that is bookkeeping. Lists are values. */
function valuesIn(object: JsonObject, found = new Map<string, unknown[]>()) {
	for (const [name, value] of Object.entries(object)) {
		if (isObject(value)) valuesIn(value, found);
		else if (value !== null && value !== undefined && !BOOKKEEPING.test(name))
			ensured(found, name, () => []).push(value);
	}
	return found;
}

/** In a form the lines of a text end with CRLF, whatever they ended with before (axios 1.x, `formDataToStream`). */
const withPlainLines = (text: string) => text.replace(/\r\n?/g, '\n');

const textOf = (value: unknown) =>
	typeof value === 'string' ? withPlainLines(value).trim() : JSON.stringify(value);
const isSame = (one: unknown, other: unknown) =>
	(asNumber(one) ?? textOf(one)) === (asNumber(other) ?? textOf(other));
const isAlike = (one: unknown, other: unknown) =>
	textOf(one)?.replace(/\s/g, '').toLowerCase() === textOf(other)?.replace(/\s/g, '').toLowerCase();

/** Names the field that tells a request from others: its text, or else its longest one. */
function contentOf(asked: Map<string, unknown[]>): string | undefined {
	const lengths = new Map<string, number>();
	for (const [name, [value]] of asked)
		if (typeof value === 'string' && value !== '') lengths.set(name, value.length);
	const [longest] = [...lengths].sort(([, one], [, other]) => other - one);
	return CONTENT.find((name) => lengths.has(name)) ?? longest?.[0];
}

/** Whether what a list shows of a text that it has cut off fits: its beginning, and how long it is. */
function isBeginning(text: unknown, { text: shown, text_length: length }: JsonObject): boolean {
	if (typeof text !== 'string' || typeof shown !== 'string') return false;
	const beginning = withPlainLines(shown).trimEnd();
	const isShown = [text, text.trimStart()].some((form) =>
		withPlainLines(form.slice(0, 2 * shown.length)).startsWith(beginning),
	);
	if (beginning.trim() === '' || !isShown) return false;
	const said = asNumber(length);
	const plain = withPlainLines(text);
	const forms = [text, plain, plain.replace(/\n/g, '\r\n')].flatMap((form) => [form, form.trim()]);
	// Some services count UTF-16 units, others code points.
	return (
		said === undefined || forms.some((form) => form.length === said || [...form].length === said)
	);
}

/** The spelling differs between the path and the type (docs/service.md, "Resources" and "Endpoints"). */
const isSoundEffect = (name = '') => /sound[-_]effect/.test(name);

export type Resemblance =
	/** It says that it was made from another text. */
	| 'none'
	/** Nothing that it says rules it out. */
	| 'possible'
	/** It repeats the text as far as the list shows it. */
	| 'cut'
	/** It repeats the whole text, and all else that it repeats is the same. */
	| 'sure';

export function resemblance(raw: JsonObject, request: CreationRequest): Resemblance {
	const { path, body, qs, pathFields, type, files } = request;
	const onV3 = request.kind === 'speech-v1' && { voice_id: voiceOnV3(request) };
	const asked = valuesIn({ body, qs, pathFields, onV3 });
	const repeated = valuesIn(raw);
	const said = asText(raw.type);
	let isEqual =
		said === undefined ||
		said === type ||
		(type === undefined && isSoundEffect(said) === isSoundEffect(path));
	for (const [name, values] of asked) {
		const says = repeated.get(name);
		if (says === undefined) continue;
		const has = (isOne: typeof isSame) =>
			values.some((each) => says.some((one) => isOne(each, one)));
		if (name === 'text' && isTextCut(raw)) {
			if (!values.some((value) => isBeginning(value, raw))) return 'none';
		} else if (EXCLUDING.includes(name) && !has(isAlike)) return 'none';
		else isEqual &&= has(isSame);
	}
	const content = contentOf(asked);
	// No list shows which files a task was made from, so that a language or a number tells nothing.
	const tells = !files?.length || CONTENT.some((name) => name === content);
	if (!isEqual || content === undefined || !tells || !repeated.has(content)) return 'possible';
	return content === 'text' && isTextCut(raw) ? 'cut' : 'sure';
}
