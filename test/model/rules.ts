/** The evidence of a history, from the book of the service and what n8n has kept; and what else has to hold of it. */
import type { INodeExecutionData } from 'n8n-workflow';
import { brokenRules as broken, type Evidence, type Excuse, type Run } from '../support/rules';
import { indexOf as linkOf, ownOf, saidOf } from '../support/said';
import { LONGEST_S } from './fields';
import type { History } from './history';
import { KEY, SECRET, TOKEN, type Execution, type N8n } from './n8n';
import type { Sent, Service, Task } from './service';

export interface World {
	history: History;
	n8n: N8n;
	service: Service;
	baseUrl: string;
}

/** What is wrong after a history, in words. Empty where all is well. */
export function brokenRules(world: World): string[] {
	return [...broken(evidenceOf(world)), ...untrue(world), ...mixed(world)];
}

function evidenceOf(world: World): Evidence {
	return {
		payments: world.service.sent.map((sent, index) => paymentOf(world, sent, index)),
		shown: shownBy(world),
		runs: world.n8n.executions.flatMap((execution) => runOf(world, execution)),
		budgets: budgetsOf(world),
	};
}

/** Whether it was killed or stopped. */
const isCut = (execution: Execution | undefined) =>
	['crashed', 'canceled'].includes(execution?.status ?? '');
const executionOf = (n8n: N8n, { executionId }: Sent) =>
	n8n.executions.find(({ id }) => id === executionId);
export const isFailed = (service: Service, task: Task, atMs?: number) =>
	service.stateOf(task, atMs) === 'error';
/** Which item a slot is for. */
export const indexOf = (slot: string) => Number(/^i(\d+)/.exec(slot)?.[1]);

/** What a sending paid for, and what can be read of it. */
function paymentOf(world: World, sent: Sent, index: number): Evidence['payments'][number] {
	const { history, n8n, service } = world;
	const { slot, task, fate, named, answeredMs, atMs } = sent;
	const execution = executionOf(n8n, sent) as Execution;
	const { earlier, endedMs, status, logs } = execution;
	const before = service.sent
		.slice(0, index)
		.filter((first) => first.slot === slot)
		.filter(({ executionId }) => [execution, ...earlier].some(({ id }) => id === executionId))
		.map((first) => excuseOf(world, first, sent));
	// Where n8n forgets, nobody can tell a later try what an earlier one has paid for: the log names it.
	const isForgotten = isForgetful(history) && atMs < execution.tryBeganMs;
	const isTold = fate === 'told' || isFound({ executions: [execution] }, sent);
	const isUnclear =
		fate === 'unclear' &&
		!isForgotten &&
		status !== 'crashed' &&
		!isFound(n8n, sent) &&
		!(history.node.sendsAgain && logs.some((line) => line.includes('be paid for twice')));
	return {
		wish: slot,
		asked: 1,
		before,
		isLate: endedMs !== undefined && atMs > endedMs,
		task: task && { id: task.id, isFailed: isFailed(service, task) },
		isKnown: (isTold || named) && answeredMs !== undefined && !isForgotten,
		log: isTold ? logs.join('\n') : undefined,
		// An item that a later try refuses does not name what an earlier one has paid for, but the log does.
		end: `${readable(execution)}${atMs < execution.tryBeganMs ? logs.join('\n') : ''}`,
		doubt: isUnclear ? (saysUnclear(execution, sent) ? 'said' : 'hidden') : undefined,
	};
}

export function excuseOf(
	{ history, n8n, service }: Omit<World, 'baseUrl'>,
	first: Sent,
	again: Sent,
): Excuse | undefined {
	const isRetry = first.executionId !== again.executionId;
	// With the end of that execution went its notes.
	const isGone = isRetry && isCut(executionOf(n8n, first));
	const failed = first.task !== undefined && isFailed(service, first.task, again.atMs);
	if (first.fate === 'free') return 'nothing was created';
	if (failed && (first.fate === 'told' || isFound(n8n, first))) return 'the task has failed';
	// Not for the tries of one execution.
	if (isRetry && requestIn(first) !== requestIn(again)) return 'another request';
	const isAgain = service.sent.some(
		(each) =>
			each.slot === again.slot &&
			each.executionId === again.executionId &&
			each.atMs < again.atMs &&
			isSentAgain(history, each),
	);
	if (isSentAgain(history, first) || isAgain || (history.node.sendsAgain && isGone))
		return 'the user allows it';
	return isGone ? excuseOfKilled({ history, n8n, service }, first, again) : undefined;
}

const requestIn = ({ text }: Sent) => text.replace(/"receive_url":"[^"]*"/, '');

