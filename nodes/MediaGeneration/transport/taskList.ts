/** Reads the account's list of tasks (docs/service.md, "More routes"). It is documented nowhere: names, paging and order are taken as they come. */
import type { Answer } from '../answers/reply';
import type { Failure } from '../base/outcomes';
import { asBoolean, isObject, type JsonObject } from '../base/json';
import { idProblem, uriEncoded } from '../base/url';
import { momentOf, timeOf } from '../answers/moment';
import { listedIn } from '../answers/task';
import { readPages, type List, type ListQuery, type ListResult } from './pages';
import { readBody, saysNoRoute, type Reading } from './reading';

export interface ListedTask {
	taskId: string;
	/** Epoch ms by the service's clock. */
	createdAt: number | undefined;
	/** The same, if its zone is certain. */
	moment: number | undefined;
	raw: JsonObject;
}

interface TaskListQuery extends Omit<ListQuery<ListedTask>, 'from' | 'isPast'> {
	type?: string | undefined;
	/** Returns whether a task is too old. A page that ends with such a task, the newest first, is the last that is read. */
	isOld?: (task: ListedTask, answer: Answer) => boolean;
}

const TASKS_PER_PAGE = 100;

function taskIn(record: JsonObject): ListedTask | undefined {
	const listed = listedIn(record);
	if (listed === undefined || idProblem(listed.taskId) !== undefined) return undefined;
	const { created_at, createdAt = created_at, created = createdAt } = listed.raw;
	return { ...listed, createdAt: timeOf(created), moment: momentOf(created) };
}

const NONE: Failure = {
	outcome: 'rejected',
	message: 'The service publishes no list of tasks',
	description:
		'It has no GET /v1/tasks, or not for this key. Look at its dashboard for the tasks, and use "Task: Get" or "Task: Wait" with their IDs.',
};

/** Throws a FailureError if it can't be read, or if there is none. */
export async function readTaskList(query: TaskListQuery): Promise<ListResult<ListedTask>> {
	const { limit, type, isWanted, isOld = () => false } = query;
	const size = isWanted === undefined ? Math.min(limit, TASKS_PER_PAGE) : TASKS_PER_PAGE;
	const pathAt = (page: number) => {
		const fields = { page: `${page}`, limit: `${size}`, ...(type === undefined ? {} : { type }) };
		return `/v1/tasks?${new URLSearchParams(fields).toString()}`;
	};
	const list: List<ListedTask> = {
		routes: [{ path: pathAt, entryOf: taskIn, hasMore: (more) => more !== false }],
		idOf: ({ taskId }) => taskId,
		isNone: saysNoRoute,
		none: NONE,
	};
	const isPast = (page: readonly ListedTask[], answer: Answer) => {
		const last = page.at(-1);
		return last !== undefined && isOld(last, answer) && isNewestFirst(page);
	};
	return await readPages(list, { ...query, isPast });
}

/** Returns whether a page shows that order: equal times show none. */
function isNewestFirst(page: readonly ListedTask[]): boolean {
	const times = page.map(({ createdAt = Infinity }) => createdAt);
	const isSorted = times.every((time, at) => time <= (times[at - 1] ?? Infinity));
	return isSorted && times[0] !== times.at(-1);
}

/** Returns a task with its full text, which its list has cut off, or unchanged if that can't be read. */
export async function withFullText(
	reading: Omit<Reading, 'path'>,
	task: ListedTask,
): Promise<ListedTask> {
	const path = `/v1/task/${uriEncoded(task.taskId)}/full`;
	const body = await readBody({ ...reading, path, isTask: true }).catch(() => undefined);
	const full = isObject(body) && isObject(body.data) ? body.data : body;
	if (!isObject(full) || typeof full.text !== 'string' || isTextCut(full)) return task;
	return { ...task, raw: { ...task.raw, text: full.text, text_truncated: false } };
}

/** Undefined if it is not said (docs/service.md, "Deletion, prices, lists"). */
export const isTextCut = ({ text_truncated: isCut }: JsonObject): boolean | undefined =>
	asBoolean(isCut);
