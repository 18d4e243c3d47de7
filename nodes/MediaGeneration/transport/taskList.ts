/** Reads the account's list of tasks (docs/service.md, "More routes"). It is documented nowhere: names, paging and order are taken as they come. */
import type { Answer } from '../answers/reply';
import { attemptAsync, FailureError, type Failure } from '../base/outcomes';
import { asBoolean, asNumber, asText, isObject, uriEncoded, type JsonObject } from '../base/json';
import { MAX_PAGES } from '../base/bounds';
import { recordsOf, saysMore, totalOf } from '../answers/lists';
import { readBody, readReply, saysNoRoute, type Reading } from './reading';
import { unreadable } from '../answers/failures';
import { listedIn } from '../answers/task';

export interface ListedTask {
	taskId: string;
	/** Epoch ms by the service's clock. */
	createdAt: number | undefined;
	/** The same, if its zone is certain. */
	moment: number | undefined;
	raw: JsonObject;
}

interface TaskList {
	/** Each once, in the service's order. */
	tasks: ListedTask[];
	/** Whether nothing of interest was left out: a task that is not here is not in the list. */
	whole: boolean;
	/** The first page, for what its headers say. */
	answer: Answer;
}

interface TaskListQuery extends Omit<Reading, 'path'> {
	type?: string | undefined;
	limit: number;
	mostPages?: number;
	/** Tells whether a task counts. The default is all of them. */
	isWanted?: (task: ListedTask) => boolean;
	/** Tells whether a task is too old. A page that ends with such a task, the newest first, is the last that is read. */
	isOld?: (task: ListedTask, answer: Answer) => boolean;
}

const TASKS_PER_PAGE = 100;
const parsed = (text: string) => {
	const time = Date.parse(text);
	return Number.isNaN(time) ? undefined : time;
};

/** Returns epoch ms, from seconds or ms, also as a text, or from a text that names its zone. */
function momentOf(value: unknown): number | undefined {
	const number = asNumber(value);
	const text = asText(value)?.trim() ?? '';
	const hasZone = /(:\d\d.*[+-]\d\d(:?\d\d)?|Z|UTC|GMT)$/i.test(text);
	const ofText = hasZone ? parsed(text) : undefined;
	const time = number === undefined ? ofText : number < 1e11 ? number * 1_000 : number;
	// Before 2001 and after 2286 lie zero times, ages, compact dates and microseconds.
	return time !== undefined && time >= 1e12 && time < 1e13 ? time : undefined;
}

/** Like {@link momentOf}; a text that names no zone is read as UTC. */
export function timeOf(value: unknown): number | undefined {
	const text = asText(value)?.trim();
	const texts = asNumber(value) === undefined ? [`${text}Z`, `${text} UTC`, `${text}`] : [];
	return momentOf(value) ?? texts.map(parsed).find((time) => time !== undefined);
}

function taskIn(record: unknown): ListedTask[] {
	const listed = listedIn(record);
	if (listed === undefined) return [];
	const { created_at, createdAt = created_at, created = createdAt } = listed.raw;
	return [{ ...listed, createdAt: timeOf(created), moment: momentOf(created) }];
}

const NONE: Failure = {
	outcome: 'rejected',
	message: 'The service publishes no list of tasks',
	description:
		'It has no GET /v1/tasks, or not for this key. Look at its dashboard for the tasks, and use "Task: Get" or "Task: Wait" with their IDs.',
};

/** Undefined if the service says that there is none. Throws a FailureError if it could not be read. */
async function pageAt(query: TaskListQuery, number: number) {
	const { limit, type, isWanted } = query;
	const size = isWanted === undefined ? Math.min(limit, TASKS_PER_PAGE) : TASKS_PER_PAGE;
	const fields = { page: `${number}`, limit: `${size}`, ...(type === undefined ? {} : { type }) };
	const path = `/v1/tasks?${new URLSearchParams(fields).toString()}`;
	const reply = await attemptAsync(async () => await readReply({ ...query, path }));
	if (!reply.ok) {
		if (saysNoRoute(reply.failure)) return undefined;
		throw new FailureError(reply.failure);
	}
	const answer = reply.value;
	const { body } = answer;
	const records = recordsOf(body);
	if (records !== undefined) return { answer, records, more: saysMore(body), total: totalOf(body) };
	throw new FailureError(unreadable(path, 'the answer has an unexpected shape'));
}

/** Throws a FailureError if it can't be read, or if there is none. */
export async function readTaskList(query: TaskListQuery): Promise<TaskList> {
	const { limit, mostPages = MAX_PAGES, isWanted = () => true, isOld = () => false } = query;
	const tasks: ListedTask[] = [];
	const seen = new Set<string>();
	// Services repeat tasks where pages meet, and some ignore which page is asked for.
	const isNew = ({ taskId }: ListedTask) => !seen.has(taskId) && seen.add(taskId);
	let first: Answer | undefined;
	let [isReadable, total, whole] = [true, 0, false];
	/** Tells whether every task that the pages so far count was read. */
	const isAll = () => isReadable && seen.size >= total;
	for (let number = 1; number <= mostPages && !whole && tasks.length < limit; number += 1) {
		const page = await pageAt(query, number);
		// Some services have no page beyond the last one.
		whole = page === undefined && isAll();
		if (page === undefined) break;
		const { answer, records, more } = page;
		first ??= answer;
		total = Math.max(total, page.total);
		const readable = records.flatMap(taskIn);
		isReadable &&= readable.length === records.length;
		const listed = readable.filter(isNew);
		for (const task of listed) if (isWanted(task)) tasks.push(task);
		const last = listed.at(-1);
		const isPast = last !== undefined && isOld(last, answer) && isNewestFirst(listed);
		// A page that repeats another one is the end of what can be read, but not of the list.
		const isEnd = more === false || (more === undefined && records.length === 0);
		whole = isPast || (isEnd && isAll());
		if (isEnd || listed.length === 0) break;
	}
	if (first === undefined) throw new FailureError(NONE);
	return { tasks: tasks.slice(0, limit), whole: whole && tasks.length <= limit, answer: first };
}

/** Tells whether a page shows that order: equal times show none. */
function isNewestFirst(page: readonly ListedTask[]): boolean {
	const times = page.map(({ createdAt = Infinity }) => createdAt);
	const isSorted = times.every((time, at) => time <= (times[at - 1] ?? Infinity));
	return isSorted && times[0] !== times.at(-1);
}

/** Returns a task with its whole text, which its list has cut off, or unchanged if that can't be read. */
export async function withFullText(
	reading: Omit<Reading, 'path'>,
	task: ListedTask,
): Promise<ListedTask> {
	const path = `/v1/task/${uriEncoded(task.taskId)}/full`;
	const body = await readBody({ ...reading, path }).catch(() => undefined);
	const full = isObject(body) && isObject(body.data) ? body.data : body;
	if (!isObject(full) || typeof full.text !== 'string' || isTextCut(full)) return task;
	return { ...task, raw: { ...task.raw, text: full.text, text_truncated: false } };
}

/** Undefined if it is not said (docs/service.md, "Deletion, prices, lists"). */
export const isTextCut = ({ text_truncated: isCut }: JsonObject): boolean | undefined =>
	asBoolean(isCut);
