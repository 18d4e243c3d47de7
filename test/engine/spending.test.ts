/** Max Credits: what a run may cost, according to the service, whichever way it says so; and the hint after each run. */
import type { NodeExecutionHint } from 'n8n-workflow';
import type { EngineResult } from './engine';
import { again, engineSetting, goOn, sound, steered } from './setting';

const setting = engineSetting();

const limited = (maximumCredits: unknown, more: object = {}) => ({
	...sound(),
	downloadOutput: false,
	options: { ...steered, maximumCredits, ...more } as Record<string, string>,
});
const sounds = (count: number) =>
	Array.from({ length: count }, (_, index) => ({ text: `${index}` }));
const outcomes = ({ output }: Pick<EngineResult, 'output'>) =>
	output.map(({ json }) => json.outcome ?? json.status ?? json.task_id);

function hints({ run }: EngineResult): string[] {
	const [task] = run.data.resultData.runData.Media ?? [];
	const all: NodeExecutionHint[] = task?.hints ?? [];
	for (const { message } of all) expect(message.length).toBeLessThanOrEqual(120);
	return all.map(({ message }) => message);
}

const words = {
	'the task': { answer: 'none', task: true, balance: false },
	'the answer': { answer: 'all', task: false, balance: false },
	'the balance': { answer: 'none', task: false, balance: true },
} as const;

describe.each(Object.entries(words))('where %s names the cost', (_, costNamed) => {
	beforeEach(() => Object.assign(setting.service.settings.costNamed, costNamed));

	test.each([false, true])(
		'the items left are invalid and say so (numbers as texts: %s)',
		async (texts) => {
			setting.service.settings.numbersAsStrings = texts;
			const result = await setting.run({
				items: sounds(5),
				parameters: limited(25),
				settings: goOn,
			});
			expect(outcomes(result)).toEqual(['done', 'done', 'done', 'invalid', 'invalid']);
			expect(setting.service.creations()).toHaveLength(3);
			expect(setting.attempts()).toBe(3);
			expect(result.output[3]?.json).toEqual({
				outcome: 'invalid',
				error:
					'Max Credits is reached: the tasks of this run cost 30 credits, and the option allows 25',
			});
			expect(hints(result)).toContain('3 tasks created, 30 credits according to the service');
		},
	);

	test('Retry On Fail counts what the try before has spent', async () => {
		const { error, run } = await setting.run({
			items: sounds(5),
			parameters: limited(20),
			settings: again,
		});
		expect(error?.message).toMatch(/^Max Credits is reached: .* cost 20 credits/);
		expect(run.data.resultData.runData.Media).toHaveLength(1);
		expect(setting.service.creations()).toHaveLength(2);
	});
});

test('creations go one at a time, each after the cost of the one before is known; the tasks run together', async () => {
	setting.service.settings.taskMs = 1500;
	await setting.run({ items: sounds(3), parameters: limited(1000), settings: goOn });
	const order = setting.service.requests
		.filter(({ route }) => route === 'create' || route === 'poll')
		.map(
			({ route, taskId }) =>
				`${route} ${setting.service.tasks.findIndex(({ id }) => id === taskId)}`,
		);
	expect(order.slice(0, 5)).toEqual(['create 0', 'poll 0', 'create 1', 'poll 1', 'create 2']);
	expect(setting.service.maxActive).toBe(3);
});

test('an estimate in the answer is enough: nobody looks for the cost', async () => {
	const result = await setting.run({
		items: sounds(3),
		parameters: {
			resource: 'image',
			operation: 'generate',
			prompt: '={{ $json.text }}',
			modelId: 'image-1',
			generationsCount: 2,
			waitForCompletion: false,
			options: { maximumCredits: 100 },
		},
		settings: goOn,
	});
	expect(outcomes(result).map((outcome) => outcome === 'invalid')).toEqual([false, false, true]);
	expect(setting.service.polls()).toHaveLength(0);
	expect(hints(result)).toContain('2 tasks created, 120 credits according to the service');
});

test('without waiting, the cost of the last task is in the hint too', async () => {
	const result = await setting.run({
		items: sounds(3),
		parameters: { ...limited(100), waitForCompletion: false },
	});
	expect(hints(result)).toEqual(['3 tasks created, 30 credits according to the service']);
});

