import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sharedContext, type TestContext } from './harness/context';
import { passedOn, Workbench } from './trigger/workbench';

const callbacks = 500;
const atATime = 20;

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

	/** Works through the list, so many at a time. */
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
		const answers = new Map<string, { status: number; body: string }>();
		await eachOf(taskIds, async (taskId) => {
			let answer = await service.sendCallback(taskId, { url: receiver.url });
			// On a busy machine the service may answer n8n too late: 503, and the sender tries again.
			for (let again = 0; answer.status === 503 && again < 5; again++)
				answer = await service.sendCallback(taskId, { url: receiver.url });
			answers.set(taskId, answer);
		});
		assert.equal(answers.size, callbacks);
		for (const [taskId, { status, body }] of answers) {
			assert.equal(status, 200, `${taskId}: ${body}`);
			assert.deepEqual(JSON.parse(body), { received: true });
		}
		// Once more, all of them: every one is known by now.
		await eachOf(taskIds, async (taskId) => {
			const { body } = await service.sendCallback(taskId, { url: receiver.url });
			assert.match(body, /was received before/);
		});
		const runs = await receiver.ran(callbacks, 300_000);
		const ran = new Set(runs.map((run) => passedOn(run).json.task_id));
		assert.equal(ran.size, callbacks);
		for (const taskId of taskIds) assert.ok(ran.has(taskId), `no run for ${taskId}`);
	});
});
