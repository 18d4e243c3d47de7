import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sharedContext, type TestContext } from './harness/context';
import { waitUntil } from './harness/wait';
import { passedOn, Workbench } from './trigger/workbench';

const callbacks = 500;
const atATime = 20;

interface Answer {
	received: boolean;
	ignored?: string;
}

describe('load on the trigger', () => {
	let context: TestContext;
	let bench: Workbench;

	before(async () => {
		context = await sharedContext();
		bench = new Workbench(context);
	});

	after(async () => {
		await bench.close();
	});

	/** Works through the list, a number at a time. */
	async function eachOf<T>(list: readonly T[], work: (entry: T) => Promise<void>): Promise<void> {
		const queue = [...list];
		const worker = async () => {
			for (let next = queue.shift(); next !== undefined; next = queue.shift()) await work(next);
		};
		await Promise.all(Array.from({ length: atATime }, worker));
	}

	it(`loses none of ${callbacks} callbacks and runs none of them twice`, async () => {
		const { service } = context;
		const receiver = await bench.receiver('trigger-load', await bench.credential(''), {
			downloadOutput: false,
		});
		const taskIds: string[] = [];
		await eachOf(
			Array.from({ length: callbacks }, (_, index) => index),
			async () => {
				taskIds.push(await bench.task());
			},
		);
		/** Sends as a service does that tries again after 503, which a busy n8n or its database may answer, too. */
		const send = async (taskId: string) => {
			let tries = 1;
			const answer = await waitUntil(
				async () => {
					const { status, body } = await service.sendCallback(taskId, { url: receiver.url });
					const firstTry = tries++ === 1;
					// n8n's own 503 says nothing of having received; the trigger itself has no reason for one.
					assert.ok(status !== 503 || !body.includes('"received"'), body);
					return status !== 503 && { status, body, firstTry };
				},
				{ timeoutMs: 120_000, intervalMs: 1000, what: `An answer about task ${taskId}` },
			);
			assert.equal(answer.status, 200, answer.body);
			return { ...(JSON.parse(answer.body) as Answer), firstTry: answer.firstTry };
		};
		await eachOf(taskIds, async (taskId) => {
			const { received, ignored, firstTry } = await send(taskId);
			assert.equal(received, true);
			if (firstTry) assert.equal(ignored, undefined);
		});
		// Once more, all of them: every one is known by now.
		await eachOf(taskIds, async (taskId) => {
			assert.match(String((await send(taskId)).ignored), /was received before/);
		});
		const runs = await receiver.ran(callbacks, 300_000);
		const ran = new Set(runs.map((run) => passedOn(run).json.task_id));
		assert.equal(ran.size, callbacks);
		for (const taskId of taskIds) assert.ok(ran.has(taskId), `no run for ${taskId}`);
	});
});
