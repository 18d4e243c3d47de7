/** Sleeping with every On Error setting, with and without Retry On Fail, with items that end differently. */
import type { FaultAction } from '../service';
import { awake, ends, fieldsOf, given, sleepSetting, speaking } from './asleep';
import { again } from './setting';

const { setting, sleeping, taskOf } = sleepSetting();
const REFUSAL: FaultAction = {
	type: 'status',
	status: 422,
	body: { success: false, error: 'bad voice' },
};

/** The deadline is played by the test; this ends what n8n looks at meanwhile. */
const SOON = { timeout: 5 };

const onErrors = ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const;
type OnError = (typeof onErrors)[number];
const cases = onErrors.flatMap((onError) =>
	[false, true].map((retryOnFail): [OnError, boolean] => [onError, retryOnFail]),
);
const settingsOf = (onError: OnError, retryOnFail: boolean) => ({
	onError,
	...(retryOnFail ? again : {}),
});

beforeEach(() => {
	setting.service.faults.add({ route: 'create', path: '/bad', action: REFUSAL });
});

describe.each(cases)('On Error: %s, Retry On Fail: %s', (onError, retryOnFail) => {
	const settings = settingsOf(onError, retryOnFail);
	const branches = onError === 'continueErrorOutput';

	test('two tasks, two callbacks, two results with their files', async () => {
		const { service } = setting;
		const execution = await sleeping({
			items: [{ voice: 'one' }, { voice: 'two' }],
			parameters: speaking(),
			settings,
		});
		await service.finish(taskOf('two'));
		expect(execution.status).toBe('waiting');
		await service.finish(taskOf('one'));
		await awake(execution);
		expect(execution.status).toBe('success');
		expect(service.callbacks.every(({ status }) => status === 200 || status === 202)).toBe(true);
		const after = await given(execution, 'After');
		expect(after.map(({ json }) => json.task_id)).toEqual([taskOf('one'), taskOf('two')]);
		expect(ends(after)).toEqual(['done', 'done']);
		expect(after.map(({ binary }) => binary?.data?.mimeType)).toEqual(['audio/wav', 'audio/wav']);
		expect(after.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 1 }]);
		expect(await given(execution, 'Failed')).toEqual([]);
		expect(setting.attempts()).toBe(2);
	});

	test('at the deadline every task ID goes on', async () => {
		const execution = await sleeping({
			items: [{ voice: 'one' }, { voice: 'two' }],
			parameters: speaking(SOON),
			settings,
		});
		await execution.deadline();
		expect(execution.status).toBe('success');
		const after = await given(execution, 'After');
		expect(after.map(({ json }) => json.task_id)).toEqual([taskOf('one'), taskOf('two')]);
		expect(ends(after)).toEqual(['late', 'late']);
		expect(setting.attempts()).toBe(2);
	});

	test('a task that fails while the execution sleeps', async () => {
		const { service } = setting;
		const execution = await sleeping({
			items: [{ voice: 'one' }, { voice: 'two' }],
			parameters: speaking(),
			settings,
		});
		await service.finish(taskOf('one'), 'error', { error_message: 'no luck' });
		await service.finish(taskOf('two'));
		await awake(execution);
		expect(execution.status).toBe('success');
		const [after, failed] = [await given(execution, 'After'), await given(execution, 'Failed')];
		expect(ends(after)).toEqual(branches ? ['done'] : ['failed', 'done']);
		expect(ends(failed)).toEqual(branches ? ['failed'] : []);
		const [item] = branches ? failed : after;
		if (item === undefined) throw new Error('no item');
		expect(item.json.error).toBe(`Task ${taskOf('one')} failed: no luck`);
		expect(fieldsOf(item)).toMatchObject({
			outcome: 'failed',
			task_id: taskOf('one'),
			status: 'error',
		});
		expect(setting.attempts()).toBe(2);
	});

	test('a file that can’t be fetched after waking: its address goes on', async () => {
		const { service } = setting;
		service.faults.add({ route: 'file', path: '/', action: { type: 'status', status: 404 } });
		const execution = await sleeping({
			items: [{ voice: 'one' }],
			parameters: speaking(),
			settings,
		});
		await service.finish(taskOf('one'));
		await awake(execution);
		const items = await given(execution, branches ? 'Failed' : 'After');
		expect(items).toHaveLength(1);
		expect(fieldsOf(items[0] ?? { json: {} })).toMatchObject({
			outcome: 'undelivered',
			task_id: taskOf('one'),
			outputs: [{ url: expect.stringContaining(taskOf('one')) as string }],
		});
	});
});

describe.each(cases.filter(([onError]) => onError !== 'stopWorkflow'))(
	'beside a refused item, On Error: %s, Retry On Fail: %s',
	(onError, retryOnFail) => {
		const settings = settingsOf(onError, retryOnFail);
		const branches = onError === 'continueErrorOutput';
		const items = [{ voice: 'bad' }, { voice: 'one' }, { voice: 'two' }];

		test('two tasks are paid, and both come back', async () => {
			const { service } = setting;
			const execution = await sleeping({ items, parameters: speaking(), settings });
			expect(service.creations()).toHaveLength(2);
			await service.finish(taskOf('one'));
			await service.finish(taskOf('two'));
			await awake(execution);
			expect(execution.status).toBe('success');
			const [after, failed] = [await given(execution, 'After'), await given(execution, 'Failed')];
			expect(ends(after)).toEqual(branches ? ['done', 'done'] : ['rejected', 'done', 'done']);
			expect(ends(failed)).toEqual(branches ? ['rejected'] : []);
			const [item] = branches ? failed : after;
			if (item === undefined) throw new Error('no item');
			expect(item.json.error).toBe('The service refused the task (HTTP 422: bad voice)');
			expect(fieldsOf(item)).toMatchObject({
				outcome: 'rejected',
				http_status: 422,
			});
			expect(after.slice(-2).map(({ json }) => json.task_id)).toEqual([
				taskOf('one'),
				taskOf('two'),
			]);
			expect(service.creations()).toHaveLength(2);
		});

		test('at the deadline nothing is lost', async () => {
			const execution = await sleeping({ items, parameters: speaking(SOON), settings });
			await execution.deadline();
			const [after, failed] = [await given(execution, 'After'), await given(execution, 'Failed')];
			const all = [...after, ...failed];
			for (const voice of ['one', 'two'])
				expect(all.map(({ json }) => json.task_id)).toContain(taskOf(voice));
			expect(ends(all).sort()).toEqual(['late', 'late', 'rejected']);
			expect(setting.service.creations()).toHaveLength(2);
		});
	},
);

test('Retry On Fail: an empty "error" in a running task makes nothing new', async () => {
	const { service } = setting;
	const running = {
		status: 'doing',
		type: 'text_to_speech',
		progress: 10,
		metadata: {},
		error: '',
	};
	service.faults.add({ route: 'poll', action: { type: 'status', status: 200, body: running } });
	const execution = await sleeping({
		items: [{ voice: 'one' }, { voice: 'two' }],
		parameters: speaking(),
		settings: again,
	});
	expect(setting.attempts()).toBe(2);
	service.faults.clear();
	await service.finish(taskOf('one'));
	await service.finish(taskOf('two'));
	await awake(execution);
	expect(ends(await given(execution, 'After'))).toEqual(['done', 'done']);
	expect(setting.attempts()).toBe(2);
});
