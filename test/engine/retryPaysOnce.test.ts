/** Retry On Fail, Retry of an execution and loops: what was paid for is taken up again, what was not is made. */
import { again, engineSetting, sound, steered } from './setting';

const setting = engineSetting();

describe('paid once', () => {
	const items = [{ text: 'One' }, { text: 'Two' }, { text: 'Three' }];

	/** Every evaluation gives another request. */
	const changing: Array<[string, object]> = [
		['the time in the text', sound('={{ "Rain at " + $now.toMillis() + Math.random() }}')],
		[
			'a random seed in Extra Body Fields',
			{ ...sound(), options: { extraFields: '={{ { seed: Math.random() } }}' } },
		],
		[
			'a random number in the path',
			{
				resource: 'speech',
				operation: 'generateByVoiceId',
				voiceId: '={{ "voice" + Math.random() }}',
				text: 'Hello',
			},
		],
	];

	describe.each(changing)('%s', (_, fields) => {
		const parameters = { ...fields } as ReturnType<typeof sound>;

		test('three items, of which one file is missing at first: three tasks', async () => {
			setting.service.faults.add({
				route: 'file',
				times: 1,
				action: { type: 'status', status: 404 },
			});
			const { output, error } = await setting.run({ items, parameters, settings: again });
			expect(error).toBeUndefined();
			expect(setting.attempts()).toBe(3);
			expect(output.map(({ json }) => json.task_id)).toEqual(
				setting.service.creations().map(({ id }) => id),
			);
		});

		test('an unclear creation is not sent again', async () => {
			setting.service.faults.add({
				route: 'create',
				times: 1,
				action: { type: 'processThenReset' },
			});
			const { error } = await setting.run({ parameters, settings: again });
			expect(setting.attempts()).toBe(1);
			expect(error?.message).toMatch(/the task may exist/);
		});
	});

	const random = sound('={{ "Rain " + Math.random() }}');

	test('four tries in vain: still one task for each item, and the error names them', async () => {
		setting.service.faults.add({ route: 'file', action: { type: 'status', status: 404 } });
		const { error } = await setting.run({
			items,
			parameters: random,
			settings: { ...again, maxTries: 4 },
		});
		expect(error?.message).toMatch(/could not be downloaded/);
		expect(setting.attempts()).toBe(3);
		for (const { id } of setting.service.creations())
			expect(`${error?.message} ${error?.description}`).toContain(id);
	}, 60_000);

	test('not waiting: what exists is not created again for what was refused', async () => {
		setting.service.faults.add({
			route: 'create',
			skip: 1,
			times: 1,
			action: { type: 'status', status: 400, body: { success: false, error: 'not now' } },
		});
		const { output, error } = await setting.run({
			items: items.slice(1),
			parameters: { ...random, waitForCompletion: false, options: { maxActiveTasks: 1 } },
			settings: again,
		});
		expect(error).toBeUndefined();
		expect(setting.service.creations()).toHaveLength(2);
		expect(output.map(({ json }) => json.task_id)).toEqual(
			setting.service.creations().map(({ id }) => id),
		);
	});

	test('with Continue On Fail: good items beside an unclear one are not paid again', async () => {
		setting.service.faults.add({ route: 'create', times: 1, action: { type: 'processThenReset' } });
		const { output } = await setting.run({
			items,
			parameters: { ...random, downloadOutput: false, options: { maxActiveTasks: 1 } },
			settings: { ...again, onError: 'continueRegularOutput' },
		});
		expect(output.map(({ json }) => json.outcome ?? json.status)).toEqual([
			'unknown',
			'done',
			'done',
		]);
		expect(setting.attempts()).toBe(3);
	});

	describe('what is made again, all the same', () => {
		test('a task that ended in an error, once in each try', async () => {
			const { error } = await setting.run({
				items: [{ text: 'Bad', stand_in: { ms: 50, end: 'error', error_message: 'no luck' } }],
				parameters: { ...random, options: steered },
				settings: again,
			});
			expect(error?.message).toMatch(/failed: no luck/);
			expect(setting.attempts()).toBe(3);
		});

		test('a creation that was refused', async () => {
			setting.service.faults.add({
				route: 'create',
				times: 1,
				action: { type: 'status', status: 400, body: { success: false, error: 'not now' } },
			});
			const { error } = await setting.run({ parameters: random, settings: again });
			expect(error).toBeUndefined();
			expect(setting.service.creations()).toHaveLength(1);
		});

		test('each round of a loop', async () => {
			const { error } = await setting.run({
				items: [{ text: 'Round' }],
				parameters: { ...random, downloadOutput: false },
				rounds: 2,
			});
			expect(error).toBeUndefined();
			expect(setting.service.creations()).toHaveLength(2);
		});
	});

	describe('n8n’s Retry of a failed execution', () => {
		const slow = [{ stand_in: { ms: 2_500 } }];
		const failing = {
			items: slow,
			parameters: {
				...sound('={{ $json.text ?? "Rain" }}'),
				downloadOutput: false,
				options: { ...steered, timeout: 1 },
			},
		};

		test('takes up the task of the same request', async () => {
			const { run, error } = await setting.run(failing);
			expect(error?.message).toMatch(/was not finished/);
			const retried = await setting.run({
				...failing,
				parameters: { ...failing.parameters, options: { ...steered, timeout: 60 } },
				retryOf: run,
			});
			expect(retried.error).toBeUndefined();
			expect(retried.output[0]?.json).toMatchObject({
				status: 'done',
				task_id: setting.service.creations()[0]?.id,
			});
			expect(setting.attempts()).toBe(1);
		});

		test('sends a creation again whose answer never came, and says so', async () => {
			setting.service.faults.add({
				route: 'create',
				times: 1,
				action: { type: 'processThenReset' },
			});
			const once = { parameters: { ...sound('Rain'), downloadOutput: false } };
			const { run } = await setting.run(once);
			const retried = await setting.run({ ...once, retryOf: run });
			expect(retried.output[0]?.json.status).toBe('done');
			expect(setting.attempts()).toBe(2);
			expect(retried.logs.join('\n')).toMatch(/has sent items 0 and got no answer.*sent again/);
			const [task] = retried.run.data.resultData.runData.Media ?? [];
			expect(JSON.stringify(task?.hints)).toContain(
				'Sent again after a creation without an answer',
			);
		});

		test('creates where the request is another one now', async () => {
			const { run } = await setting.run(failing);
			const retried = await setting.run({
				...failing,
				parameters: { ...failing.parameters, ...sound('Thunder'), options: { timeout: 60 } },
				retryOf: run,
			});
			expect(retried.error).toBeUndefined();
			expect(setting.service.creations().map(({ body }) => body.text)).toEqual(['Rain', 'Thunder']);
		});
	});
});

describe('Retry On Fail', () => {
	const parameters = { ...sound(), downloadOutput: false, options: steered };
	const again = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };

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
});
