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
			expect(setting.bodies()).toHaveLength(3);
			expect(output.map(({ json }) => json.task_id)).toEqual(
				setting.service.creations().map(({ id }) => id),
			);
		});
	});

	describe('n8n’s Retry of a failed execution', () => {
		const slow = [{ stand_in: { ms: 2_500 } }];
		const failing = {
			items: slow,
			parameters: {
				...sound('Rain'),
				downloadOutput: false,
				options: { ...steered, timeout: 1 },
			},
		};

		test('takes up the task of the same request', async () => {
			const { id, error } = await setting.run(failing);
			expect(error?.message).toMatch(/was not finished/);
			const retried = await setting.run({
				...failing,
				parameters: { ...failing.parameters, options: { ...steered, timeout: 60 } },
				retryOf: id,
			});
			expect(retried.error).toBeUndefined();
			expect(retried.output[0]?.json).toMatchObject({
				status: 'done',
				task_id: setting.service.creations()[0]?.id,
			});
			expect(setting.attempts()).toBe(1);
		});
	});
});