/** The user has said that what is unclear may be paid for twice; so is an answer that the node could not note, as n8n was out of order. */
export const isSentAgain = (history: History, { fate, named }: Sent) =>
	history.node.sendsAgain &&
	!named &&
	(fate === 'unclear' || (fate === 'told' && isForgetful(history)));

function excuseOfKilled(
	{ n8n, service: { listed }, history: { node, list } }: Omit<World, 'baseUrl'>,
	first: Sent,
	again: Sent,
): Excuse | undefined {
	const seen = listed.filter(
		({ executionId, atMs, ids }) =>
			executionId === again.executionId && atMs <= again.atMs && ids !== undefined,
	);
	const { ids } = seen.at(-1) ?? {};
	if (ids !== undefined && first.task === undefined) return 'nothing was created';
	// A Retry reads until a list is 15 s behind.
	if (list.lag > 15 && ids?.includes(first.task?.id ?? '') === false) return 'listed too late';
	const isBetween = first.executionId !== n8n.executions[0]?.id && !node.savesProgress;
	return isBetween && node.before === 'fails' ? 'begun elsewhere' : undefined;
}

/** Whether the task of a creation without an answer was found in the list: then its ID is logged as any other. */
export function isFound({ executions }: Pick<N8n, 'executions'>, { task }: Sent): boolean {
	const line = `task ${task?.id} for item`;
	return (
		task !== undefined && executions.some(({ logs }) => logs.some((each) => each.includes(line)))
	);
}

/** All that somebody can read of an execution that is over. */
function readable(execution: Execution): string {
	const { error, output, logs, status, saved, betweenTries } = execution;
	if (status === 'success') return JSON.stringify(output);
	// Of a stopped run n8n keeps nothing, and nobody reads all of a log: its warnings have to say it.
	if (status === 'canceled' && !betweenTries)
		return saved ?? logs.filter((line) => line.startsWith('warn: ')).join('\n');
	if (status !== 'error') return logs.join('\n');
	const { message, description, context } = error as Error & Record<string, unknown>;
	return JSON.stringify([message, description, context]);
}

/** Whether what the node has noted can be lost to it. */
export const isForgetful = ({ breaks }: History) =>
	breaks.some(({ what }) => FORGETTING.includes(what));
const FORGETTING = ['context', 'getExecutionId', 'evaluateExpression'];

/** Whether a text lists the item of a slot. */
const namesItem = (text: string, slot: string) =>
	[...text.matchAll(/\bitems? ([\d, and]+)/g)].some(([, list = '']) =>
		(list.match(/\d+/g) ?? []).map(Number).includes(indexOf(slot)),
	);

/** Whether the end of an execution says of a sending that its task may exist. */
function saysUnclear(execution: Execution, { slot, atMs }: Sent): boolean {
	const index = indexOf(slot);
	const { status, output = [], error, logs } = execution;
	const named = (text: unknown) => namesItem(String(text), slot);
	// An item that a later try refuses does not say it, but the log does.
	const isLogged = (line: string) => line.includes('may exist') && named(line);
	if (atMs < execution.tryBeganMs && logs.some(isLogged)) return true;
	if (status === 'success')
		return output.some((item) => itemOf(item) === index && saidOf(item).outcome === 'unknown');
	if (status === 'error') {
		const { description, context } = error as { description?: unknown; context?: unknown };
		const own = (context as { itemIndex?: number } | undefined)?.itemIndex === index;
		return (own && /may exist|may have created/.test(String(description))) || named(description);
	}
	return logs.some(
		(line) => line.startsWith('warn: ') && line.includes('may exist') && named(line),
	);
}

const itemOf = ({ pairedItem }: INodeExecutionData) => linkOf(pairedItem);

/** The key goes to the service alone; the callback secret goes nowhere; n8n's token is in no item, error, log or context. */
export function shownBy({ n8n, baseUrl }: Pick<World, 'n8n' | 'baseUrl'>): Evidence['shown'] {
	return [
		...n8n.outgoing.map(({ url, text }) => ({
			where: `a request to ${url}`,
			text,
			secrets: url.startsWith(`${baseUrl}/`) ? [SECRET] : [KEY, SECRET],
		})),
		...n8n.executions.map(({ id, output, error, logs, kept, saved, ...left }) => ({
			where: `execution ${id}`,
			// n8n saves each of an error's own fields.
			text: JSON.stringify([
				...[output, { ...(error as object) }, String(error), logs, kept, saved],
				...[left.hints, left.metadata, left.flow, left.found, left.staticData],
			]),
			secrets: [KEY, SECRET, TOKEN],
		})),
		...n8n.answers.map((text) => ({ where: 'an answer', text, secrets: [KEY, SECRET, TOKEN] })),
	];
}

