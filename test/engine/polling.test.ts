import type { FaultAction } from '../service';
import { engineSetting, goOn, sound, steered } from './setting';

const setting = engineSetting();
const parameters = { ...sound(), downloadOutput: false };

describe('a look that fails is not a task that failed', () => {
	const troubles: Array<[string, FaultAction]> = [
		[
			'503 server_busy',
			{ type: 'status', status: 503, body: { success: false, code: 'server_busy' } },
		],
		[
			'429',
			{
				type: 'status',
				status: 429,
				body: { message: 'slow down' },
				headers: { 'retry-after': '1' },
			},
		],
		['500', { type: 'status', status: 500 }],
		[
			'busy inside 200',
			{ type: 'status', status: 200, body: { success: false, message: 'server busy' } },
		],
		['a reset connection', { type: 'reset' }],
		['an empty body', { type: 'emptyBody' }],
		['a web page', { type: 'html' }],
		['half a JSON', { type: 'malformedJson' }],
		['something else than a task', { type: 'notObject', body: [1, 2] }],
		['404 for a moment', { type: 'status', status: 404, body: { error: 'not found' } }],
	];
	test('all kinds of trouble, one item each', async () => {
		const { service } = setting;
		for (const [, action] of troubles) {
			service.faults.add({ route: 'poll', times: 1, action });
		}
		const items = troubles.map(([text]) => ({ text }));
		const { output, error } = await setting.run({ items, parameters });
		expect(error).toBeUndefined();
		expect(output.map(({ json }) => json.status)).toEqual(troubles.map(() => 'done'));
		expect(service.creations()).toHaveLength(troubles.length);
		const troubled = service.polls().filter(({ fault }) => fault !== undefined && fault !== null);
		expect(troubled.length).toBeGreaterThanOrEqual(troubles.length);
	});

	test('a task that answers 404 for a while after its creation', async () => {
		setting.service.settings.visibleAfterMs = 1500;
		const { output } = await setting.run({ parameters });
		expect(output[0]?.json.status).toBe('done');
	});

	test('a task that only the other route knows; the route is remembered', async () => {
		const { service } = setting;
		service.settings.pollRoutes = { v1: [], v1e: ['sound_effect'] };
		await setting.run({ parameters });
		const before = service.polls().length;
		const { output } = await setting.run({ items: [{}, {}], parameters });
		expect(output.map(({ json }) => json.status)).toEqual(['done', 'done']);
		const asked = service.polls().slice(before);
		expect(asked.every(({ url }) => url.startsWith('/v1e/'))).toBe(true);
		service.settings.pollRoutes = { v1: ['sound_effect'], v1e: ['sound_effect'] };
		await setting.run({ parameters: { ...parameters, options: { pollRoute: 'v1' } } });
		expect(service.polls().at(-1)?.url).toMatch(/^\/v1\/task\//);
	});

	test('done without any file is looked at three times more, then named', async () => {
		setting.service.settings.noUrlLooks = 2;
		const patient = await setting.run({ parameters });
		expect(patient.output[0]?.json.status).toBe('done');
		setting.service.settings.noUrlLooks = 1000;
		const { output } = await setting.run({ parameters, settings: goOn });
		expect(output[0]?.json).toMatchObject({ outcome: 'undelivered', status: 'done' });
		expect(output[0]?.json.error).toMatch(/names no output file; its metadata /);
		const taskId = output[0]?.json.task_id as string;
		expect(setting.service.polls(taskId)).toHaveLength(4);
	}, 40_000);
});

describe('outcomes', () => {
	test('failed: the service’s words, with and without Continue On Fail', async () => {
		const items = [{ stand_in: { end: 'error', error_message: 'no such sound', ms: 50 } }];
		const { output } = await setting.run({
			items,
			parameters: { ...parameters, options: steered },
			settings: goOn,
		});
		const taskId = setting.service.tasks[0]?.id;
		expect(output[0]?.json).toEqual({
			error: `Task ${taskId} failed: no such sound`,
			outcome: 'failed',
			task_id: taskId,
			status: 'error',
		});
		const { error } = await setting.run({ items, parameters: { ...parameters, options: steered } });
		expect(error?.message).toMatch(/failed: no such sound/);
		expect(error?.description).toMatch(/refund/);
	});

	test('timed_out, by error and by item, and the task serves Task: Wait without a second payment', async () => {
		const items = [{ stand_in: { ms: 3500 } }];
		const options = { ...steered, timeout: 1 };
		const { output } = await setting.run({
			items,
			parameters: { ...parameters, options },
			settings: goOn,
		});
		expect(output[0]?.json).toMatchObject({ outcome: 'timed_out', status: 'doing' });
		expect(output[0]?.json.error).toMatch(
			/was not finished after 1 s; its last status was "doing"/,
		);
		const taskId = output[0]?.json.task_id as string;
		const waited = await setting.run({
			items: [{ task_id: taskId }],
			parameters: { resource: 'task', operation: 'wait', taskId: '={{ $json.task_id }}' },
		});
		expect(waited.output[0]?.json).toMatchObject({ task_id: taskId, status: 'done' });
		expect(waited.output[0]?.binary?.data).toBeDefined();
		expect(setting.service.creations()).toHaveLength(1);
		const returned = await setting.run({
			items,
			parameters: { ...parameters, options: { ...options, onTimeout: 'returnTask' } },
		});
		expect(returned.error).toBeUndefined();
		expect(returned.output[0]?.json).toMatchObject({ status: 'doing', timed_out: true });
		expect(returned.output[0]?.json.task_id).toBe(setting.service.tasks[1]?.id);
	});

	test.each([401, 403])(
		'unreachable when the key stops opening it, which a second look confirms: %d',
		async (status) => {
			setting.service.faults.add({
				route: 'poll',
				action: { type: 'status', status, body: { success: false, error: 'API key expired' } },
			});
			const { error } = await setting.run({ parameters });
			const taskId = setting.service.tasks[0]?.id ?? '';
			expect(error?.message).toBe(
				`Task ${taskId} exists, but the service refused to show it (HTTP ${status}): HTTP ${status}: API key expired`,
			);
			expect(error?.description).toContain(`still of use: ${taskId}`);
			expect(setting.service.polls(taskId)).toHaveLength(2);
		},
	);

	test('one failed item among many: the good ones are kept, in order', async () => {
		const items = [50, 60, 70, 80].map((ms, index) => ({
			stand_in: index === 2 ? { end: 'error', ms } : { ms },
		}));
		const { output } = await setting.run({
			items,
			parameters: { ...parameters, options: steered },
			settings: goOn,
		});
		expect(output.map(({ json }) => json.outcome ?? json.status)).toEqual([
			'done',
			'done',
			'failed',
			'done',
		]);
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual(items.map((_, item) => ({ item })));
	});

	test('the error branch gets the failed items with all their fields', async () => {
		const items = [
			{ name: 'good', stand_in: { ms: 50 } },
			{ name: 'bad', stand_in: { end: 'error', ms: 50 } },
		];
		const { output, errorOutput, run } = await setting.run({
			items,
			parameters: { ...parameters, options: steered },
			settings: { onError: 'continueErrorOutput' },
		});
		expect(output).toHaveLength(1);
		expect(errorOutput).toHaveLength(1);
		expect(errorOutput[0]?.json).toMatchObject({ outcome: 'failed', status: 'error', name: 'bad' });
		expect(errorOutput[0]?.json.task_id).toBe(
			setting.service.tasks.find(({ status }) => status === 'error')?.id,
		);
		expect(run.data.resultData.runData.Failed?.[0]?.data?.main?.[0]).toHaveLength(1);
	});
});
