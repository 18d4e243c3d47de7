/**
 * The three rules of the product: nothing is paid for twice, no task that was paid for is lost, the key goes to the service alone. The
 * model, the model of an agent, random workflows and chaos fill the same evidence, each from its own sources.
 */
import type { Said } from './said';

/**
 * Why what was sent may be sent again: the one list. With the words of docs/troubleshooting.md, "What can still be paid twice", where it
 * can pay for the same again.
 */
export const EXCUSES = {
	'nothing was created': undefined,
	'the task has failed': undefined,
	'another request': undefined,
	'the user allows it': '**Resend If Answer Was Lost**',
	'begun elsewhere': '**n8n is killed during a Retry that began with another node, and its',
	'listed too late': 'and the service lists the task more than 15 s',
	'run twice': '**n8n that runs one execution twice**',
} as const;
export type Excuse = keyof typeof EXCUSES;

/** A creation that reached the service, as its books have it. */
export interface Payment {
	/** What it was made for. */
	wish: string;
	/** How often that had been asked for by then. */
	asked: number;
	/** Of each one before it for the same wish: why it may be repeated, if it may. */
	before: Array<Excuse | undefined>;
	/** Whether the execution had ended that sent it. */
	isLate?: boolean;
	task: { id: string; isFailed: boolean } | undefined;
	/** Whether its ID came to n8n: as the answer, in the list, or in an answer that leaves it unclear. */
	isKnown: boolean;
	/** What somebody can read afterwards; where it is undefined, nothing has to be there. */
	log?: string | undefined;
	end?: string | undefined;
	/** Set where its answer told nobody whether it was created: whether that is said. */
	doubt?: 'said' | 'hidden' | undefined;
}

/** A text that left n8n or was kept by it, and what must not be in it. */
export interface Shown {
	where: string;
	text: string;
	secrets: readonly string[];
}

export interface Out {
	/** Of the input item that it belongs to. */
	index: number | undefined;
	said: Said;
	/** Without what n8n has added. */
	own: Record<string, unknown>;
}

/** A run of one of our nodes that went well: what came in, and what went out. */
export interface Run {
	where: string;
	kind: 'creates' | 'waits';
	/** What each item wants, whether it waits for that, and whether several items may come of it. */
	inputs: Array<{ wish: string; said: Said; waits: boolean; splits: boolean }>;
	outs: Out[];
	/** The service's books, as they were then. */
	taskOf: (id: string) => { wish: string; status: string } | undefined;
	/** Whether its execution was stopped: in queue mode n8n saves what such a run gave out. */
	isStopped?: boolean;
}

/** What Stop After Credits allows, and what was spent. */
export interface Budget {
	where: string;
	spent: number;
	most: number;
}

export interface Evidence {
	payments: Payment[];
	shown: Shown[];
	runs: Run[];
	budgets: Budget[];
}

/** What is wrong, in words. Empty where all is well. */
export function brokenRules({ payments, shown, runs, budgets }: Evidence): string[] {
	return [
		...payments.flatMap(paidTwice),
		...payments.flatMap(lost),
		...shown.flatMap(keyElsewhere),
		...runs.flatMap((run) =>
			(run.kind === 'creates' ? ofCreating(run) : ofWaiting(run)).map(
				(words) => `${run.where}: ${words}`,
			),
		),
		...budgets
			.filter(({ spent, most }) => spent > most)
			.map(({ where, spent, most }) => `CREDITS: ${where} spent ${spent} of ${most}`),
	];
}

function paidTwice({ wish, asked, before, task, isLate = false }: Payment): string[] {
	const count = before.filter((excuse) => excuse === undefined).length + 1;
	return [
		...(isLate ? [`PAID TWICE: ${wish} was sent after the end of its execution`] : []),
		...(count > asked
			? [`PAID TWICE: ${wish} was paid ${count} times for ${asked}, at last as task ${task?.id}`]
			: []),
	];
}

function lost({ wish, task, isKnown, log, end, doubt }: Payment): string[] {
	const missing = (text: string | undefined) =>
		isKnown && task !== undefined && text !== undefined && !text.includes(task.id);
	return [
		...(missing(log) ? [`LOST: no log names task ${task?.id} of ${wish}`] : []),
		...(task?.isFailed !== true && missing(end)
			? [`LOST: task ${task?.id} of ${wish} is named nowhere`]
			: []),
		...(doubt === 'hidden' ? [`LOST: nothing says that ${wish} is unclear`] : []),
	];
}

