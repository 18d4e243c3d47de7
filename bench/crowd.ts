/** Many executions that want more tasks at once than the account lets be active: how much of the limit is used, and what is refused. */
import type { TestContext } from '../test/n8n/harness/context';
import { items } from '../test/n8n/harness/execution';
import type { SavedWorkflow } from '../test/n8n/harness/rest';
import { jobsOf, leastTime } from './jobs';
import { check } from './stats';

export const executions = 30;
export const active = 20;
export const tasksEach = 5;
/** Of each execution, in s: the next one begins where the one before ended. */
const inTurn = [2, 5, 3];
export const tasksOf = (execution: number) =>
	Array.from(
		{ length: tasksEach },
		(_, index) => inTurn[(tasksEach * execution + index) % inTurn.length] ?? 0,
	);

/** The least in which an account does the tasks of so many executions, in s. */
export const leastOf = (count: number) =>
	leastTime(Array.from({ length: count }, (_, execution) => tasksOf(execution)).flat(), active);

/** All executions called at once; counted only if each task was created once and is done. */
export async function crowd(
	{ rest, service }: Pick<TestContext, 'rest' | 'service'>,
	{ id, name }: SavedWorkflow,
	{ count, over }: { count: number; over?: () => Promise<void> },
) {
	service.settings.activeTaskLimit = active;
	const startedAt = Date.now();
	const call = async (_: unknown, execution: number) => {
		const jobs = jobsOf(`${name} ${execution}`, tasksOf(execution));
		await rest.callWebhook(name, { jobs });
	};
	await Promise.all(Array.from({ length: count }, call));
	await over?.();
	const all = await rest.waitForExecutions(id, count);
	const ended = all.filter(({ status }) => status === 'success');
	const given = new Set<unknown>();
	/** From the end of an execution's last task to the end of the execution. */
	const delaysMs = ended.map((execution) => {
		const results = items(execution, 'Last').map(({ json }) => json);
		check(
			results.length === tasksEach && results.every(({ status }) => status === 'done'),
			'items',
		);
		for (const { task_id } of results) given.add(task_id);
		const ends = results.map(({ task_id }) => service.task(String(task_id)).finishedAt ?? NaN);
		return Date.parse(execution.stoppedAt ?? '') - Math.max(...ends);
	});
	check(given.size === ended.length * tasksEach, 'a task went out twice');
	const tasks = count * tasksEach;
	check(service.creations().length === tasks, `${service.creations().length} tasks`);
	check(service.maxActive <= active, 'more tasks than the account lets be active');
	const creations = service.requests.filter(({ route }) => route === 'create');
	const stopped = all.map(({ stoppedAt }) => Date.parse(stoppedAt ?? ''));
	return {
		seconds: (Math.max(...stopped) - startedAt) / 1000,
		/** For each task. */
		creations: creations.length / tasks,
		polls: service.polls().length / tasks,
		refused: creations.filter(({ status }) => status === 429).length,
		/** Executions that ended otherwise than well. */
		failed: all.length - ended.length,
		delaysMs,
	};
}
export type Crowd = Awaited<ReturnType<typeof crowd>>;
