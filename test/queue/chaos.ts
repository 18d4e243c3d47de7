/**
 * The chaos: 200 tasks through queue mode while everything breaks; then the ledgers are laid beside each other. Every callback is
 * sent once and never again, and one in ten is lost on purpose.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { cleanUp } from '../../scripts/cleanup';
import { isFinished, items } from '../n8n/harness/execution';
import { fetch } from '../n8n/harness/http';
import type { SavedWorkflow } from '../n8n/harness/rest';
import { waitUntil } from '../n8n/harness/wait';
import { count, type Fate, reconcile } from './chaos/ledgers';
import { TaskLog } from './chaos/logs';
import { type Batch, type Blow, type Kind, makePlan, taskCount } from './chaos/plan';
import { readRuns } from './chaos/runs';
import { type QueueContext, startQueueContext } from './context';
import { generating, recovering, triggered } from './workflows';

const broken: Fate[] = ['LOST', 'CREATED TWICE', 'DELIVERED TWICE'];
const quietWithinMs = 300_000;

function say(text: string): void {
	console.log(`${new Date().toISOString().slice(11, 19)}  ${text}`);
}

/** A workflow for each batch, so that an execution which died without a word is still known by its workflow. */
async function publishAll(
	context: QueueContext,
	batches: Batch[],
): Promise<{ receiver: SavedWorkflow; starters: SavedWorkflow[] }> {
	const callbackUrl = context.triggerUrl('chaos-receive');
	const receiver = await context.publish(triggered('chaos-receive'));
	const kinds: Record<Kind, Parameters<typeof generating>[1]> = {
		poll: { options: { timeout: 200 } },
		suspend: { fields: { waitMode: 'callback' }, options: { timeout: 200, gracePeriod: 0 } },
		trigger: { fields: { waitForCompletion: false, callbackUrl } },
	};
	const starters: SavedWorkflow[] = [];
	for (const { name, kind, of } of batches)
		starters.push(await context.publish(generating(name, { of, ...kinds[kind] })));
	await waitUntil(async () => (await fetch(callbackUrl, { method: 'POST' })).status === 401, {
		what: 'The trigger',
	});
	return { receiver, starters };
}

/** Calls a flow's webhook. What nobody took is called again by the harness; what may have been taken is not. */
async function start({ rest }: QueueContext, { name, jobs }: Batch): Promise<boolean> {
	return (await rest.callWebhook(name, { jobs })).status === 200;
}

/** @returns when a process of n8n was killed, in epoch ms */
async function strike(
	{ cluster, service }: QueueContext,
	blow: Blow,
	turn: number,
): Promise<number | undefined> {
	if (blow.what === 'faults') {
		say(
			`the service: ${blow.rules.map(({ route, action }) => `${route} ${action.type}`).join(', ')}`,
		);
		const rules = blow.rules.map((rule) => service.faults.add(rule));
		await delay(blow.forMs);
		for (const rule of rules) service.faults.remove(rule);
		return undefined;
	}
	say(blow.what);
	if (blow.what === 'kill redis') {
		await cluster.redis.end('SIGKILL');
		await delay(blow.downMs);
		await cluster.redis.start();
		return undefined;
	}
	if (blow.what === 'restart main') {
		await cluster.main.restart();
		return undefined;
	}
	const { workers, webhooks } = cluster;
	const kin = blow.what === 'kill worker' ? workers : webhooks;
	const member = kin[turn % kin.length];
	const killedAt = Date.now();
	await member?.kill('SIGKILL');
	await delay(blow.downMs);
	await member?.start();
	say(`${blow.what}: it runs again`);
	return killedAt;
}

/** Waits until no execution is under way any more. What still is at the end, hangs. */
async function hanging(context: QueueContext, flows: SavedWorkflow[]): Promise<string[]> {
	const open = async () => {
		const lists = await Promise.all(flows.map(({ id }) => context.rest.listExecutions(id)));
		return lists.flat().filter(({ status }) => !isFinished(status));
	};
	const deadline = Date.now() + quietWithinMs;
	let left = await open();
	while (left.length > 0 && Date.now() < deadline) {
		await delay(2000);
		left = await open();
	}
	await Promise.all(context.service.tasks.map(({ id }) => context.service.callbacksSettled(id)));
	return (await open()).map(({ id, status }) => `execution ${id} is ${status}`);
}

/** How the callbacks were answered, without what differs from one to the next. */
function answers({ service }: QueueContext): Record<string, number> {
	const table: Record<string, number> = {};
	for (const { status, body } of service.callbacks) {
		const answer = `${status} ${body.replace(/[0-9a-f-]{36}|\d+/g, '*').slice(0, 90)}`;
		table[answer] = (table[answer] ?? 0) + 1;
	}
	return table;
}

