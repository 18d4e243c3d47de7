/** Sleeping executions in n8n's engine: what wakes them, and every On Error setting with and without Retry On Fail. */
import type { INodeExecutionData } from 'n8n-workflow';
import type { FaultAction } from '../service';
import type { EngineOptions } from './engine';
import { outputsOf } from './files';
import { until } from './hurry';
import { again, engineSetting, SECRET } from './setting';
import { startWebhooks, type Execution, type StartOptions, type WebhookHost } from './webhook';

let host: WebhookHost;
const isOver = ({ status }: Execution) => status !== 'waiting' && status !== 'running';
// Before the stand-in forgets its tasks: nothing is left asleep, and so nothing is watched any more.
afterEach(async () => {
	const { service } = setting;
	service.faults.clear();
	const running = service.tasks.filter(({ status }) => status === 'doing');
	await Promise.all(running.map(async ({ id }) => await service.finish(id)));
	const executions = host.executions.all();
	await until('nothing sleeps', () => executions.every(isOver), 5_000).catch(() => undefined);
	await host.expectNoSecrets([SECRET, ...service.keys.map(({ key }) => key)]);
});
const setting = engineSetting();
beforeAll(async () => {
	host = await startWebhooks();
});
afterAll(async () => await host.close());

/** A generation that sleeps at once. Its item says which voice, and steers the stand-in's task. */
const parameters: EngineOptions['parameters'] = {
	resource: 'speech',
	operation: 'generateByVoiceId',
	voiceId: '={{ $json.voice ?? "nobody" }}',
	text: 'Hello',
	waitMode: 'callback',
	options: {
		gracePeriod: 0,
		extraFields: '={{ { stand_in: $json.stand_in ?? { never_ends: true } } }}',
	},
};
/** Items with a voice each: v0, v1, ... */
const voices = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ voice: `v${index}` }));

async function start(
	options: Omit<StartOptions, 'credentials' | 'parameters'>,
): Promise<Execution> {
	const { apiKey, baseUrl } = setting.service;
	const credentials = { apiKey, baseUrl, callbackSecret: SECRET };
	return await host.start({ ...options, parameters, credentials });
}

/** Starts an execution, and resolves when it sleeps. Fails where it does not. */
async function sleeping(options: Parameters<typeof start>[0]): Promise<Execution> {
	const execution = await start(options);
	const { error } = await execution.settled();
	expect([execution.status, error?.message]).toEqual(['waiting', undefined]);
	return execution;
}

async function awake(execution: Execution, withinMs = 20_000): Promise<void> {
	await until('the execution woke and came to its end', () => isOver(execution), withinMs);
}

/** The ID of a task by its voice. */
function taskOf(voice: string): string {
	const [task] = setting.service.creations(({ params }) => params.voice_id === voice);
	if (task === undefined) throw new Error(`There is no task for the voice "${voice}"`);
	return task.id;
}

/** What the node behind the output, or behind the error branch, was given. */
async function given(
	execution: Execution,
	node: 'After' | 'Failed',
): Promise<INodeExecutionData[]> {
	const { run } = await execution.settled();
	return run.data.resultData.runData[node]?.at(-1)?.data?.main?.[0] ?? [];
}

/** What failed while an execution slept has its fields in `details` on the error branch. */
const fieldsOf = ({ json }: INodeExecutionData) =>
	(json.details as typeof json | undefined) ?? json;
/** What became of each item, in short. */
const ends = (items: INodeExecutionData[]) =>
	items.map((item) => fieldsOf(item).outcome ?? fieldsOf(item).status);

const refusal = (status: number, body: object, retryAfter?: string): FaultAction => ({
	type: 'status',
	status,
	body,
	headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
});
const BUSY = { success: false, code: 'server_busy' };

