/** Sleeping with every On Error setting, with and without Retry On Fail, with items that end differently. */
import type { FaultAction } from '../service';
import { awake, ends, fieldsOf, given, sleepSetting, speaking } from './asleep';
import { again } from './setting';

const { setting, sleeping, taskOf } = sleepSetting();
const refused = (status: number, error: string): FaultAction => ({
	type: 'status',
	status,
	body: { success: false, error },
});

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
			action: refused(422, 'bad voice'),
		});
	});

	test('each item comes to its own end, and is paid for once', async () => {
		const { service } = setting;
		const execution = await sleeping({ items, parameters: speaking(), settings });
		const action = refused(404, 'gone');
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

	test('at the deadline every task ID goes on', async () => {
		const execution = await sleeping({ items, parameters: speaking({ timeout: 5 }), settings });
		await execution.deadline();
		expect(execution.status).toBe('success');
		const [after, failed] = [await given(execution, 'After'), await given(execution, 'Failed')];
		const late = [...after, ...failed].filter(({ json }) => json.timed_out === true);
		expect(late.map(({ json }) => json.task_id)).toEqual(voices.map(taskOf));
		expect(ends(failed)).toEqual(apart(bad.map(() => 'rejected')));
		expect(setting.service.creations()).toHaveLength(voices.length);
	});
});

test('Retry On Fail: an empty "error" in a running task makes nothing new', async () => {
	const { service } = setting;
	const body = { status: 'doing', type: 'text_to_speech', progress: 10, metadata: {}, error: '' };
	service.faults.add({ route: 'poll', action: { type: 'status', status: 200, body } });
	const execution = await sleeping({
		items: [{ voice: 'one' }],
		parameters: speaking(),
		settings: again,
	});
	service.faults.clear();
	await service.finish(taskOf('one'));
	await awake(execution);
	expect(ends(await given(execution, 'After'))).toEqual(['done']);
	expect(setting.attempts()).toBe(1);
});