/** What an execution that went well has made of its items. */
function runOf({ history, service }: World, execution: Execution): Run[] {
	const { id, isBehind, status, input, output = [], endedMs } = execution;
	if (status !== 'success') return [];
	const sentFor = (taskId: string | undefined) =>
		service.tasks.find((task) => task.id === taskId)?.sent.slot ?? '';
	const inputs = input.map((item, index) => {
		const said = saidOf(item);
		const of = history.items[isBehind ? indexOf(sentFor(said.taskIds[0])) : index];
		const splits = of?.longText === 'parts' || of?.splitFiles === true;
		return { wish: `i${index}`, said, waits: isBehind || of?.wait !== 'no', splits };
	});
	const outs = output.map((item) => {
		const said = saidOf(item);
		const { taskIds } = said;
		const link = itemOf(item) ?? input.length;
		// n8n links what a woken node gives out by its position: further files stand behind all items.
		const index = link < input.length ? link : indexOf(sentFor(taskIds[0]));
		return { index, said, own: ownOf(item) };
	});
	const taskOf = (taskId: string) => {
		const task = service.tasks.find((each) => each.id === taskId);
		const status = task && service.stateOf(task, endedMs);
		return task && status && { wish: `i${indexOf(task.sent.slot)}`, status };
	};
	const kind = isBehind ? 'waits' : 'creates';
	const where = `execution ${id}`;
	return [{ where, kind, inputs, outs, taskOf }];
}

/** Stop After Credits holds within each execution, whatever becomes of the answers to creations. */
function budgetsOf({ n8n, service, history }: World): Evidence['budgets'] {
	const { maximumCredits } = history.node;
	if (maximumCredits < 0 || isForgetful(history)) return [];
	return n8n.executions.flatMap(({ id }) => {
		const mine = service.sent.filter(({ executionId }) => executionId === id);
		const before = mine[0]?.spentBefore ?? 0;
		return mine.map(({ slot, spentBefore }) => ({
			where: `execution ${id}, before ${slot} was sent,`,
			spent: spentBefore - before,
			most: maximumCredits - 1,
		}));
	});
}

/** What an item says of what was paid, and of what still runs. */
function untrue({ n8n, service, history }: World): string[] {
	return n8n.executions.flatMap((execution) => {
		const { output = [], status, woken, id, endedMs, isBehind, tryBeganMs } = execution;
		if (status !== 'success' || isBehind) return [];
		return output.flatMap((item) => {
			const own = ownOf(item);
			const { taskIds: ids, outcome, end } = saidOf(item);
			const index = itemOf(item) ?? -1;
			const { wait, timeout = 0, longText } = history.items[index] ?? {};
			const mine = service.tasks.filter((task) => ids.includes(task.id));
			const open = mine.filter((task) => service.stateOf(task, endedMs) === 'doing');
			// Still running, and all with time left. n8n's own deadline goes by the clock on the wall.
			const shouldSleep =
				wait === 'suspend' &&
				!history.events.some(({ kind }) => kind === 'clock set forward') &&
				open.length > 0 &&
				open.every(({ createdMs }) => (endedMs ?? 0) < createdMs + (timeout || LONGEST_S) * 1000);
			const paid = service.sent.some(
				({ executionId, slot, fate, task, atMs }) =>
					executionId === id &&
					indexOf(slot) === index &&
					atMs >= tryBeganMs &&
					fate !== 'free' &&
					(task === undefined || service.stateOf(task, endedMs) !== 'error'),
			);
			const isFree = outcome === 'rejected' || outcome === 'invalid';
			const isWrong =
				(woken && shouldSleep && end !== 'failed') ||
				own.task_error === '' ||
				// What is done has addresses, whether or not n8n can store what is made of them.
				(outcome === 'undelivered' &&
					longText === 'join' &&
					own.part === undefined &&
					own.outputs === undefined &&
					mine.length === ids.length &&
					mine.every(({ script }) => script.end === 'done')) ||
				(isFree && paid && own.part === undefined);
			return isWrong ? [`UNTRUE: execution ${id} says ${JSON.stringify(own)}`] : [];
		});
	});
}

/** The parts of a text are those of one text, though it differs in each try. */
function mixed({ n8n, service, history }: World): string[] {
	if (isForgetful(history)) return [];
	return n8n.executions.flatMap(({ id, isBehind, status, output = [] }) =>
		history.items.flatMap((_, index) => {
			if (isBehind || status !== 'success') return [];
			const ids = output.flatMap((item) => {
				const { outcome, taskIds } = saidOf(item);
				return itemOf(item) !== index || outcome !== undefined ? [] : taskIds;
			});
			const texts = service.tasks.flatMap((task) =>
				ids.includes(task.id) ? (/\(\d+\.\d+\)/.exec(task.sent.text) ?? []) : [],
			);
			return new Set(texts).size > 1
				? [`MIXED: item ${index} of execution ${id} has parts of ${texts.join()}`]
				: [];
		}),
	);
}