const keyElsewhere = ({ where, text, secrets }: Shown): string[] =>
	secrets
		.filter((secret) => text.includes(secret))
		.map((secret) => `KEY: ${where} holds ${secret.slice(0, 1_000)}`);

const short = (value: unknown) => JSON.stringify(value).slice(0, 400);

/** Each item of a creating node comes out of it as the result of its own task, or as a failure. */
function ofCreating(run: Run): string[] {
	const { inputs, outs } = run;
	const counts = inputs.map(() => 0);
	const owners = new Map<string, number>();
	const wrong = outs.flatMap((out) => {
		const { index = -1, said, own } = out;
		const input = inputs[index];
		if (input === undefined) return [`an item belongs to no input: ${short(own)}`];
		counts[index] = (counts[index] ?? 0) + 1;
		const otherIds = said.taskIds.flatMap((id) => {
			const task = run.taskOf(id);
			const owner = owners.get(id) ?? index;
			owners.set(id, index);
			return [
				...(task === undefined ? [`item ${index} names a task that nobody made: ${id}`] : []),
				...(task !== undefined && task.wish !== input.wish
					? [`item ${index} (${input.wish}) has the task of ${task.wish}: ${short(own)}`]
					: []),
				...(owner === index ? [] : [`items ${index} and ${owner} have one task: ${id}`]),
			];
		});
		return [...unfinished(out, input.waits), ...otherIds, ...untrue(run, out)];
	});
	const uncounted = counts.flatMap((count, index) =>
		count === 0 || (count > 1 && inputs[index]?.splits !== true)
			? [`item ${index} came out ${count} times`]
			: [],
	);
	return [...wrong, ...uncounted];
}

/** Each item of a "Task: Wait" comes out as the tasks that it names, all of them, or as the failure that it is. */
function ofWaiting(run: Run): string[] {
	const { inputs, outs } = run;
	return outs.flatMap((out) => {
		const { index = -1, said, own } = out;
		const came = inputs[index];
		if (came === undefined) return [`an item belongs to no input: ${short(own)}`];
		const { outcome, isUsable, taskIds } = came.said;
		// What is unclear can name its task all the same.
		const isFetched = isUsable || (outcome === 'unknown' && taskIds.length > 0);
		const isOver = outcome !== undefined && !isFetched;
		// "Task: Wait" can fail itself, too, where a field of it can't be read.
		const stayed = said.end === 'failed' && [outcome, 'invalid'].includes(said.outcome);
		const otherIds = said.taskIds.filter((id) => !taskIds.includes(id));
		const beside = came.splits ? outs.filter((each) => each.index === index) : [out];
		const shown = beside.flatMap(({ said: { taskIds: ids } }) => ids);
		const vanished = said.end === 'done' ? taskIds.filter((id) => !shown.includes(id)) : [];
		return [
			...unfinished(out, true),
			...untrue(run, out),
			...(isOver && !stayed
				? [`item ${index} came as "${outcome}" and left as "${said.outcome ?? said.end}"`]
				: []),
			...(otherIds.length > 0 ? [`item ${index} left with the task ${otherIds.join(', ')}`] : []),
			...(vanished.length > 0 ? [`item ${index} is done without ${vanished.join(', ')}`] : []),
		];
	});
}

const unfinished = ({ index, said: { end }, own }: Out, waits: boolean): string[] =>
	end === 'nothing' || (end === 'left' && waits)
		? [`item ${index} left as it came, or unfinished: ${short(own)}`]
		: [];

/** Nothing is said of a task that the service does not say itself. */
function untrue({ kind, taskOf, isStopped }: Run, { said, own }: Out): string[] {
	const states = said.taskIds.map((id) => taskOf(id)?.status);
	const { end, outcome } = said;
	const isWrong =
		(end === 'done' && states.some((state) => state !== 'done')) ||
		(kind === 'creates' && outcome === 'failed' && !states.includes('error')) ||
		// Only a stop cancels.
		(kind === 'creates' && outcome === 'cancelled' && !isStopped) ||
		// n8n would repeat the node, and what comes behind it take the item for a failed one.
		(end !== 'failed' && own.error !== undefined);
	return isWrong ? [`it is not true that ${short(own)}`] : [];
}
