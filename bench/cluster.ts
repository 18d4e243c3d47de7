/** What a cluster of n8n's processes is measured with: executions that share one account, and executions that sleep. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SavedWorkflow } from '../test/n8n/harness/rest';
import { waitUntil } from '../test/n8n/harness/wait';
import type { QueueContext } from '../test/queue/context';
import { type Crowd, crowd, tasksEach } from './crowd';
import { endlessJobs } from './jobs';
import { postAll } from './posting';
import { executionOf, type SleepingWay, waitWay } from './sleepers';
import { called, last, oneItemEach } from './workflows';

export const executions = 60;
export const workers = 3;
/** Executions that a worker runs at once. */
export const concurrency = 10;
const allWithinMs = 900_000;

/** Waits until so many executions of a workflow sleep or, by default, are over, without a question to n8n. */
async function until(
	{ cluster }: QueueContext,
	{ id, name }: SavedWorkflow,
	{ count, state = 'over' }: { count: number; state?: 'waiting' | 'over' },
): Promise<void> {
	const states = state === 'over' ? ['success', 'error', 'crashed'] : [state];
	await waitUntil(
		async () => {
			const statuses: Record<string, number> = await cluster.database.statuses(id);
			return states.reduce((sum, each) => sum + (statuses[each] ?? 0), 0) >= count;
		},
		{ timeoutMs: allWithinMs, intervalMs: 1_000, what: `${count} executions of ${name}: ${state}` },
	);
}

/** The crowd of this cluster, whose main process is not asked until all of it is over. */
export const crowdOf = async (context: QueueContext, workflow: SavedWorkflow): Promise<Crowd> =>
	await crowd(context, workflow, {
		count: executions,
		over: async () => await until(context, workflow, { count: executions }),
	});

/** Puts executions to sleep. @returns what calls them */
async function asleep(
	context: QueueContext,
	way: SleepingWay,
	{ count, tasks = 1 }: { count: number; tasks?: number },
) {
	const { rest, service } = context;
	const name = `${way.path}-${count}-${tasks}`;
	const nodes = [called(name), oneItemEach(), ...way.nodes(service), last()];
	const workflow = await context.publish(nodes);
	for (let index = 0; index < count; index += 1)
		await rest.callWebhook(name, { jobs: endlessJobs(`${name} ${index}`, tasks) });
	await until(context, workflow, { state: 'waiting', count });
	return workflow;
}

/** Our executions at a full account; beside each sleeps one of the Wait node, called when the last task of ours ends. */
export async function crowdBesideWait(context: QueueContext, workflow: SavedWorkflow) {
	const { rest, service } = context;
	const companions = await asleep(context, waitWay, { count: executions });
	const urls = await waitWay.calls(service);
	service.reset();
	const calledAt = new Map<string, number>();
	const calls: Array<Promise<unknown>> = [];
	const seen = new Set<string>();
	const timer = setInterval(() => {
		const over = new Map<string, number>();
		for (const { receiveUrl, status } of service.tasks) {
			const execution = executionOf(receiveUrl ?? '');
			over.set(execution, (over.get(execution) ?? 0) + (status === 'done' ? 1 : 0));
		}
		for (const [execution, count] of over) {
			if (count < tasksEach || seen.has(execution)) continue;
			const post = urls[seen.size];
			seen.add(execution);
			if (post === undefined) continue;
			calledAt.set(executionOf(post.url), Date.now());
			calls.push(postAll(context.cluster.webhookUrl, [post], 1));
		}
	}, 20);
	const ours = await crowdOf(context, workflow).finally(() => clearInterval(timer));
	await Promise.all(calls);
	await until(context, companions, { count: executions });
	const theirs = (await rest.listExecutions(companions.id)).map(
		({ id, stoppedAt }) => Date.parse(stoppedAt ?? '') - (calledAt.get(id) ?? NaN),
	);
	return { ours, theirs };
}

/** Transactions that PostgreSQL commits for an execution that sleeps, from its start to its end, less those of an n8n with nothing to do. */
export async function commitsPerSleeper(
	context: QueueContext,
	way: SleepingWay,
	{ count, tasks }: { count: number; tasks: number },
): Promise<number> {
	const { service, cluster } = context;
	const { database } = cluster;
	service.reset();
	const idleMs = 20_000;
	const idleBefore = await database.commits();
	await delay(idleMs);
	const before = await database.commits();
	const startedAt = Date.now();
	const workflow = await asleep(context, way, { count, tasks });
	// One after the other, as tasks end; the stand-in calls for each of ours.
	service.settings.callbacks.retryOn5xx = 60;
	for (const { id } of service.creations()) await service.finish(id);
	if (way === waitWay) await postAll(cluster.webhookUrl, await way.calls(service), 1);
	await until(context, workflow, { count });
	const idle = ((Date.now() - startedAt) * (before - idleBefore)) / idleMs;
	return ((await database.commits()) - before - idle) / count;
}
