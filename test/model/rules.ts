/** The three rules of the product, and what must hold besides: checked after each history, against the book of the service. */
import type { INodeExecutionData } from 'n8n-workflow';
import type { History } from './history';
import { KEY, SECRET, TOKEN, type Execution, type N8n } from './n8n';
import { ELSEWHERE, type Sent, type Service, type Task } from './service';

export interface World {
	history: History;
	n8n: N8n;
	service: Service;
	baseUrl: string;
}

/** What is wrong after a history, in words. Empty where all is well. */
export function brokenRules(world: World): string[] {
	return [
		...paidTwice(world),
		...lost(world),
		...keyElsewhere(world),
		...untrue(world),
		...sentAfterTheEnd(world),
		...foreign(world),
		...partsVanish(world),
		...overMaximum(world),
		...mixed(world),
	];
}

/** A sending is followed by another one only where it created nothing, or its task failed by the service's own word. */
function paidTwice(world: World): string[] {
	const { history, n8n, service } = world;
	return service.sent.flatMap((again, index) => {
		const { earlier = [] } = executionOf(n8n, again) ?? {};
		const before = service.sent.slice(0, index).filter(({ slot }) => slot === again.slot);
		return before.flatMap((first) => {
			const isRetry = earlier.some(({ id }) => id === first.executionId);
			if (!isRetry && first.executionId !== again.executionId) return [];
			const isGone = isRetry && isUnnoted(executionOf(n8n, first));
			const failed = first.task !== undefined && isFailed(service, first.task, again.atMs);
			const isAllowed =
				first.fate === 'free' ||
				(failed && (first.fate === 'told' || isFound(n8n, first))) ||
				// Another text is another request, for a Retry; not for the tries of one execution.
				(isRetry && requestIn(first) !== requestIn(again)) ||
				isSentAgain(history, first, isGone) ||
				(isGone && isUnlisted(world, { first, again }));
			return isAllowed
				? []
				: [`PAID TWICE: ${again.slot} was sent again, after a sending that was "${first.fate}"`];
		});
	});
}

/** n8n was killed, and with it went the notes of that execution. */
const isUnnoted = (execution: Execution | undefined) => execution?.status === 'crashed';

/** The user has said that what is unclear may be paid for twice. */
const isSentAgain = ({ node }: History, { fate, named }: Sent, isGone: boolean) =>
	node.sendsAgain && (isGone || (fate === 'unclear' && !named));

/** Whether a Retry did not see the task in a list that had a minute to show it. */
function isUnlisted(
	{ n8n, service: { listed }, history: { node } }: World,
	{ first, again }: Record<'first' | 'again', Sent>,
): boolean {
	const { beganMs = 0 } = executionOf(n8n, again) ?? {};
	const seen = listed.filter(
		({ executionId, atMs, said }) =>
			executionId === again.executionId && atMs <= again.atMs && said === 'list',
	);
	const { ids = [], atMs = 0 } = seen.at(-1) ?? {};
	const isGone = seen.length > 0 && !ids.includes(first.task?.id ?? '');
	// Where a Retry without saved progress is repeated that began with a node before
	// this one, n8n tells nothing of it.
	const isBetween = first.executionId !== n8n.executions[0]?.id && !node.savesProgress;
	return (isGone && atMs >= beganMs + 60_000) || (isBetween && node.before === 'fails');
}

const executionOf = (n8n: N8n, { executionId }: Sent) =>
	n8n.executions.find(({ id }) => id === executionId);
export const isFailed = (service: Service, task: Task, atMs?: number) =>
	service.stateOf(task, atMs) === 'error';
/** Which item a slot is for. */
export const indexOf = (slot: string) => Number(/^i(\d+)/.exec(slot)?.[1]);