/** Fetches what was paid for and not delivered, by the IDs that n8n has. How many are done, or failed by the service's word. */
async function recover(context: QueueContext, taskIds: readonly string[]): Promise<number> {
	if (taskIds.length === 0) return 0;
	const workflow = await context.publish(recovering('chaos-recover'));
	const { status } = await context.rest.callWebhook('chaos-recover', { taskIds });
	assert.equal(status, 200);
	const [execution] = await context.rest.waitForExecutions(workflow.id, 1);
	assert.equal(execution?.status, 'success', execution?.resultData.error?.message);
	const known = items(execution, 'Generate').filter(
		({ json }) => json.status === 'done' || json.outcome === 'failed',
	);
	return known.length;
}

/** What the plan promises: each callback once, some never, and every kind of task waited for in every way. */
function checkPlan({ service }: QueueContext, batches: readonly Batch[]): void {
	const sent = service.callbacks.map(({ taskId }) => taskId);
	assert.equal(new Set(sent).size, sent.length, 'a callback was sent twice');
	const lost = service.tasks.filter(
		({ receiveUrl, steering }) => receiveUrl !== null && steering.no_callback,
	);
	assert.ok(lost.length > 0, 'no callback was lost on purpose');
	assert.deepEqual(
		lost.filter(({ id }) => sent.includes(id)),
		[],
	);
	const kinds = new Set(batches.map(({ kind, of }) => `${kind}, ${of}`));
	assert.equal(kinds.size, 12);
	console.log(`Callbacks: ${sent.length} sent once, ${lost.length} lost on purpose`);
}

async function run(seed: number): Promise<void> {
	const plan = makePlan(seed);
	say(
		`seed ${seed}: ${taskCount} tasks by ${plan.batches.length} executions; starting the cluster ...`,
	);
	const context = await startQueueContext({
		seed,
		env: { N8N_EXECUTIONS_QUEUE_RECOVERY_INTERVAL: '1' },
	});
	const { service, cluster, rest } = context;
	const { receiver, starters } = await publishAll(context, plan.batches);
	const refused = new Set<string>();
	const killedAt: number[] = [];
	const startedAt = Date.now();
	const at = async (ms: number) => await delay(Math.max(0, startedAt + ms - Date.now()));
	await Promise.all([
		...plan.batches.map(async (batch) => {
			await at(batch.atMs);
			if (await start(context, batch)) return;
			say(`nobody took the call for ${batch.name}`);
			for (const { text } of batch.jobs) refused.add(text);
		}),
		...plan.blows.map(async (blow, turn) => {
			await at(blow.atMs);
			const killed = await strike(context, blow, turn);
			if (killed !== undefined) killedAt.push(killed);
		}),
	]);
	say('all blows are struck; waiting until it is quiet ...');
	const hangs = await hanging(context, [receiver, ...starters]);
	const runs = await readRuns(rest, receiver, []);
	for (const [index, batch] of plan.batches.entries())
		runs.push(...(await readRuns(rest, starters[index] as SavedWorkflow, batch.jobs)));
	const { batches } = plan;
	const log = new TaskLog(cluster.members);
	const entries = reconcile({ batches, tasks: service.tasks, runs, log, killedAt, refused });
	const recoverable = entries.flatMap(({ recoverBy }) => recoverBy ?? []);

	console.log('\nWhat became of the tasks');
	console.table(count(entries));
	for (const { text, fate, made, detail } of entries)
		if (fate !== 'delivered')
			console.log(`  ${fate}: ${text} ${made.join(' ')} ${detail.slice(0, 200)}`);
	const { creations, charged, polls, creationsByKind, requestsByStatus } = service.summary();
	console.log("The service's ledger:", { creationsByKind, charged, polls, requestsByStatus });
	const statuses: Record<string, number> = {};
	for (const { status } of runs) statuses[status] = (statuses[status] ?? 0) + 1;
	console.log("n8n's executions:", statuses);
	console.log("The callbacks' answers:", answers(context));
	const recovered = await recover(context, recoverable);
	console.log(`Recovered by the IDs in executions and logs: ${recovered} of ${recoverable.length}`);

	assert.deepEqual(hangs, [], 'something hangs');
	assert.deepEqual(
		entries.filter(({ fate }) => broken.includes(fate)),
		[],
	);
	assert.equal(entries.length, taskCount);
	assert.equal(recovered, recoverable.length, 'not everything was recovered');
	assert.equal(
		creations,
		entries.reduce((sum, { made }) => sum + made.length, 0),
		'tasks that nobody asked for',
	);
	const { costs } = service.settings;
	const price = ({ kind, body }: (typeof service.tasks)[number]) =>
		costs[kind] * (kind === 'image' ? Number(body.generations_count) : 1);
	assert.equal(
		charged,
		service.tasks.reduce((sum, task) => sum + (task.status === 'error' ? 0 : price(task)), 0),
		'charged otherwise than created',
	);
	checkPlan(context, batches);
	assert.equal(service.summary().foreignAuthorization, 0);
	assert.ok(cluster.members.every((member) => member.process.isRunning()));
	await context.close();
	say('The ledgers agree.');
}

run(Number(process.argv[2] ?? 1))
	.catch((error: unknown) => {
		console.error(error);
		process.exitCode = 1;
	})
	.finally(() => void cleanUp().then(() => process.exit()));
