/** Finds in the service's list the tasks of creations whose answers never came. It is pure, and strict: no task of another is delivered. */
import type { CreationRequest } from '../actions/operation';
import { ensured } from '../base/boundedMap';
import { asNumber, asText, isObject, type JsonObject } from '../base/json';
import { isTextCut, type ListedTask } from '../transport/taskList';
import { identityOf, type Sending } from './creation';
import { voiceOnV3 } from './speechRoute';

export interface Sought extends Sending {
	/** True if its run was killed, and may not have sent all of its equal requests. */
	fewer: boolean;
}

export interface Listing {
	/** Known tasks are left out. */
	tasks: readonly ListedTask[];
	/** Says how far the service's clock is ahead of ours at least; undefined where it shows no time. */
	aheadMs: number | undefined;
	/** Names the type of a kind of task, once the service has named it. */
	typeOf: (kind: string) => string | undefined;
}

export type Match<S extends Sought> =
	| { kind: 'found'; sending: S; task: ListedTask }
	/** An `open` one may be found later. `several` are more tasks than creations, which no later look changes. */
	| { kind: 'open' | 'several'; sending: S; candidates: ListedTask[]; isLikely: boolean };

const BOOKKEEPING =
	/^(id|task_id|status|state|progress|type|created_at|updated_at|receive_url)$|error/;
/** These fields tell one request from another. */
const CONTENT = ['text', 'prompt', 'idea', 'lyrics', 'input', 'description'];

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

function isSame(one: unknown, other: unknown): boolean {
	const textOf = (value: unknown) =>
		typeof value === 'string' ? withPlainLines(value).trim() : JSON.stringify(value);
	const plain = (value: unknown) => asNumber(value) ?? textOf(value);
	return plain(one) === plain(other);
}

/** Names the field that tells a request from others: its text, or else its longest one. */
function contentOf(asked: Map<string, unknown[]>): string | undefined {
	const lengths = new Map<string, number>();
	for (const [name, [value]] of asked)
		if (typeof value === 'string' && value !== '') lengths.set(name, value.length);
	const [longest] = [...lengths].sort(([, one], [, other]) => other - one);
	return CONTENT.find((name) => lengths.has(name)) ?? longest?.[0];
}

/** The spelling differs between the path and the type (docs/service.md, "Resources" and "Endpoints"). */
const isSoundEffect = (name = '') => /sound[-_]effect/.test(name);

/** Tells whether what a list shows of a text that it has cut off fits: its beginning, and how long it is. */
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

export function isCut(
	task: ListedTask,
	request: CreationRequest,
	typeOf: Listing['typeOf'],
): boolean {
	return resemblance(task, request, typeOf) === 'cut';
}

/**
 * Tells whether a task may be that of a request, by what it says of itself: `sure` only where it repeats the request's text, `cut` where it
 * does so as far as the list shows it.
 */
export function resemblance(
	{ raw }: ListedTask,
	request: CreationRequest,
	typeOf: Listing['typeOf'],
): 'none' | 'possible' | 'cut' | 'sure' {
	const { kind, path, body, qs, pathFields, type = typeOf(kind) } = request;
	const said = asText(raw.type);
	// The name of a type tells nothing until the service has used it for this kind of task; one is documented for another kind.
	const isOther = type === undefined ? isSoundEffect(said) && !isSoundEffect(path) : said !== type;
	if (said !== undefined && isOther) return 'none';
	const onV3 = request.kind === 'speech-v1' && { voice_id: voiceOnV3(request) };
	const asked = valuesIn({ body, qs, pathFields, onV3 });
	const repeated = valuesIn(raw);
	for (const [name, values] of asked) {
		const says = repeated.get(name);
		const isRepeated = (value: unknown) =>
			name === 'text' && isTextCut(raw)
				? isBeginning(value, raw)
				: says?.some((one) => isSame(value, one));
		if (says !== undefined && !values.some(isRepeated)) return 'none';
	}
	const content = contentOf(asked);
	// No list shows which files a task was made from, so that a language or a number tells nothing.
	const tells = !request.files?.length || CONTENT.some((name) => name === content);
	if (content === undefined || !tells || !repeated.has(content)) return 'possible';
	return content === 'text' && isTextCut(raw) ? 'cut' : 'sure';
}

/** Tells whether a task began after a request was sent. A list may cut its times to whole seconds. */
function beganAfter(task: ListedTask, { sentAt }: Sending, aheadMs: number): boolean {
	const { createdAt = -Infinity } = task;
	const latest = createdAt % 1_000 === 0 ? createdAt + 999 : createdAt;
	return latest >= sentAt + aheadMs;
}

function paired<S extends Sending>(sendings: S[], tasks: ListedTask[], aheadMs: number) {
	const bySending = [...sendings].sort((one, other) => one.sentAt - other.sentAt);
	const byCreation = [...tasks].sort((one, other) => (one.createdAt ?? 0) - (other.createdAt ?? 0));
	const pairs = bySending.flatMap((sending, index) => {
		const task = byCreation[index];
		return task !== undefined && beganAfter(task, sending, aheadMs) ? [{ sending, task }] : [];
	});
	return pairs.length === tasks.length ? pairs : [];
}

/**
 * Decides what a reading says of each creation that is looked for. It finds as many tasks as there are creations of equal requests, which nobody
 * else could have made. @param rivals those whose answers are still due: a task may be theirs
 */
export function assign<S extends Sought>(
	sought: readonly S[],
	rivals: readonly Sending[],
	{ tasks, aheadMs, typeOf }: Listing,
): Array<Match<S>> {
	const fits = (task: ListedTask, sending: Sending) =>
		beganAfter(task, sending, aheadMs ?? 0) ? resemblance(task, sending.request, typeOf) : 'none';
	const groups = new Map<string, S[]>();
	for (const sending of sought) {
		const key = JSON.stringify([sending.fewer, ...identityOf(sending.request)]);
		ensured(groups, key, () => []).push(sending);
	}
	return [...groups.values()].flatMap((group) => {
		const candidates = tasks.filter((task) => group.some((one) => fits(task, one) !== 'none'));
		const others = [...rivals, ...sought.filter((one) => !group.includes(one))];
		const rivalled = others.some((other) => candidates.some((one) => fits(one, other) !== 'none'));
		const areSure = candidates.every((task) => group.some((one) => fits(task, one) === 'sure'));
		const areTooMany = candidates.length > group.length;
		const suffice = group[0]?.fewer === true ? !areTooMany : candidates.length === group.length;
		const pairs =
			areSure && !rivalled && suffice && aheadMs !== undefined
				? paired(group, candidates, aheadMs)
				: [];
		return group.map((sending): Match<S> => {
			const pair = pairs.find((one) => one.sending === sending);
			if (pair !== undefined) return { kind: 'found', ...pair };
			const isLikely = candidates.some((task) => fits(task, sending) === 'sure');
			return { kind: areTooMany && !rivalled ? 'several' : 'open', sending, candidates, isLikely };
		});
	});
}