/** What an execution delivers is of the item that asked for it. "Task: Wait" behind it has items of its own. */
function foreign({ n8n, service }: World): string[] {
	return n8n.executions.flatMap(({ id, earlier, output = [], status, woken, logs }) => {
		const taken = logs.filter((line) => line.includes(`task ${ELSEWHERE} for item`));
		if (taken.length > 0) return taken.map((line) => `NOT ASKED FOR: execution ${id}: ${line}`);
		const mine = new Set([id, ...earlier.map((each) => each.id)]);
		if (status !== 'success') return [];
		return output.flatMap((item) =>
			idsIn(item.json).flatMap((taskId) => {
				const { sent } = service.tasks.find((task) => task.id === taskId) ?? {};
				// n8n links what a woken node gives out by its position, whatever it belongs to.
				const isOwn =
					sent === undefined
						? !taskId.startsWith('other-')
						: woken || !mine.has(sent.executionId) || indexOf(sent.slot) === itemOf(item);
				return isOwn ? [] : [`NOT ASKED FOR: item ${itemOf(item)} has task ${taskId}`];
			}),
		);
	});
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

/** No ID of a task that is paid for goes unmentioned, and of what is unclear it is said that it is. */
function lost(world: World): string[] {
	const { n8n, service, history } = world;
	// Then nobody can tell a later try what an earlier one has paid for: the log names it.
	const forgets = isForgetful(history);
	return n8n.executions.flatMap((execution) => {
		const mine = service.sent.filter(
			({ executionId, atMs }) =>
				executionId === execution.id && (!forgets || atMs >= execution.tryBeganMs),
		);
		const { logs, status } = execution;
		const text = readable(execution);
		const told = mine.flatMap((sent) => {
			const { task, fate, answeredMs } = sent;
			const isTold = fate === 'told' || isFound({ executions: [execution] }, sent);
			return isTold && task !== undefined && answeredMs !== undefined ? [task] : [];
		});
		const unlogged = told.filter(({ id }) => !logs.some((line) => line.includes(id)));
		// An unclear answer that names a task all the same.
		const named = mine.flatMap(({ task, named, answeredMs }) =>
			named && task !== undefined && answeredMs !== undefined ? [task] : [],
		);
		const unsaid = [...told, ...named].filter(
			(task) => !isFailed(service, task) && !text.includes(task.id),
		);
		const unclear = mine.filter(
			(sent) =>
				sent.fate === 'unclear' &&
				status !== 'crashed' &&
				!isFound(n8n, sent) &&
				!saysUnclear(execution, sent) &&
				!(history.node.sendsAgain && logs.some((line) => line.includes('be paid for twice'))),
		);
		return [
			...unlogged.map(
				({ id }) => `LOST: task ${id} is not in the log of execution ${execution.id}`,
			),
			...unsaid.map(
				({ id }) => `LOST: the end of execution ${execution.id} does not name task ${id}`,
			),
			...unclear.map(
				({ slot }) => `LOST: the end of execution ${execution.id} hides that ${slot} is unclear`,
			),
		];
	});
}

/** Whether what the node has noted can be lost to it. */
export const isForgetful = ({ breaks, damage }: History) =>
	damage.length > 0 || breaks.some(({ what }) => FORGETTING.includes(what));
const FORGETTING = ['context', 'execution ID', 'expressions'];

/** Whether a text lists the item of a slot. */
const namesItem = (text: string, slot: string) =>
	text.includes(`item ${indexOf(slot)} `) ||
	[...text.matchAll(/the ([\w, ]+) item/g)].some(([, list = '']) =>
		list
			.split(/\D+/)
			.map(Number)
			.includes(indexOf(slot) + 1),
	);

/** Whether the end of an execution says of a sending that its task may exist. */
function saysUnclear(execution: Execution, { slot }: Sent): boolean {
	const index = indexOf(slot);
	const { status, output = [], error, logs } = execution;
	const named = (text: unknown) => namesItem(String(text), slot);
	if (status === 'success')
		return output.some((item) => itemOf(item) === index && fieldsIn(item).outcome === 'unknown');
	if (status === 'error') {
		const { description, context } = error as { description?: unknown; context?: unknown };
		const own = (context as { itemIndex?: number } | undefined)?.itemIndex === index;
		return (own && /may exist|may have created/.test(String(description))) || named(description);
	}
	return logs.some(
		(line) => line.startsWith('warn: ') && line.includes('may exist') && named(line),
	);
}

const itemOf = ({ pairedItem }: INodeExecutionData) =>
	typeof pairedItem === 'object' && 'item' in pairedItem ? pairedItem.item : undefined;

/** Where failures have a branch of their own, a sleeping item has its fields in `details`. */
function fieldsIn({ json }: INodeExecutionData): Record<string, unknown> {
	return typeof json.details === 'object' && json.details !== null
		? { ...json.details, error: json.error }
		: json;
}

const idsIn = ({ task_ids, task_id }: Record<string, unknown>) =>
	[task_ids ?? [], task_id ?? []].flat().map(String);

/** The key goes to the service and nowhere else; the callback secret goes nowhere; n8n's token is in no item, error, log or context. */
export function keyElsewhere({ n8n, baseUrl }: Pick<World, 'n8n' | 'baseUrl'>): string[] {
	const sent = n8n.outgoing.filter(
		({ url, text }) => text.includes(KEY) && !url.startsWith(`${baseUrl}/`),
	);
	const secret = n8n.outgoing.filter(({ text }) => text.includes(SECRET));
	const shown = n8n.executions.flatMap(({ id, output, error, logs, context }) => {
		const text = JSON.stringify([output, error, String(error), logs, context]);
		return [KEY, SECRET, TOKEN].some((each) => text.includes(each))
			? [`KEY: execution ${id} shows it, or a secret`]
			: [];
	});
	const answered = n8n.answers.filter((text) => text.includes(KEY) || text.includes(SECRET));
	return [
		...sent.map(({ url }) => `KEY: it went to ${url}`),
		...secret.map(({ url }) => `KEY: the callback secret went to ${url}`),
		...shown,
		...answered.map((text) => `KEY: it was answered: ${text}`),
	];
}

/** The timeout of a sleeping execution, where none is set. */
const A_DAY_S = 86_400;

/** Nothing is said of a task that the service does not say itself. */
function untrue({ n8n, service, history }: World): string[] {
	return n8n.executions.flatMap((execution) => {
		const { output = [], status, woken, id, endedMs, isBehind, tryBeganMs } = execution;
		if (status !== 'success' || isBehind) return [];
		const missing = history.items.flatMap((_, index) =>
			output.some((item) => itemOf(item) === index)
				? []
				: [`UNTRUE: execution ${id} has no item for item ${index}`],
		);
		const lies = output.flatMap((item) => {
			const fields = fieldsIn(item);
			const ids = idsIn(fields);
			const states = service.tasks
				.filter((task) => ids.includes(task.id))
				.map((task) => service.stateOf(task, endedMs));
			const said = JSON.stringify(fields);
			const index = itemOf(item) ?? -1;
			const { wait, timeout = 0 } = history.items[index] ?? {};
			const open = service.tasks.filter(
				(task) => ids.includes(task.id) && service.stateOf(task, endedMs) === 'doing',
			);
			// Still running, and all with time left: the execution should have slept on. n8n's own deadline goes by the clock on the wall.
			const sleptOn =
				wait === 'suspend' &&
				!history.events.some(({ kind }) => kind === 'clock set forward') &&
				open.length > 0 &&
				open.every(({ createdMs }) => (endedMs ?? 0) < createdMs + (timeout || A_DAY_S) * 1000);
			const paid = service.sent.some(
				({ executionId, slot, fate, task, atMs }) =>
					executionId === id &&
					indexOf(slot) === index &&
					(!isForgetful(history) || atMs >= tryBeganMs) &&
					fate !== 'free' &&
					(task === undefined || service.stateOf(task, endedMs) !== 'error'),
			);
			const free = fields.outcome === 'rejected' || fields.outcome === 'invalid';
			const wrong =
				(fields.outcome === 'failed' && !states.includes('error') && !seemsFailed(history)) ||
				(fields.outcome === undefined &&
					fields.status === 'done' &&
					fields.unfinished !== true &&
					states.some((state) => state !== 'done')) ||
				(woken && sleptOn && fields.outcome === undefined) ||
				// Only a stop cancels, and a stopped execution has no output.
				fields.outcome === 'cancelled' ||
				// n8n would repeat the node, and what comes behind it take the item for a failed one.
				(fields.outcome === undefined && fields.error !== undefined) ||
				fields.task_error === '' ||
				// What is done has addresses, whether or not n8n can store what is made of them.
				(fields.outcome === 'undelivered' &&
					history.items[index]?.longText === 'join' &&
					fields.part === undefined &&
					fields.outputs === undefined &&
					isWithFiles(service, ids)) ||
				(free && paid && fields.part === undefined);
			return wrong ? [`UNTRUE: execution ${id} says ${said}`] : [];
		});
		return [...missing, ...lies];
	});
}

/** A failure that an answer states unclearly counts once a 404 follows it. */
const seemsFailed = ({ looks, tasks }: History) =>
	looks.some(({ kind }) => kind === 'any JSON') &&
	(looks.some(({ kind }) => kind === 'HTTP 404') || tasks.some(({ hiddenFor }) => hiddenFor > 0));

/** Whether all these tasks are done and have files. */
const isWithFiles = ({ tasks }: Service, ids: readonly string[]) =>
	ids.every((id) => tasks.find((task) => task.id === id)?.script.end === 'done');

/** A failure names the other parts, too. */
const idsNamedBy = ({ outcome, task_id, task_ids }: Record<string, unknown>) =>
	[task_id, outcome === undefined ? [] : task_ids].flat();

/** What "Task: Wait" shows as done has all the tasks that its item came with. */
function partsVanish({ n8n, service, history }: World): string[] {
	return n8n.executions.flatMap(({ id, isBehind, status, output = [], input }) => {
		if (!isBehind || status !== 'success') return [];
		return output.flatMap((item) => {
			const before = input[itemOf(item) ?? -1];
			const fields = fieldsIn(item);
			if (before === undefined || fields.status !== 'done' || fields.outcome !== undefined)
				return [];
			const wanted = [fieldsIn(before).task_ids ?? []].flat().map(String);
			const shown = idsIn(fields);
			const all = output.flatMap((each) =>
				itemOf(each) === itemOf(item) ? idsNamedBy(fieldsIn(each)) : [],
			);
			const { sent } = service.tasks.find((task) => task.id === wanted[0]) ?? {};
			const joins = history.items[indexOf(sent?.slot ?? '')]?.longText !== 'parts';
			return wanted.every((taskId) => (joins ? shown : all).includes(taskId))
				? []
				: [`LOST: execution ${id} shows ${JSON.stringify(fields)} as done, of ${wanted.join()}`];
		});
	});
}

/** Stop After Credits holds within each execution, whatever becomes of the answers to creations. */
function overMaximum({ n8n, service, history }: World): string[] {
	const { maximumCredits } = history.node;
	if (maximumCredits < 0 || isForgetful(history)) return [];
	return n8n.executions.flatMap(({ id }) => {
		const mine = service.sent.filter(({ executionId }) => executionId === id);
		const before = mine[0]?.spentBefore ?? 0;
		return mine.flatMap(({ slot, spentBefore }) =>
			spentBefore - before < maximumCredits
				? []
				: [`CREDITS: ${slot} was sent after ${spentBefore - before} were spent`],
		);
	});
}

/** What is over sends nothing more: a creation would be paid for by nobody's wish. */
function sentAfterTheEnd({ n8n, service }: World): string[] {
	return service.sent.flatMap((sent) => {
		const { endedMs } = executionOf(n8n, sent) ?? {};
		return endedMs !== undefined && sent.atMs > endedMs
			? [`PAID TWICE: ${sent.slot} was sent after the end of execution ${sent.executionId}`]
			: [];
	});
}

const requestIn = ({ text }: Sent) => text.replace(/"receive_url":"[^"]*"/, '');

/** The parts of a text are those of one text, though it differs in each try. */
function mixed({ n8n, service, history }: World): string[] {
	if (isForgetful(history)) return [];
	return n8n.executions.flatMap(({ id, isBehind, status, output = [] }) =>
		history.items.flatMap((_, index) => {
			if (isBehind || status !== 'success') return [];
			const ids = output.flatMap((item) => {
				const { outcome, task_ids, task_id } = fieldsIn(item);
				return itemOf(item) !== index || outcome !== undefined ? [] : [task_ids ?? task_id].flat();
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
