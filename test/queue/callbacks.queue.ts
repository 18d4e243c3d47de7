import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { groupMembers } from '../n8n/harness/memory';
import { isFinished, items, type ExecutionStatus } from '../n8n/harness/execution';
import { waitUntil } from '../n8n/harness/wait';
import type { Member } from './cluster';
import { type QueueContext, startQueueContext } from './context';
import { generating } from './workflows';

const sleepers = Number(process.env.MEDIA_GENERATION_SLEEPERS ?? '') || 100;
const tasksEach = Number(process.env.MEDIA_GENERATION_TASKS ?? '') || 3;
/** So often a sender calls in all, and so long it waits in between, whatever it was told. */
const sender = { tries: 6, everyMs: 5_000 };

const TICKS_PER_SECOND = 100;

/** Seconds of CPU that the processes of a member have used. */
function cpuSeconds({ process: { pid } }: Member): number {
	const ticks = (groupMembers(pid) ?? []).map((each) => {
		// After the name, which can have spaces.
		const fields = readFileSync(`/proc/${each}/stat`, 'utf8')
			.replace(/^.*\) /, '')
			.split(' ');
		return Number(fields[11]) + Number(fields[12]);
	});
	return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND;
}

/** The service reports all tasks of many sleeping executions at the same moment, and calls again after each 5xx. */
describe('callbacks', () => {
	let context: QueueContext;

	before(async () => {
		context = await startQueueContext({
			settings: { callbacks: { retryOn5xx: sender.tries - 1, retryDelayMs: sender.everyMs } },
		});
	});
	after(async () => await context?.close());

	it(`of ${sleepers} executions of ${tasksEach} tasks, all at once, wake all of them`, async () => {
		const { rest, service, cluster } = context;
		const name = 'at-once';
		const workflow = await context.publish(
			generating(name, {
				fields: { waitMode: 'callback', downloadOutput: false },
				options: { gracePeriod: 0, timeout: 86_400 },
			}),
		);
		const statuses = async () => await cluster.database.statuses(workflow.id);
		for (let index = 0; index < sleepers; index += 1) {
			const jobs = Array.from({ length: tasksEach }, (_, task) => ({
				text: `${name} ${index} ${task}`,
				standIn: { never_ends: true },
			}));
			await rest.callWebhook(name, { jobs });
		}
		const patience = { timeoutMs: 600_000, intervalMs: 500 };
		await waitUntil(async () => (await statuses()).waiting === sleepers, {
			...patience,
			what: `${sleepers} sleeping executions`,
		});
		const cpuBefore = cluster.webhooks.map(cpuSeconds);
		const calledAt = Date.now();
		let mostMb = 0;
		const called = Promise.all(
			service.tasks.map(async ({ id }) => {
				await service.finish(id);
				await service.callbacksSettled(id);
			}),
		);
		await waitUntil(
			async () => {
				const bytes = cluster.webhooks.map((member) => member.memory());
				mostMb = Math.max(mostMb, ...bytes.map((each) => each / 1e6));
				return Object.keys(await statuses()).every((it) => isFinished(it as ExecutionStatus));
			},
			{ ...patience, what: 'the end of all executions' },
		);
		await called;
		const cpu = cluster.webhooks.map((member, at) => cpuSeconds(member) - (cpuBefore[at] ?? 0));
		const ended = await rest.listExecutions(workflow.id);
		const seconds = ended
			.map(({ stoppedAt }) => (Date.parse(stoppedAt ?? '') - calledAt) / 1_000)
			.sort((a, b) => a - b);
		const answers: Record<string, number> = {};
		for (const { status } of service.callbacks) answers[status] = (answers[status] ?? 0) + 1;
		console.log({
			ends: await statuses(),
			meanS: seconds.reduce((sum, each) => sum + each, 0) / seconds.length,
			medianS: seconds[Math.floor(seconds.length / 2)],
			lastS: seconds.at(-1),
			answers,
			cpuS: cpu,
			mostMb,
		});
		assert.deepEqual(await statuses(), { success: sleepers });
		for (const { id } of ended) {
			const results = items(await rest.execution(id), 'Last').map(({ json }) => json.status);
			assert.deepEqual(results, Array<string>(tasksEach).fill('done'));
		}
		assert.equal(service.creations().length, sleepers * tasksEach, 'created once each');
	});
});
