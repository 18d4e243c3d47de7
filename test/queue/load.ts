/** The load: 2,000 tasks by 100 executions within a minute, while the service lets twenty be active at once. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { savePoint } from '../../bench/saved';
import { cleanUp } from '../../scripts/cleanup';
import { isFinished, items } from '../n8n/harness/execution';
import { type QueueContext, startQueueContext } from './context';
import { generating, type Job } from './workflows';

const executions = 100;
const tasksEach = 20;
const startsWithinMs = 60_000;
const activeTaskLimit = 20;
const taskMs = 1000;
const allWithinMs = 20 * 60_000;

const megabytes = (bytes: number) => Math.round(bytes / 1e6);

/** Memory of every process in MB, as often as asked. */
function sample({ cluster }: QueueContext): Record<string, number> {
	const [worker1, worker2] = cluster.workers;
	const [webhook1, webhook2] = cluster.webhooks;
	const named = { main: cluster.main, webhook1, webhook2, worker1, worker2 };
	return Object.fromEntries(
		Object.entries(named).map(([name, member]) => [name, megabytes(member?.memory() ?? 0)]),
	);
}

async function run(): Promise<void> {
	const context = await startQueueContext({
		concurrency: 50,
		settings: { activeTaskLimit, taskMs },
	});
	const { rest, service } = context;
	const workflow = await context.publish(
		generating('load', {
			fields: { downloadOutput: false },
			options: { timeout: 3600, maxActiveTasks: 20 },
		}),
	);
	// One execution beforehand: the webhook is live, the workers are warm.
	await rest.callWebhook('load', { jobs: [{ text: 'warm', standIn: {} }] });
	const [warm] = await rest.waitForExecutions(workflow.id, 1, 120_000);
	await rest.deleteExecution(warm?.id ?? '');
	service.reset();

	const startedAt = Date.now();
	const calls = Promise.all(
		Array.from({ length: executions }, async (_, execution) => {
			await delay((execution * startsWithinMs) / executions);
			const jobs = Array.from({ length: tasksEach }, (__, item): Job => ({
				text: `${execution}-${item}`,
				standIn: {},
			}));
			assert.equal((await rest.callWebhook('load', { jobs })).status, 200);
		}),
	);
	// Looked at below, when all is over.
	calls.catch(() => undefined);
	const memory: Array<Record<string, number>> = [];
	const finished = async () =>
		(await rest.listExecutions(workflow.id)).filter(({ status }) => isFinished(status)).length;
	let done = 0;
	while (done < executions && Date.now() - startedAt < allWithinMs) {
		await delay(10_000);
		done = await finished();
		const creations = service.creations().length;
		memory.push({
			seconds: Math.round((Date.now() - startedAt) / 1000),
			creations,
			...sample(context),
		});
		console.log(JSON.stringify(memory.at(-1)));
	}
	await calls;
	const all = await rest.waitForExecutions(workflow.id, executions);
	// By n8n's own account: they are looked at once in ten seconds only.
	const tookMs = Math.max(...all.map(({ stoppedAt }) => Date.parse(stoppedAt ?? ''))) - startedAt;
	const delivered = all
		.flatMap((execution) => items(execution, 'Last'))
		.filter(({ json }) => json.status === 'done' && json.outcome === undefined)
		.map(({ json }) => String(json.task_id));

	console.table(memory);
	const { creations, polls, pollsPerTask, requests, requestsByStatus, maxActive } =
		service.summary();
	const refusals = service.requests.filter(
		({ route, status }) => route === 'create' && status === 429,
	);
	console.log({ tookMs, creations, polls, pollsPerTask, requests, requestsByStatus, maxActive });
	console.log(
		`Creations sent in vain because of the limit: ${refusals.length} (${(refusals.length / creations).toFixed(2)} for each task)`,
	);
	savePoint('load', {
		seconds: tookMs / 1000,
		refusedPerTask: refusals.length / creations,
		pollsPerTask: pollsPerTask.mean,
	});
	const created = new Set(service.tasks.map(({ id }) => id));
	assert.equal(creations, executions * tasksEach);
	assert.equal(new Set(delivered.filter((id) => created.has(id))).size, creations);
	assert.equal(new Set(service.tasks.map(({ body }) => body.text)).size, creations);
	assert.ok(maxActive <= activeTaskLimit);
	// Flat: the last third holds no more than the middle one, but for what a collector leaves lying about.
	const third = Math.floor(memory.length / 3);
	for (const name of ['main', 'webhook1', 'webhook2', 'worker1', 'worker2']) {
		const most = (part: typeof memory) => Math.max(...part.map((row) => row[name] ?? 0));
		const [middle, last] = [most(memory.slice(third, -third)), most(memory.slice(-third))];
		assert.ok(last < middle * 1.25 + 50, `${name} grows: ${middle} MB, then ${last} MB`);
	}
	await context.close();
	console.log('All delivered.');
}

run()
	.catch((error: unknown) => {
		console.error(error);
		process.exitCode = 1;
	})
	.finally(() => void cleanUp().then(() => process.exit()));