test('where the service names no cost, nothing can be counted, and the hint says so', async () => {
	setting.service.settings.costNamed = { answer: 'none', task: false, balance: false };
	const result = await setting.run({ items: sounds(4), parameters: limited(5), settings: goOn });
	expect(outcomes(result)).toEqual(Array(4).fill('done'));
	expect(hints(result)).toEqual([
		'4 tasks created; their cost is not known',
		'Max Credits could not count 4 tasks, as the service named no cost for them',
	]);
});

test('a cost that is visible only after a while is waited for', async () => {
	setting.service.settings.visibleAfterMs = 400;
	setting.service.settings.costNamed = { answer: 'none', task: true, balance: false };
	const result = await setting.run({ items: sounds(3), parameters: limited(20), settings: goOn });
	expect(outcomes(result)).toEqual(['done', 'done', 'invalid']);
});

test('a failed task costs what the service says of it then: nothing', async () => {
	const items = [{ stand_in: { end: 'error' } }, ...sounds(4)];
	const result = await setting.run({
		items: items,
		parameters: limited(25, { maxActiveTasks: 1 }),
		settings: goOn,
	});
	expect(outcomes(result)).toEqual(['failed', 'done', 'done', 'done', 'invalid']);
	expect(hints(result)).toContain('4 tasks created, 30 credits according to the service');
});

test('without Continue the first item that is left out ends the run, and its error names what is paid for', async () => {
	const { error } = await setting.run({ items: sounds(3), parameters: limited(10) });
	expect(error?.message).toMatch(/^Max Credits is reached/);
	expect(error?.description).toMatch(
		/^No task was created for this item\. Raise the option Max Credits/,
	);
	expect(error?.description).toContain(setting.service.creations()[0]?.id);
	expect(setting.service.creations()).toHaveLength(1);
});

test('n8n’s Retry of a failed execution counts the tasks that it takes up', async () => {
	const parameters = limited(20, { timeout: 1 });
	const items = sounds(4).map((item) => ({ ...item, stand_in: { ms: 2000 } }));
	const first = await setting.run({
		items,
		parameters: { ...parameters, options: { ...parameters.options, maximumCredits: '30' } },
	});
	expect(first.error).toBeDefined();
	const made = setting.service.creations().length;
	expect(made).toBeGreaterThan(0);
	const second = await setting.run({
		items,
		parameters: limited(10 * made, { timeout: 60 }),
		retryOf: first.run,
		settings: goOn,
	});
	expect(setting.service.creations()).toHaveLength(made);
	expect(outcomes(second)).toEqual([
		...Array<string>(made).fill('done'),
		...Array<string>(4 - made).fill('invalid'),
	]);
});

test('a loop runs the node again, with the whole amount', async () => {
	const { run } = await setting.run({
		items: sounds(2),
		parameters: limited(10),
		settings: goOn,
		rounds: 2,
	});
	expect(run.data.resultData.runData.Media).toHaveLength(2);
	expect(setting.service.creations()).toHaveLength(2);
});

test.each([false, true])(
	'as a tool all calls of an execution count (at once: %s)',
	async (atOnce) => {
		const { answers } = await setting.runTool({
			parameters: { ...limited(25), text: "={{ $fromAI('text', 'Text', 'string') }}" },
			calls: sounds(5),
			atOnce,
		});
		expect(setting.service.creations()).toHaveLength(3);
		expect(answers.filter(({ ok }) => !ok)).toHaveLength(2);
		expect(JSON.stringify(answers)).toMatch(/Max Credits is reached/);
	},
);

describe('bad input is refused before anything is sent', () => {
	test.each<[string, unknown]>([
		['below zero', -1],
		['a word', 'much'],
		['an expression that leads to nothing', '={{ $json.nothing }}'],
		['an empty text', ''],
		['a list', '={{ [5] }}'],
	])('%s', async (_, maximum) => {
		const { error } = await setting.run({ parameters: limited(maximum) });
		expect(error?.message).toBe('The option "Max Credits" must be a number of at least 0');
		expect(error?.description).toMatch(/remove the option .* Nothing was sent\.$/);
		expect(setting.service.requests).toHaveLength(0);
	});

	test('zero lets nothing be created', async () => {
		const { output } = await setting.run({ parameters: limited(0), settings: goOn });
		expect(output[0]?.json.outcome).toBe('invalid');
		expect(setting.attempts()).toBe(0);
	});
});