describe('the last callback is not lost', () => {
	test('on a service that asks for a longer pause than a callback can wait', async () => {
		const { service } = setting;
		const execution = await sleeping({ items: voices(1) });
		service.faults.add({ route: 'poll', times: 1, action: refusal(503, BUSY, '6') });
		await service.finish(taskOf('v0'));
		await awake(execution, 25_000);
		expect(ends(await given(execution, 'After'))).toEqual(['done']);
		expect(service.callbacks).toHaveLength(1);
	});

	test('on a service that is busy, throttles, resets, answers with a page, or refuses the key once', async () => {
		const { service } = setting;
		const troubles: Record<string, [number, FaultAction]> = {
			busy: [6, refusal(503, BUSY)],
			throttled: [6, refusal(429, BUSY)],
			reset: [6, { type: 'reset' }],
			page: [6, { type: 'html' }],
			refused: [1, refusal(401, { success: false })],
		};
		const executions = await Promise.all(
			Object.keys(troubles).map(async (voice) => await sleeping({ items: [{ voice }] })),
		);
		for (const [voice, [times, action]] of Object.entries(troubles))
			service.faults.add({ route: 'poll', path: taskOf(voice), times, action });
		await Promise.all(
			Object.keys(troubles).map(async (voice) => await service.finish(taskOf(voice))),
		);
		for (const execution of executions) {
			await awake(execution, 40_000);
			expect(ends(await given(execution, 'After'))).toEqual(['done']);
		}
		expect(service.callbacks).toHaveLength(executions.length);
	}, 60_000);

	test('which came while n8n was still putting the execution to sleep (409)', async () => {
		const { service } = setting;
		let save = () => {};
		host.executions.beforeSaving = async () =>
			await new Promise<void>((resolve) => (save = resolve));
		try {
			const execution = await start({ items: voices(1) });
			await until('the task was looked at', () => (service.tasks[0]?.polls ?? 0) > 0);
			await service.finish(taskOf('v0'));
			expect(service.callbacks.map(({ status }) => status)).toEqual([409]);
			save();
			await awake(execution, 40_000);
			expect(ends(await given(execution, 'After'))).toEqual(['done']);
		} finally {
			host.executions.beforeSaving = async () => await Promise.resolve();
		}
	}, 60_000);
});

describe('what a wake costs', () => {
	test('a callback is told after 5 s that a slow file is not there, and a later one does not wait for it', async () => {
		const { service } = setting;
		// Eight seconds for its file, so that the first callback is answered before it is there.
		service.settings.fileBytesPerSecond = 25_000;
		const execution = await sleeping({
			items: [{ voice: 'v0', stand_in: { never_ends: true, bytes: 200_000 } }],
		});
		await service.finish(taskOf('v0'));
		// A 200 would mean that n8n has stored it.
		expect(service.callbacks.map(({ status }) => status)).toEqual([503]);
		expect((await service.sendCallback(taskOf('v0'))).status).toBe(503);
		// The one before is still being delivered.
		expect(execution.status).toBe('waiting');
		await awake(execution);
		const after = await given(execution, 'After');
		expect(after[0]?.binary?.data?.bytes).toBe(200_000);
		expect(service.requests.filter(({ route }) => route === 'file')).toHaveLength(1);
	});
});

test('two connections into one node: each of its runs pays, sleeps and wakes', async () => {
	const { service } = setting;
	const execution = await sleeping({ items: voices(1), twice: true });
	await service.finish(taskOf('v0'));
	await until('the second run sleeps', () => service.creations().length === 2, 5_000);
	await until('it is asleep', () => execution.status === 'waiting');
	await service.finish(service.creations()[1]?.id ?? '');
	await awake(execution);
	const { run } = await execution.settled();
	const runs = run.data.resultData.runData.After ?? [];
	expect(runs.map(({ data }) => ends(data?.main?.[0] ?? []))).toEqual([['done'], ['done']]);
});

test.each(['constructor', 'toString', 'valueOf', 'it\'s "{{ 1 }}" \\ `${x}`'])(
	'a node named %s wakes, or is refused before anything is paid',
	async (name) => {
		const { service } = setting;
		const execution = await start({
			name,
			items: voices(1),
			settings: { onError: 'continueRegularOutput' },
		});
		await execution.settled();
		if (setting.attempts() > 0) {
			expect(execution.status).toBe('waiting');
			await service.finish(taskOf('v0'));
			await awake(execution);
		}
		const [item] = await given(execution, 'After');
		if (setting.attempts() === 0) {
			expect(item?.json.outcome).toBe('invalid');
			expect(item?.json.error).toMatch(/name/);
		} else expect(item?.json).toMatchObject({ status: 'done', task_id: taskOf('v0') });
	},
);

const onErrors = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const;
const cases = onErrors.flatMap((onError) =>
	[false, true].map((retryOnFail) => ({ onError, retryOnFail })),
);

