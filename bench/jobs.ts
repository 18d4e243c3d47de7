/** Jobs sent to a workflow of a real n8n, and what came of them: counted before any time is believed. */
import type { TestContext } from '../test/n8n/harness/context';
import { type Execution, items } from '../test/n8n/harness/execution';
import type { SavedWorkflow } from '../test/n8n/harness/rest';
import { waitUntil } from '../test/n8n/harness/wait';
import { check } from './stats';

export interface Job {
	text: string;
	standIn: Record<string, unknown>;
}

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

/** That the items of an execution are these jobs, all done, each created once. */
export function checkJobs({ service }: TestContext, execution: Execution, jobs: readonly Job[]) {
	check(
		execution.status === 'success',
		`an execution ended as ${execution.status}: ${execution.resultData.error?.message}`,
	);
	const results = items(execution, 'Last');
	check(results.length === jobs.length, `${results.length} items for ${jobs.length} jobs`);
	check(
		results.every(({ json }) => json.status === 'done'),
		'tasks that are not done',
	);
	const texts = new Set(jobs.map(({ text }) => text));
	const created = service.creations(({ body }) => texts.has(String(body.text)));
	check(created.length === jobs.length, `${created.length} tasks for ${jobs.length} jobs`);
	return created;
}

/** One execution with all the jobs. The workflow's name is its webhook's path. */
export async function runJobs(
	context: TestContext,
	workflow: SavedWorkflow,
	jobs: readonly Job[],
	timeoutMs = 1_500_000,
) {
	const { rest, service } = context;
	await rest.callWebhook(workflow.name, { jobs });
	// Asked before that, n8n would have something else to do than to run it.
	const texts = new Set(jobs.map(({ text }) => text));
	await waitUntil(
		() =>
			service.creations(({ body, status }) => status !== 'doing' && texts.has(String(body.text)))
				.length >= jobs.length,
		{ timeoutMs, intervalMs: 500, what: `the end of ${jobs.length} tasks` },
	);
	const [execution] = await rest.waitForExecutions(workflow.id, 1, timeoutMs);
	check(execution !== undefined, 'no execution');
	const { startedAt, stoppedAt } = execution;
	const polls = checkJobs(context, execution, jobs).map((task) => task.polls);
	return {
		// From n8n's start of the execution to its end.
		seconds: (Date.parse(stoppedAt ?? '') - Date.parse(startedAt ?? '')) / 1000,
		pollsPerTask: polls.reduce((a, b) => a + b, 0) / polls.length,
		mostPolls: polls.reduce((a, b) => Math.max(a, b), 0),
	};
}