describe('the hint after a run', () => {
	test('says how many tasks were created, and what they cost', async () => {
		const result = await setting.run({
			items: [...sounds(1), { text: '' }],
			parameters: { ...sound('={{ $json.text }}'), downloadOutput: false },
			settings: goOn,
		});
		expect(hints(result)).toEqual([
			'1 of 2 items failed, see the field "outcome"',
			'1 task created, 10 credits according to the service',
		]);
	});

	test('says so where no answer names a cost and nobody looks', async () => {
		const result = await setting.run({
			items: sounds(2),
			parameters: { ...sound(), waitForCompletion: false },
		});
		expect(hints(result)).toEqual(['2 tasks created; their cost is not known']);
	});

	test('partly', async () => {
		const result = await setting.run({
			items: sounds(2),
			parameters: {
				...sound(),
				downloadOutput: false,
				waitForCompletion: '={{ $itemIndex === 0 }}',
			},
		});
		expect(hints(result)).toEqual([
			'2 tasks created, at least 10 credits according to the service; not known for 1 of them',
		]);
	});

	test('counts what an earlier try has created, and nothing that was made elsewhere', async () => {
		setting.service.faults.add({
			host: 'files',
			times: 4,
			action: { type: 'status', status: 500 },
		});
		const taken = await setting.run({ parameters: sound(), settings: again });
		expect(taken.error).toBeUndefined();
		expect(hints(taken)).toEqual(['1 task created, 10 credits according to the service']);
		const taskId = taken.output[0]?.json.task_id as string;
		const waited = await setting.run({
			parameters: { resource: 'task', operation: 'wait', taskId, downloadOutput: false },
		});
		expect(hints(waited)).toEqual([]);
	});
});

describe('Min Credits', () => {
	test('does not keep a try from taking up what is paid for', async () => {
		setting.service.settings.credits = 15;
		const { output, error } = await setting.run({
			parameters: {
				...sound(),
				downloadOutput: false,
				options: { minimumCredits: 10, timeout: 1, extraFields: '{"stand_in":{"ms":1800}}' },
			},
			settings: again,
		});
		expect(error).toBeUndefined();
		expect(output[0]?.json.status).toBe('done');
		expect(setting.service.creations()).toHaveLength(1);
	});

	test.each([
		[9, 'invalid'],
		[10, 'done'],
	])('of 10, with a balance of %d: %s', async (credits, end) => {
		setting.service.settings.credits = credits;
		const { output } = await setting.run({
			parameters: { ...sound(), downloadOutput: false, options: { minimumCredits: 10 } },
			settings: goOn,
		});
		expect(output[0]?.json.outcome ?? output[0]?.json.status).toBe(end);
	});

	test('says that nothing was created for the item', async () => {
		setting.service.settings.credits = 5;
		const { error } = await setting.run({
			parameters: { ...sound(), options: { minimumCredits: 10 } },
		});
		expect(error?.description).toMatch(/Nothing was created for this item\.$/);
	});
});

describe('where each task is made and its answer lost', () => {
	const lost = { route: 'create', action: { type: 'processThenStatus', status: 502 } } as const;

	test('the balance says what they cost, and the limit holds', async () => {
		setting.service.faults.add(lost);
		const result = await setting.run({
			items: sounds(12),
			parameters: limited(25),
			settings: goOn,
		});
		expect(setting.service.creations()).toHaveLength(3);
		expect(outcomes(result)).toEqual([...Array(3).fill('unknown'), ...Array(9).fill('invalid')]);
	});

	test('and the balance can not be read: no more than that one', async () => {
		setting.service.faults.add(lost);
		setting.service.faults.add({ route: 'credits', action: { type: 'status', status: 500 } });
		const result = await setting.run({ items: sounds(4), parameters: limited(25), settings: goOn });
		expect(setting.service.creations()).toHaveLength(1);
		expect(outcomes(result)).toEqual(['unknown', 'invalid', 'invalid', 'invalid']);
		expect(result.output[3]?.json.error).toMatch(/can no longer be kept/);
	});
});