describe.each(cases)('On Error: $onError, Retry On Fail: $retryOnFail', (each) => {
	const { onError, retryOnFail } = each;
	const settings = { onError, ...(retryOnFail ? again : {}) };
	/** Where a creation that is refused ends the run, none is. */
	const bad = onError === 'stopWorkflow' ? [] : [{ voice: 'bad' }];
	const voices = ['one', 'fails', 'nofile', 'two'];
	const items = [...bad, ...voices.map((voice) => ({ voice }))];
	const apart = (outcomes: string[]) => (onError === 'continueErrorOutput' ? outcomes : []);

	beforeEach(() => {
		setting.service.faults.add({
			route: 'create',
			path: '/bad',
			action: refusal(422, { success: false, error: 'bad voice' }),
		});
	});

	test('each item comes to its own end, and is paid for once', async () => {
		const { service } = setting;
		const execution = await sleeping({ items, settings });
		const action = refusal(404, { success: false, error: 'gone' });
		service.faults.add({ route: 'file', path: taskOf('nofile'), action });
		await service.finish(taskOf('two'));
		await service.finish(taskOf('nofile'));
		await service.finish(taskOf('fails'), 'error', { error_message: 'no luck' });
		expect(execution.status).toBe('waiting');
		await service.finish(taskOf('one'));
		await awake(execution);
		expect(execution.status).toBe('success');
		expect(service.callbacks.every(({ status }) => status === 200 || status === 202)).toBe(true);

		const [after, failed] = [await given(execution, 'After'), await given(execution, 'Failed')];
		const wrong = [...bad.map(() => 'rejected'), 'failed', 'undelivered'];
		expect(ends(failed)).toEqual(apart(wrong));
		const all = [...after, ...failed];
		expect(ends(all).sort()).toEqual([...wrong, 'done', 'done'].sort());
		const done = after.filter(({ json }) => json.outcome === undefined);
		expect(done.map(({ json }) => json.task_id)).toEqual([taskOf('one'), taskOf('two')]);
		expect(done.map(({ binary }) => binary?.data?.mimeType)).toEqual(['audio/wav', 'audio/wav']);
		const itemOf = (outcome: string) => {
			const item = all.find((one) => fieldsOf(one).outcome === outcome);
			return item === undefined ? undefined : { ...item.json, ...fieldsOf(item) };
		};
		expect(itemOf('failed')).toMatchObject({
			error: `Task ${taskOf('fails')} failed: no luck`,
			task_id: taskOf('fails'),
			status: 'error',
		});
		expect(itemOf('undelivered')).toMatchObject({
			task_id: taskOf('nofile'),
			outputs: [{ url: expect.stringContaining(taskOf('nofile')) as string }],
		});
		if (bad.length > 0)
			expect(itemOf('rejected')).toMatchObject({
				error: 'The service refused the task (HTTP 422: bad voice)',
				http_status: 422,
			});
		expect(service.creations()).toHaveLength(voices.length);
	});
});

describe('Task: Wait behind the error branch of a node whose input is a finished item', () => {
	const wait = { resource: 'task', operation: 'wait', taskId: '={{ $json.task_id }}' };
	const onError = { onError: 'continueErrorOutput' } as const;
	const create = (action: FaultAction) => ({ route: 'create', path: '/second', action }) as const;
	const unread = { type: 'status', status: 404, body: {} } as const;

	/** What comes out of it, where a first node has made a task, and the second one, with its item as input, fails. */
	async function behind(fails: (service: typeof setting.service) => Promise<unknown>) {
		const { service } = setting;
		const first = await sleeping({ items: [{ voice: 'first' }] });
		await service.finish(taskOf('first'));
		await awake(first);
		const inputs = (await given(first, 'After')).map(({ json, binary }) => {
			return { json: { ...json, voice: 'second' }, binary };
		});
		expect(inputs).toMatchObject([{ json: { status: 'done' }, binary: { data: {} } }]);
		service.faults.add({ route: 'list', action: unread });
		const failing = fails(service);
		const second = await start({ inputs, settings: onError, behindErrors: wait });
		await failing;
		await awake(second);
		const [item, ...others] = await given(second, 'Failed');
		expect(others).toEqual([]);
		return { item, taskId: service.creations(({ params }) => params.voice_id === 'second')[0]?.id };
	}
	const asleep = async () =>
		await until('it sleeps', () => host.executions.all().at(-1)?.status === 'waiting');

	test.each<[string, FaultAction]>([
		['rejected', refusal(422, { success: false, error: 'bad voice' })],
		['unknown', refusal(500, {})],
	])(
		'%s: the failure stays what it is, and nothing of the first task comes out',
		async (outcome, action) => {
			const { item } = await behind(async (service) => {
				service.faults.add(create(action));
				await Promise.resolve();
			});
			expect(item?.json).toMatchObject({ outcome, error: expect.any(String) as string });
			expect(JSON.stringify(item)).not.toContain(taskOf('first'));
		},
	);

	test('failed while it slept: its own failure, with its own task', async () => {
		const { item, taskId } = await behind(async (service) => {
			await asleep();
			await service.finish(taskOf('second'), 'error', { error_message: 'no luck' });
		});
		expect(item?.json).toMatchObject({
			error: `Task ${taskId} failed: no luck`,
			outcome: 'failed',
			task_id: taskId,
		});
		expect(JSON.stringify(item)).not.toContain(taskOf('first'));
	});

	test('undelivered while it slept: its own file is fetched', async () => {
		const { item, taskId } = await behind(async (service) => {
			await asleep();
			service.faults.add({ route: 'file', path: taskOf('second'), times: 1, action: unread });
			await service.finish(taskOf('second'));
		});
		expect(item?.json).toMatchObject({ status: 'done', task_id: taskId });
		expect(Object.keys(item?.binary ?? {})).toEqual(['data']);
		expect(outputsOf(item)[0]?.url).toContain(taskId);
	});
});
