/** The account's list of tasks (docs/service.md, "More routes"). It is documented nowhere: names, paging and order are taken as they come. */
import type { Answer } from './client';
import { attemptLater, FailureError, type Failure } from './failures';
import { asNumber, asText, isObject, recordsIn, type JsonObject } from './json';
import { readReply, unreadable, type Reading } from './reading';

export interface ListedTask {
	taskId: string;
	/** Epoch ms by the service's clock. */
	createdAt: number | undefined;
	raw: JsonObject;
}

type TaskList =
	/** As the service ordered them, each once. `answer`: the first page, for what its headers say. */
	{ kind: 'list'; tasks: ListedTask[]; answer: Answer } | { kind: 'none'; failure: Failure };

interface TaskListQuery extends Omit<Reading, 'path'> {
	type?: string | undefined;
	limit: number;
	mostPages?: number;
	/** Whether a page shows that none of the further ones is of interest. */
	isOver?: (page: readonly ListedTask[], answer: Answer) => boolean;
}

const PAGE_SIZE = 100;
/** Against a list without end. */
const MOST_PAGES = 1_000;
/** In a row, after which no new task is expected: services repeat entries where pages meet, and some ignore `page`. */
const MAX_EMPTY_PAGES = 3;
/** With these the service answers, but has no list. */
export const NO_LIST = new Set([200, 400, 403, 404, 405, 410, 422, 501]);
const NAMES = ['data', 'tasks', 'items', 'results', 'list', 'records'];

/** Epoch ms, from ISO 8601 (UTC where it names no zone), or from seconds or ms, also as a text. */
export function timeOf(value: unknown): number | undefined {
	const number = asNumber(value);
	if (number !== undefined)
		return number > 0 ? (number < 1e11 ? number * 1_000 : number) : undefined;
	const text = asText(value)?.trim() ?? '';
	// Behind the name of a zone, a "Z" makes it no time; behind an offset it would hide that.
	const readings = /[+-]\d\d(:?\d\d)?$/.test(text) ? [text] : [`${text}Z`, text];
	return readings.map((each) => Date.parse(each)).find((time) => !Number.isNaN(time));
}

function taskIn(record: unknown): ListedTask[] {
	if (!isObject(record)) return [];
	const taskId = asText(record.id) ?? asText(record.task_id);
	if (taskId === undefined) return [];
	const { created_at: created, createdAt = created, created: began = createdAt } = record;
	return [{ taskId, createdAt: timeOf(began), raw: record }];
}

/** Whether the service says that more follows; undefined where it says nothing. */
function saysMore(body: unknown): boolean | undefined {
	if (!isObject(body)) return undefined;
	const places = [body, body.pagination, body.meta, body.data].filter(isObject);
	return places.map(({ has_more: more }) => more).find((more) => typeof more === 'boolean');
}

const NONE: Failure = {
	outcome: 'rejected',
	message: 'The service publishes no list of tasks',
	description:
		'It has no GET /v1/tasks, or not for this key. Look at its dashboard for the tasks, and use "Task: Get" or "Task: Wait" with their IDs.',
};

/** Throws a FailureError where it can't be read. */
export async function readTaskList(query: TaskListQuery): Promise<TaskList> {
	const { limit, type, mostPages = MOST_PAGES, isOver = () => false } = query;
	const tasks = new Map<string, ListedTask>();
	const size = Math.min(limit, PAGE_SIZE);
	let first: Answer | undefined;
	for (let page = 1, empty = 0; page <= mostPages && empty < MAX_EMPTY_PAGES; page += 1) {
		const fields = { page: `${page}`, limit: `${size}`, ...(type === undefined ? {} : { type }) };
		const path = `/v1/tasks?${new URLSearchParams(fields).toString()}`;
		const reply = await attemptLater(async () => await readReply({ ...query, path }));
		if (!reply.ok) {
			const { httpStatus = 0 } = reply.failure;
			if (!NO_LIST.has(httpStatus)) throw new FailureError(reply.failure);
			// Some services have no page beyond the last one.
			if (first !== undefined) break;
			return { kind: 'none', failure: { ...NONE, httpStatus } };
		}
		const { value: answer } = reply;
		const records = recordsIn(answer.body, NAMES);
		if (records === undefined) {
			if (first === undefined) break;
			throw new FailureError(unreadable(path, 'the answer has an unexpected shape'));
		}
		first ??= answer;
		const before = tasks.size;
		const found = records.flatMap(taskIn);
		for (const task of found) tasks.set(task.taskId, task);
		empty = tasks.size === before ? empty + 1 : 0;
		// Where nothing says that more follows, a page without a new task is the last one.
		const more = saysMore(answer.body) ?? empty === 0;
		if (!more || tasks.size >= limit || isOver(found, answer)) break;
	}
	if (first === undefined) return { kind: 'none', failure: NONE };
	return { kind: 'list', tasks: [...tasks.values()].slice(0, limit), answer: first };
}
