/** Retry On Fail and loops: what was paid for is taken up again, what was not is made. */
import { engineSetting, sound, steered } from './setting';

const setting = engineSetting();
const parameters = { ...sound(), downloadOutput: false, options: steered };
const again = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };

function attempts(): number {
	return setting.service.requests.filter(({ route }) => route === 'create').length;
}

describe('Retry On Fail', () => {
	test('a task that was not finished in time is taken up again, not created again', async () => {
		const items = [
			{ text: 'Quick', stand_in: { ms: 50 } },
			{ text: 'Slow', stand_in: { ms: 1_900 } },
		];
		const { output, error } = await setting.run({
			items,
			parameters: { ...parameters, options: { ...steered, timeout: 1 } },
			settings: again,
		});
		expect(error).toBeUndefined();
		expect(output.map(({ json }) => json.status)).toEqual(['done', 'done']);
		expect(setting.service.creations().map(({ body }) => body.text)).toEqual(['Quick', 'Slow']);
		expect(output.map(({ json }) => json.task_id)).toEqual(
			setting.service.creations().map(({ id }) => id),
		);
	});

	test('with Min Credits, which what is created already has used up', async () => {
		const { service } = setting;
		service.settings.credits = 20;
		const items = [{ text: 'One', stand_in: { ms: 1_900 } }];
		const { output, error } = await setting.run({
			items,
			parameters: { ...parameters, options: { ...steered, timeout: 1, minimumCredits: 15 } },
			settings: again,
		});
		expect(error).toBeUndefined();
		expect(output.map(({ json }) => json.task_id)).toEqual(service.creations().map(({ id }) => id));
		expect(service.creations()).toHaveLength(1);
	});

	test('a task that ended in an error is made again, its good sibling is not', async () => {
		const { service } = setting;
		const items = [
			{ text: 'Good', stand_in: { ms: 50 } },
			{ text: 'Bad', stand_in: { ms: 50, end: 'error', error_message: 'no luck' } },
		];
		const { error } = await setting.run({ items, parameters, settings: again });
		expect(error?.message).toMatch(/^Task .* failed: no luck$/);
		expect(service.creations(({ body }) => body.text === 'Good')).toHaveLength(1);
		expect(service.creations(({ body }) => body.text === 'Bad')).toHaveLength(3);
		expect(error?.description).toContain(
			String(service.creations(({ body }) => body.text === 'Good')[0]?.id),
		);
	});

	test('an unclear creation is never sent again, and its words stay', async () => {
		setting.service.faults.add({
			route: 'create',
			times: 1,
			action: { type: 'processThenStatus', status: 502 },
		});
		const { error } = await setting.run({ parameters, settings: again });
		expect(error?.message).toMatch(/HTTP 502.*the task may exist/);
		expect(error?.description).toMatch(/was not sent again/);
		expect(attempts()).toBe(1);
		expect(setting.service.creations()).toHaveLength(1);
	});

	test('a refused creation was not paid for, so the next try sends it', async () => {
		setting.service.faults.add({
			route: 'create',
			times: 1,
			action: { type: 'status', status: 400, body: { success: false, error: 'not now' } },
		});
		const { output, error } = await setting.run({ parameters, settings: again });
		expect(error).toBeUndefined();
		expect(output[0]?.json.status).toBe('done');
		expect(attempts()).toBe(2);
		expect(setting.service.creations()).toHaveLength(1);
	});

	test('a file that could not be had is fetched by the next try, from the same task', async () => {
		setting.service.faults.add({
			route: 'file',
			times: 1,
			action: { type: 'status', status: 404 },
		});
		const { output, error } = await setting.run({ parameters: sound(), settings: again });
		expect(error).toBeUndefined();
		expect(output[0]?.binary?.data?.mimeType).toBe('audio/wav');
		expect(setting.service.creations()).toHaveLength(1);
	});

	test('not waiting: tasks that exist are not created again for one that was refused', async () => {
		setting.service.faults.add({
			route: 'create',
			skip: 1,
			times: 1,
			action: { type: 'status', status: 400, body: { success: false, error: 'not now' } },
		});
		const { output, error } = await setting.run({
			items: [{ text: 'One' }, { text: 'Two' }],
			parameters: { ...parameters, waitForCompletion: false, options: { maxActiveTasks: 1 } },
			settings: again,
		});
		expect(error).toBeUndefined();
		expect(setting.service.creations().map(({ body }) => body.text)).toEqual(['One', 'Two']);
		expect(output.map(({ json }) => json.task_id)).toEqual(
			setting.service.creations().map(({ id }) => id),
		);
	});
});

describe('Retry On Fail together with Continue On Fail', () => {
	const both = { ...again, onError: 'continueRegularOutput' as const };

	test('an unclear first item is not sent again, and the other items are not paid again', async () => {
		const { service } = setting;
		service.faults.add({
			route: 'create',
			path: '/unclear',
			action: { type: 'processThenReset' },
		});
		const { output } = await setting.run({
			items: [{ voice: 'unclear' }, { voice: 'clear' }],
			parameters: {
				resource: 'speech',
				operation: 'generateByVoiceId',
				voiceId: '={{ $json.voice }}',
				text: 'Hello',
			},
			settings: both,
		});
		expect(output.map(({ json }) => json.outcome ?? json.status)).toEqual(['unknown', 'done']);
		expect(output[1]?.binary?.data?.mimeType).toBe('audio/wav');
		expect(service.creations().map(({ params }) => params.voice_id)).toEqual(
			expect.arrayContaining(['clear', 'unclear']),
		);
		expect(attempts()).toBe(2);
	});

	test('a first item that is not finished in time is waited for again', async () => {
		const { output } = await setting.run({
			items: [{ stand_in: { ms: 1_900 } }, { stand_in: { ms: 50 } }],
			parameters: { ...parameters, options: { ...steered, timeout: 1 } },
			settings: both,
		});
		expect(output.map(({ json }) => json.status)).toEqual(['done', 'done']);
		expect(attempts()).toBe(2);
	});
});

test('a loop that runs the node again creates again', async () => {
	const { run, error } = await setting.run({ parameters: { ...parameters }, rounds: 2 });
	expect(error).toBeUndefined();
	expect(run.data.resultData.runData.Media).toHaveLength(2);
	expect(setting.service.creations()).toHaveLength(2);
	const ids = run.data.resultData.runData.Media?.map(
		({ data }) => data?.main?.[0]?.[0]?.json.task_id,
	);
	expect(new Set(ids)).toEqual(new Set(setting.service.creations().map(({ id }) => id)));
});

test('equal items of one run are different tasks', async () => {
	const { output } = await setting.run({ items: [{}, {}, {}], parameters });
	expect(new Set(output.map(({ json }) => json.task_id)).size).toBe(3);
	expect(setting.service.creations()).toHaveLength(3);
});
