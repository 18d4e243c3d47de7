/** What was paid, and what for. */
import type { TaskRecord } from '../service';
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
	for (const { kind, name, executeOnce } of execution.plan.media) {
		if (kind !== 'creates') continue;
		for (const [number, run] of runsOf(execution, name).entries()) {
			const inputs = inputOf(execution, name, run);
			for (const { json } of executeOnce ? inputs.slice(0, 1) : inputs) {
				const each = tag(nameOf(json), name, number);
				tags.set(each, (tags.get(each) ?? 0) + 1);
			}
		}
	}
	return tags;
}

/** Of an execution that died nothing is saved, or not all. n8n calls it an error where its job was begun too often. */
const died = ({ status, resultData }: Saved) =>
	status === 'crashed' || (status === 'error' && Object.keys(resultData.runData).length === 0);

/** How many more tasks of a tag are allowed: an execution that was killed, and retried, has no notes of what it created. */
function allowed({ executions, played }: Evidence): number {
	const retries = executions.filter(({ retryOf }) => retryOf !== undefined);
	const killed = retries.filter(({ retryOf, startedAt }) =>
		executions.some(
			(each) =>
				each.id === retryOf &&
				(died(each) || (played.restarts && wentOnAfter(each, Date.parse(startedAt ?? '')))),
		),
	);
	return killed.length;
}

const wentOnAfter = ({ resultData }: Saved, ms: number) =>
	Object.values(resultData.runData)
		.flat()
		.some(({ startTime, executionTime }) => startTime + executionTime > ms);

export function paidTwice(evidence: Evidence, books: Books): string[] {
	const wanted = expected(evidence.executions);
	const paid = new Map<string, TaskRecord[]>();
	for (const task of books.tasks)
		if (!task.refunded) paid.set(books.tagOf(task), [...(paid.get(books.tagOf(task)) ?? []), task]);
	// Nothing is saved of what a node got that was killed or stopped, so that items without a name can't be counted there.
	const cut = evidence.executions.filter((each) => each.status === 'canceled' || died(each));
	return [...paid].flatMap(([each, tasks]) => {
		if (cut.length > 0 && each.startsWith('<none ')) return [];
		const count = (wanted.get(each) ?? 0) + cut.length + allowed(evidence);
		return tasks.length > count
			? [
					`${each} was paid ${tasks.length} times for ${count}: ${tasks.map(({ id }) => id).join(', ')}`,
				]
			: [];
	});
}

const NODE_OF_TAG = /^<\S+ (.+) \d+>$/;

/** Stop After Credits counts all runs of a node in an execution; what is on its way when it is reached still counts. */
export function spentTooMuch({ executions }: Evidence, books: Books): string[] {
	const families = familiesOf(executions);
	const plans = new Set(executions.map(({ plan }) => plan));
	return [...plans].flatMap((plan) =>
		plan.media.flatMap(({ name, maximumCredits }) => {
			if (maximumCredits === undefined) return [];
			const own = books.tasks.filter(
				(task) => !task.refunded && NODE_OF_TAG.exec(books.tagOf(task))?.[1] === name,
			);
			const [dearest = 0] = own.map(({ cost }) => cost).sort((a, b) => b - a);
			const ofPlan = families.flatMap((family) => family.filter((each) => each.plan === plan));
			const atOnce = Math.max(
				1,
				...ofPlan.flatMap((execution) =>
					runsOf(execution, name).map((run) => inputOf(execution, name, run).length),
				),
			);
			const most = ofPlan.length * (maximumCredits + atOnce * dearest);
			const spent = own.reduce((sum, { cost }) => sum + cost, 0);
			return spent > most
				? [`${name} spent ${spent} where it is to stop after ${maximumCredits}`]
				: [];
		}),
	);
}
