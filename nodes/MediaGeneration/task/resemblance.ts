/** Compares a listed task with a request, according to what the task says about itself. Pure. */
import type { CreationRequest } from '../answers/request';
import { getOrCreate } from '../base/boundedMap';
import { asText, isObject, type JsonObject } from '../base/json';
import { isTextCut } from '../transport/taskList';
import { voiceOnV3 } from './speechRoute';

const BOOKKEEPING =
	/^(id|task_id|status|state|progress|type|created_at|updated_at|receive_url)$|error/;
/** Fields that tell requests apart: a task with another value was made by another request. */
const CONTENT = ['text', 'prompt', 'idea', 'lyrics'];

/** Collects all values of an object by name, at any depth, except bookkeeping. A list is one value. */
function valuesIn(object: JsonObject, found = new Map<string, string[]>()) {
	for (const [name, value] of Object.entries(object)) {
		if (isObject(value)) valuesIn(value, found);
		else if (value !== null && value !== undefined && value !== '' && !BOOKKEEPING.test(name))
			// Services trim texts, and a form ends lines with CRLF.
			getOrCreate(found, name, () => []).push(joinedText(value));
	}
	return found;
}

const joinedText = (value: unknown) =>
	(typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s/g, '');

type Likeness = (one: string, its: string) => boolean;
const isEqual: Likeness = (one, its) => one === its;
const CUT_MARK = /(\.{3}|…)$/;
const isBeginning: Likeness = (one, its) => one.startsWith(its.replace(CUT_MARK, ''));
/** Not every list that cuts texts off says so. None does within the first words. */
const mayBeBeginning: Likeness = (one, its) =>
	isEqual(one, its) || ((its.length >= 40 || CUT_MARK.test(its)) && isBeginning(one, its));

/** The spelling differs between the path and the type (docs/service.md, "Resources" and "Endpoints"). */
const isSoundEffect = (name = '') => /sound[-_]effect/.test(name);

export type Resemblance =
	/** It says that it was made from another text. */
	| 'none'
	/** Nothing that it says rules it out. */
	| 'possible'
	/** It repeats the text as far as the list shows it. */
	| 'cut'
	/** It repeats the full text, and whatever else it repeats is equal. */
	| 'sure';

export function resemblance(raw: JsonObject, request: CreationRequest): Resemblance {
	const { kind, path, body, qs, pathFields } = request;
	const onV3 = kind === 'speech-v1' && { voice_id: voiceOnV3(request) };
	const asked = valuesIn({ body, qs, pathFields, onV3 });
	const repeated = valuesIn(raw);
	const isCut = isTextCut(raw);
	/** Undefined if the task does not say. */
	const resembles = (name: string, isLike: Likeness) => {
		const [values = [], says] = [asked.get(name), repeated.get(name)];
		return says && values.some((one) => says.some((its) => isLike(one, its)));
	};
	const ofText = isCut === true ? isBeginning : isCut === false ? isEqual : mayBeBeginning;
	const same = (name: string) => {
		const ofOthers = CONTENT.includes(name) ? mayBeBeginning : isEqual;
		return resembles(name, name === 'text' ? ofText : ofOthers);
	};
	if (CONTENT.some((name) => asked.has(name) && same(name) === false)) return 'none';
	const said = asText(raw.type);
	const isType = said === undefined || isSoundEffect(said) === isSoundEffect(path);
	const isSame = isType && [...asked.keys()].every((name) => same(name) !== false);
	if (!isSame || !CONTENT.some((name) => same(name))) return 'possible';
	const isFull = CONTENT.every((name) => resembles(name, isEqual) !== false);
	return isFull && isCut !== true ? 'sure' : 'cut';
}
