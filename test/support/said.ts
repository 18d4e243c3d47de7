/** What an item says of itself, read as somebody who knows the contract would. */

type Json = Record<string, unknown>;

/** An item, as far as the rules read it. */
export interface AnItem {
	json: Json;
	/** n8n's link to the input. */
	pairedItem?: unknown;
}

/** README, "When something goes wrong". */
const OUTCOMES = [
	'invalid',
	'rejected',
	'unknown',
	'failed',
	'timed_out',
	'unreachable',
	'cancelled',
	'undelivered',
];
/** Outcomes whose tasks are paid for and can still be fetched. */
const USABLE = ['timed_out', 'unreachable', 'cancelled', 'undelivered'];

const isObject = (value: unknown): value is Json =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is ours of an item: fields beside `details` are n8n's, from the input. Details of another error came with the input, too. */
export function ownOf({ json }: AnItem): Json {
	const { details, error } = json;
	const isOwn = isObject(details) && OUTCOMES.includes(String(details.outcome));
	return isOwn && details.error === error ? details : json;
}

export interface Said {
	end: 'done' | 'failed' | 'timed out' | 'left' | 'nothing';
	outcome: string | undefined;
	taskIds: string[];
	/** Whether its task is paid for and can still be fetched. */
	isUsable: boolean;
}

export function saidOf(item: AnItem): Said {
	const own = ownOf(item);
	const { outcome, status, task_id: id, task_ids: ids, unfinished: late } = own;
	const listed: unknown[] = Array.isArray(ids) ? ids : [];
	const taskIds = [...new Set([id, ...listed])].filter((each) => typeof each === 'string');
	const named = OUTCOMES.includes(String(outcome)) ? String(outcome) : undefined;
	const isUsable = taskIds.length > 0 && (USABLE.includes(named ?? '') || late === true);
	const end =
		named !== undefined && item.json.error !== undefined
			? 'failed'
			: late === true
				? 'timed out'
				: taskIds.length === 0
					? 'nothing'
					: status === 'done' && Array.isArray(own.outputs)
						? 'done'
						: 'left';
	return { end, outcome: named, taskIds, isUsable };
}

/** n8n gives one such item out for a node with Always Output Data that has nothing else. */
export const isEmpty = ({ json }: AnItem): boolean => Object.keys(json).length === 0;

/** The input item that an item belongs to, by n8n's link. */
export function indexOf(link: unknown): number | undefined {
	if (typeof link === 'number') return link;
	if (Array.isArray(link)) return link.length === 1 ? indexOf(link[0]) : undefined;
	const { item } = (link ?? {}) as { item?: unknown };
	return typeof item === 'number' ? item : undefined;
}
