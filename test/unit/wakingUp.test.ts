/** How a sleeping execution is called when its tasks are over, until it is awake: on a virtual clock. */
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import { Account } from '../../nodes/MediaGeneration/service/account';
import type { Answer, ServiceClient } from '../../nodes/MediaGeneration/service/client';
import { sleepOf } from '../../nodes/MediaGeneration/sleep/watch';
import type { Watch } from '../../nodes/MediaGeneration/wait/poll';
import { VirtualClock } from '../support/virtualClock';

const RESUME_URL = 'https://n8n.example/webhook-waiting/7/node?signature=abc';
const HOUR = 3_600_000;

interface Call {
	atMs: number;
	url: string;
	body: unknown;
}

/** An n8n that answers calls of a resume URL so, and a service whose task is over after `taskMs`. */
function asleep(
	answers: Array<{ statusCode: number; body?: unknown }>,
	taskMs = 60_000,
	all = true,
) {
	const clock = new VirtualClock();
	const startedAt = clock.now();
	const calls: Call[] = [];
	const looks: number[] = [];
	const httpRequest = ({ url, body }: IHttpRequestOptions) => {
		const next = answers[Math.min(calls.length, answers.length - 1)];
		calls.push({ atMs: clock.now() - startedAt, url, body });
		return Promise.resolve({ headers: {}, ...next });
	};
	const context = { helpers: { httpRequest } } as unknown as IExecuteFunctions;
	const send = () => {
		looks.push(clock.now() - startedAt);
		const over = clock.now() - startedAt >= taskMs;
		const body = over
			? { id: 't', status: 'done', metadata: { audio_url: 'https://files.example/a.mp3' } }
			: { id: 't', status: 'doing' };
		const reply: Answer = { answered: true, status: 200, headers: {}, body, text: '' };
		return Promise.resolve(reply);
	};
	const client = {
		account: new Account(),
		credentials: { baseUrl: 'https://api.example', apiKey: 'sk_test', callbackSecret: '' },
		send,
	} satisfies ServiceClient;
	const watch: Watch = {
		taskId: 't',
		kind: 'x',
		createdAt: startedAt,
		deadline: startedAt + 24 * HOUR,
		pace: 'asleep',
	};
	const newSleep = (id = `sleep-${(sleeps += 1)}`) => sleepOf(id, { context, client, clock });
	const sleep = newSleep();
	const id = `sleep-${sleeps}`;
	if (all) sleep.watchAll([watch], RESUME_URL);
	else sleep.watch([watch], RESUME_URL);
	return { clock, calls, looks, sleep, watch, newSleep, again: () => newSleep(id) };
}
let sleeps = 0;

const running = {
	statusCode: 409,
	body: { code: 409, message: 'The execution "7" is running already.' },
};
const finished = {
	statusCode: 409,
	body: { code: 409, message: 'The execution "7 has finished already.' },
};

test('what was answered 200 is made sure of once, after the time for a delivery', async () => {
	const { clock, calls } = asleep([{ statusCode: 200 }, finished]);
	await clock.advance(24 * HOUR);
	expect(calls).toHaveLength(2);
	expect((calls[1]?.atMs ?? 0) - (calls[0]?.atMs ?? 0)).toBe(60_000);
});

test.each([
	['has finished', finished],
	[
		'was stopped by somebody',
		{ statusCode: 409, body: { code: 409, message: 'The execution "7" has finished with error.' } },
	],
	[
		'is deleted',
		{ statusCode: 404, body: { code: 404, message: 'The execution "7" does not exist.' } },
	],
	[
		'waits for something else',
		{ statusCode: 404, body: { received: false, error: 'no task is waited for here' } },
	],
	[
		'sleeps over other tasks',
		{
			statusCode: 200,
			body: { received: true, ignored: 'the task does not belong to this execution' },
		},
	],
])('an execution that %s is not called again', async (_, answer) => {
	const { clock, calls } = asleep([answer]);
	await clock.advance(25 * HOUR);
	expect(calls).toHaveLength(1);
});

test.each([
	['says that it sleeps on', { statusCode: 202, body: { received: true, waiting: 1 } }],
	['is restarted', { statusCode: 503 }],
	[
		'has no routes yet',
		{ statusCode: 404, body: { code: 404, message: 'The requested webhook is not registered.' } },
	],
	['is behind a proxy that answers 404', { statusCode: 404, body: '<html>' }],
	['is busy with it', running],
	[
		'says something that is no text',
		{ statusCode: 409, body: { code: 409, message: ['has finished'] } },
	],
])(
	'as long as n8n %s, it is called at growing pauses, and beyond the deadline no more',
	async (_, answer) => {
		const { clock, calls } = asleep([answer]);
		await clock.advance(48 * HOUR);
		const pauses = calls.slice(1).map(({ atMs }, index) => atMs - (calls[index]?.atMs ?? 0));
		expect(pauses.slice(0, 8)).toEqual([300, 700, 1_500, 3_000, 6_000, 12_000, 30_000, 60_000]);
		// At its deadline n8n wakes it by itself; until a while later, to be sure, it is called.
		expect(calls.at(-1)?.atMs).toBeGreaterThan(24 * HOUR);
		expect(calls.at(-1)?.atMs).toBeLessThanOrEqual(24 * HOUR + 120_000);
	},
);

test('a callback that wakes it ends the looks and the calls', async () => {
	const { clock, calls, looks, sleep } = asleep([{ statusCode: 200 }], HOUR);
	await clock.advance(30_000);
	const before = looks.length;
	sleep.end();
	await clock.advance(24 * HOUR);
	expect(looks).toHaveLength(before);
	expect(calls).toHaveLength(0);
});

describe('what is known of a sleep', () => {
	/** So many more that what is over is dropped; all of them are over themselves. */
	async function crowd({ newSleep, clock }: ReturnType<typeof asleep>): Promise<void> {
		for (let count = 0; count < 500; count += 1) newSleep().end();
		await clock.advance(60_000);
	}

	test('is dropped after that, with the tasks that it holds', async () => {
		const world = asleep([{ statusCode: 200 }], 48 * HOUR);
		world.sleep.end();
		await crowd(world);
		await crowd(world);
		expect(world.again()).not.toBe(world.sleep);
	});

	test('is dropped some time after its deadline, at which n8n wakes it', async () => {
		const world = asleep([{ statusCode: 200 }], 48 * HOUR);
		await world.clock.advance(24 * HOUR);
		await crowd(world);
		expect(world.again()).toBe(world.sleep);
		await world.clock.advance(60_000);
		await crowd(world);
		expect(world.again()).not.toBe(world.sleep);
	});
});

describe('where this process does not watch all tasks of the execution', () => {
	test.each([
		['is busy', running],
		['is restarted', { statusCode: 503 }],
	])('n8n that %s is called again all the same', async (_name, answer) => {
		const { clock, calls } = asleep([answer], undefined, false);
		await clock.advance(2 * HOUR);
		expect(calls.length).toBeGreaterThan(10);
	});
});

test('a task that was noted as over is looked at no more', async () => {
	const { clock, looks, sleep, watch } = asleep([{ statusCode: 200 }], 24 * HOUR);
	await clock.advance(60_000);
	const before = looks.length;
	expect(before).toBeGreaterThan(0);
	const failure = { outcome: 'failed' as const, message: 'm', description: 'd' };
	sleep.note(watch.taskId, { kind: 'failed', failure, task: undefined });
	await clock.advance(2 * HOUR);
	expect(looks).toHaveLength(before);
});
