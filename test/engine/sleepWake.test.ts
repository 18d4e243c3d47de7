/** What wakes a sleeping execution: each callback comes once, and what it can't show yet is looked at again by ourselves. */
import type { FaultAction } from '../service';
import { awake, ends, given, sleepSetting, speaking } from './asleep';
import { until } from './until';

const sleep = sleepSetting();
const { setting, sleeping, start, taskOf } = sleep;
const BUSY = { success: false, code: 'server_busy' };

/** Items with a voice each: v0, v1, ... */
const voices = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ voice: `v${index}` }));
const busy = (retryAfter?: string): FaultAction => ({
	type: 'status',
	status: 503,
	body: BUSY,
	...(retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }),
});

test('"Task: Wait" sleeps and wakes, though nobody calls back', async () => {
	const { service } = setting;
	const { output } = await setting.run({
		items: voices(2),
		parameters: { ...speaking(), waitForCompletion: false },
	});
	const execution = await sleeping({
		items: output.map(({ json }) => json),
		parameters: {
			resource: 'task',
			operation: 'wait',
			taskId: '={{ $json.task_id }}',
			waitMode: 'callback',
			options: { gracePeriod: 0 },
		},
	});
	await service.finish(taskOf('v0'));
	await service.finish(taskOf('v1'));
	await awake(execution);
	const after = await given(execution, 'After');
	expect(ends(after)).toEqual(['done', 'done']);
	expect(after[1]?.json.task_id).toBe(taskOf('v1'));
	expect(after[1]?.binary?.data).toBeDefined();
	expect(service.callbacks).toEqual([]);
	expect(setting.attempts()).toBe(2);
});

describe('the last callback is not lost', () => {
	test('on a service that asks for a longer pause than a callback can wait', async () => {
		const { service } = setting;
		const execution = await sleeping({ items: voices(1), parameters: speaking() });
		service.faults.add({ route: 'poll', times: 1, action: busy('6') });
		await service.finish(taskOf('v0'));
		await awake(execution, 25_000);
		expect(ends(await given(execution, 'After'))).toEqual(['done']);
		expect(service.callbacks).toHaveLength(1);
	});

	test('on a service that is busy, throttles, resets, answers with a page, or refuses the key once', async () => {
		const { service } = setting;
		const troubles: Record<string, [number, FaultAction]> = {
			busy: [6, busy()],
			throttled: [6, { type: 'status', status: 429, body: BUSY }],
			reset: [6, { type: 'reset' }],
			page: [6, { type: 'html' }],
			refused: [1, { type: 'status', status: 401, body: { success: false } }],
		};
		const executions = await Promise.all(
			Object.keys(troubles).map(
				async (voice) => await sleeping({ items: [{ voice }], parameters: speaking() }),
			),
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
		sleep.host.executions.beforeSaving = async () =>
			await new Promise<void>((resolve) => (save = resolve));
		try {
			const execution = await start({ items: voices(1), parameters: speaking() });
			await until('the task was looked at', () => (service.tasks[0]?.polls ?? 0) > 0);
			await service.finish(taskOf('v0'));
			expect(service.callbacks.map(({ status }) => status)).toEqual([409]);
			save();
			await awake(execution, 40_000);
			expect(ends(await given(execution, 'After'))).toEqual(['done']);
		} finally {
			sleep.host.executions.beforeSaving = async () => await Promise.resolve();
		}
	}, 60_000);
});

describe('what a wake costs', () => {
	test('a callback is answered before a slow file is there, and a later one does not wait for it', async () => {
		const { service } = setting;
		// Eight seconds for its file, so that the first callback is answered before it is there.
		service.settings.fileBytesPerSecond = 25_000;
		const execution = await sleeping({
			items: [{ voice: 'v0', stand_in: { never_ends: true, bytes: 200_000 } }],
			parameters: speaking(),
		});
		await service.finish(taskOf('v0'));
		expect(service.callbacks.map(({ status }) => status)).toEqual([200]);
		const { status } = await service.sendCallback(taskOf('v0'));
		expect(status).toBeLessThan(500);
		// The one before is still being delivered.
		expect(execution.status).toBe('waiting');
		await awake(execution);
		const after = await given(execution, 'After');
		expect(after[0]?.binary?.data?.bytes).toBe(200_000);
		expect(service.requests.filter(({ route }) => route === 'file')).toHaveLength(1);
	});
});

test('n8n’s Retry of a failed run wakes the new execution, not the old one', async () => {
	const { service } = setting;
	service.faults.add({
		route: 'create',
		path: '/text-to-speech/v1',
		times: 1,
		action: { type: 'status', status: 422, body: { success: false, error: 'not now' } },
	});
	const failed = await start({ items: voices(2), parameters: speaking() });
	expect((await failed.settled()).error?.message).toMatch(/not now/);
	expect(failed.status).toBe('error');
	const paid = service.creations().length;
	const retried = sleep.host.executions.retry(failed.id);
	await retried.settled();
	expect(retried.status).toBe('waiting');
	expect(service.creations(({ params }) => params.voice_id === 'v0')).toHaveLength(1);
	expect(service.creations().length).toBeGreaterThanOrEqual(paid);
	await service.finish(taskOf('v1'));
	await service.finish(taskOf('v0'));
	await awake(retried, 40_000);
	expect(retried.status).toBe('success');
	expect(ends(await given(retried, 'After'))).toEqual(['done', 'done']);
	expect(failed.status).toBe('error');
}, 60_000);

test.each(['constructor', 'toString', 'valueOf', 'it\'s "{{ 1 }}" \\ `${x}`'])(
	'a node named %s wakes, or is refused before anything is paid',
	async (name) => {
		const { service } = setting;
		const execution = await start({
			name,
			items: voices(1),
			parameters: speaking(),
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
