/** Jobs sent to a workflow of a real n8n, and what came of them: counted before any time is believed. */
import type { TestContext } from '../test/n8n/harness/context';
import { items } from '../test/n8n/harness/execution';
import type { SavedWorkflow } from '../test/n8n/harness/rest';
import { waitUntil } from '../test/n8n/harness/wait';
import type { Job } from '../test/n8n/asleep/workbench';
import { check, mean } from './stats';

/** The least that is possible, in the unit of the durations: each task starts as soon as one of the slots is free. */
export function leastTime(durations: readonly number[], slots: number): number {
	const free = Array<number>(slots).fill(0);
	let end = 0;
	for (const duration of durations) {
		const soonest = free.indexOf(free.reduce((one, other) => Math.min(one, other), Infinity));
		const over = (free[soonest] ?? 0) + duration;
		free[soonest] = over;
		end = Math.max(end, over);
	}
	return end;
}

/** @param standIn for each, beside its time */
export const jobsOf = (name: string, seconds: readonly number[], standIn: object = {}): Job[] =>
	seconds.map((s, index) => ({
		text: `${name} ${index}`,
		standIn: { ms: s * 1000, ...standIn },
	}));

/** Jobs whose tasks are ended from outside. */
export const endlessJobs = (name: string, count: number): Job[] =>
	jobsOf(name, Array<number>(count).fill(0), { never_ends: true });

/** One execution with all the jobs. The workflow's name is its webhook's path. */
export async function runJobs(context: TestContext, workflow: SavedWorkflow, jobs: readonly Job[]) {
	const timeoutMs = 1_500_000;
	const { rest, service } = context;
	const before = (await rest.listExecutions(workflow.id)).length;
	await rest.callWebhook(workflow.name, { jobs });
	// Asked before that, n8n would have something else to do than to run it.
	const texts = new Set(jobs.map(({ text }) => text));
	await waitUntil(
		() =>
			service.creations(({ body, status }) => status !== 'doing' && texts.has(String(body.text)))
				.length >= jobs.length,
		{ timeoutMs, intervalMs: 500, what: `the end of ${jobs.length} tasks` },
	);
	const execution = (await rest.waitForExecutions(workflow.id, before + 1, timeoutMs)).at(-1);
	check(execution !== undefined, 'no execution');
	const { startedAt, stoppedAt, status, resultData } = execution;
	check(status === 'success', `it ended as ${status}: ${resultData.error?.message}`);
	const results = items(execution, 'Last');
	check(results.length === jobs.length, `${results.length} items for ${jobs.length} jobs`);
	const areDone = results.every(({ json }) => json.status === 'done');
	check(areDone, 'tasks that are not done');
	const created = service.creations(({ body }) => texts.has(String(body.text)));
	check(created.length === jobs.length, `${created.length} tasks for ${jobs.length} jobs`);
	const polls = created.map((task) => task.polls);
	return {
		// From n8n's start of the execution to its end.
		seconds: (Date.parse(stoppedAt ?? '') - Date.parse(startedAt ?? '')) / 1000,
		pollsPerTask: mean(polls),
		mostPolls: Math.max(...polls),
	};
}
