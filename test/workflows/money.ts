/** What was paid, and what for. */
import { BEFORE_ANSWER_MS } from '../service/creation';
import type { Budget, Excuse, Payment } from '../support/rules';
import { nameOf, tag } from './case';
import { type Evidence, familiesOf, inputOf, runsOf, type Saved } from './evidence';
import type { Books } from './judge';

/** How many tasks with each tag there were to be: one for each item that came to a node, in an execution and all its Retries together. */
function expected(executions: readonly Saved[]): Map<string, number> {
	const all = new Map<string, number>();
	for (const family of familiesOf(executions)) {
		const most = new Map<string, number>();
		for (const execution of family)
			for (const [each, count] of inputTags(execution))
				most.set(each, Math.max(most.get(each) ?? 0, count));
		for (const [each, count] of most) all.set(each, (all.get(each) ?? 0) + count);
	}
	return all;
}

function inputTags(execution: Saved): Map<string, number> {
	const tags = new Map<string, number>();
	const called = (execution.plan.script ?? []).flatMap((each) => (Array.isArray(each) ? each : []));
	for (const { Text: each } of called) tags.set(String(each), 1);
	for (const node of execution.plan.media.filter(({ kind }) => kind === 'creates'))
		for (const [number, run] of runsOf(execution, node.name).entries())
			for (const { json } of inputOf(execution, node, run)) {
				const each = tag(nameOf(json), node.name, number);
				tags.set(each, (tags.get(each) ?? 0) + 1);
			}
	return tags;
}

/** Of an execution that died nothing is saved, or not all. n8n calls it an error where its job was begun too often. */
const died = ({ status, resultData }: Saved) =>
	status === 'crashed' || (status === 'error' && Object.keys(resultData.runData).length === 0);

/** An execution that was killed, and retried, has no notes of what it created; one that went on was run twice. */
function repeated({ executions, played }: Evidence): Excuse[] {
	const retries = executions.filter(({ retryOf }) => retryOf != null);
	return retries.flatMap(({ retryOf, startedAt }) => {
		const first = executions.find(({ id }) => id === retryOf);
		if (first === undefined) return [];
		if (died(first)) return ['listed too late'];
		const wentOn = played.restarts && wentOnAfter(first, Date.parse(startedAt ?? ''));
		return wentOn ? ['run twice'] : [];
	});
}

const wentOnAfter = ({ resultData }: Saved, ms: number) =>
	Object.values(resultData.runData)
		.flat()
		.some(({ startTime, executionTime }) => startTime + executionTime > ms);

/** What n8n has read or logged within this time before it was killed may be lost with it. A creation's answer can come later than its task. */
const LOST_WITH_N8N_MS = 3_000;

export function paymentsOf(evidence: Evidence, books: Books): Payment[] {
	const { executions, log, played, killedAt } = evidence;
	const wanted = expected(executions);
	// Nothing is saved of what a node got that was killed or stopped, so that items without a name can't be counted there.
	const cut = executions.filter((each) => each.status === 'canceled' || died(each));
	const excuses = repeated(evidence);
	// What ran twice may have asked for what only its first run would have saved.
	const unsaved = Math.max(cut.length, Math.min(excuses.length, 1));
	const results = executions.map(({ resultData }) => JSON.stringify(resultData));
	const end = [...results, log].join('\n');
	const isLate = played.service.callbacks?.beforeCreationAnswer === true;
	const lostMs = LOST_WITH_N8N_MS + (isLate ? BEFORE_ANSWER_MS : 0);
	return books.tasks.map((task, number) => {
		const { id, createdAt, refunded } = task;
		const wish = books.tagOf(task);
		const before = books.tasks.slice(0, number).filter((each) => books.tagOf(each) === wish);
		const paid = before.filter((each) => !each.refunded);
		const isCounted = !refunded && !(cut.length > 0 && wish.startsWith('<none '));
		const isCutOff = killedAt.some((at) => createdAt > at - lostMs && createdAt <= at);
		return {
			wish,
			asked: isCounted ? Math.max((wanted.get(wish) ?? 0) + cut.length, unsaved) : Infinity,
			before: paid.map((_, index) => excuses[index]),
			task: { id, isFailed: refunded },
			// Where the creation had no clear answer, nobody may know its ID.
			isKnown: !isCutOff && !books.unclear.has(id),
			end,
		};
	});
}

const NODE_OF_TAG = /^<\S+ (.+) \d+>$/;

/** Stop After Credits counts all runs of a node in an execution; what is on its way when it is reached still counts. */
export function budgetsOf({ executions }: Evidence, books: Books): Budget[] {
	const plans = new Set(executions.map(({ plan }) => plan));
	return [...plans].flatMap((plan) =>
		plan.media.flatMap((node) => {
			const { name, maximumCredits } = node;
			if (maximumCredits === undefined) return [];
			const own = books.tasks.filter(
				(task) => !task.refunded && NODE_OF_TAG.exec(books.tagOf(task))?.[1] === name,
			);
			const costs = own.map(({ cost }) => cost);
			const ofPlan = executions.filter((each) => each.plan === plan);
			const atOnce = ofPlan.flatMap((execution) =>
				runsOf(execution, name).map((run) => inputOf(execution, node, run).length),
			);
			const slack = Math.max(1, ...atOnce) * Math.max(0, ...costs);
			return [
				{
					where: name,
					spent: costs.reduce((sum, cost) => sum + cost, 0),
					most: ofPlan.length * (maximumCredits + slack),
				},
			];
		}),
	);
}
