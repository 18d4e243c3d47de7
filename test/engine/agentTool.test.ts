/** The node as a tool of an AI agent: n8n gives each try a run index of its own, and rewrites messages that hold socket codes. */
import type { ToolAnswer } from './agent';
import { again, engineSetting, goOn, sound, steered } from './setting';

const setting = engineSetting();

describe('a tool', () => {
	const parameters = { ...sound('Rain'), downloadOutput: false, options: steered };
	/** Codes that n8n replaces a message for, and any other that looks like one. */
	const SOCKET_CODE = /\bE[A-Z]{4,}\b|\bEAI_|getaddrinfo/;

	function refused(answer: ToolAnswer | undefined): { message: string; description: string } {
		if (answer === undefined || answer.ok)
			throw new Error(`The tool did not fail: ${JSON.stringify(answer)}`);
		return answer;
	}

	/** What the tool answers for one item. */
	function itemOf(answer: ToolAnswer | undefined): Record<string, unknown> {
		if (answer?.ok !== true) throw new Error(`The tool failed: ${JSON.stringify(answer)}`);
		const [item] = answer.response as Array<Record<string, unknown>>;
		return item ?? {};
	}

	describe('Retry On Fail of a tool', () => {
		test('a text that is another one in each try: still one task', async () => {
			const { answers, runs } = await setting.runTool({
				parameters: {
					...parameters,
					text: "={{ 'It is ' + $now.toMillis() }}",
					options: { timeout: 1, extraFields: '{"stand_in":{"ms":2200}}' },
				},
				settings: again,
			});
			expect(runs).toBeGreaterThan(1);
			expect(setting.attempts()).toBe(1);
			expect(itemOf(answers[0]).status).toBe('done');
		});

		test('three tries in vain: one task, which the error names', async () => {
			const { answers, runs } = await setting.runTool({
				parameters: {
					...parameters,
					options: { timeout: 1, extraFields: '{"stand_in":{"never_ends":true}}' },
				},
				settings: again,
			});
			expect(runs).toBe(3);
			expect(setting.attempts()).toBe(1);
			expect(refused(answers[0]).message).toContain(setting.service.creations()[0]?.id);
		});

		test('an unclear creation is not sent again', async () => {
			const action = { type: 'processThenReset' } as const;
			setting.service.faults.add({ route: 'create', action });
			const { answers } = await setting.runTool({ parameters, settings: again });
			expect(setting.attempts()).toBe(1);
			const { message, description } = refused(answers[0]);
			expect(message).toMatch(/the task may exist/);
			expect(message).not.toMatch(/retry the request/i);
			expect(`${message} ${description}`).not.toMatch(SOCKET_CODE);
		});
	});

	describe('calls of one agent', () => {
		const fromAi = {
			...parameters,
			text: "={{ $fromAI('text', 'What to make', 'string') }}",
		};

		test.each([false, true])('two equal ones are two tasks; at once: %s', async (atOnce) => {
			const { answers } = await setting.runTool({
				parameters: fromAi,
				calls: [{ text: 'Rain' }, { text: 'Rain' }],
				atOnce,
				settings: again,
			});
			const ids = answers.map((answer) => itemOf(answer).task_id);
			expect(new Set(ids)).toEqual(new Set(setting.service.creations().map(({ id }) => id)));
			expect(setting.service.creations()).toHaveLength(2);
		});

		test('equal ones at once, each with a slow task and tries: none is paid twice, none is lost', async () => {
			setting.service.settings.taskMs = 1_700;
			const { answers } = await setting.runTool({
				parameters: { ...fromAi, options: { timeout: 1 } },
				calls: [{ text: 'Rain' }, { text: 'Rain' }],
				atOnce: true,
				settings: again,
			});
			expect(setting.attempts()).toBe(2);
			expect(new Set(answers.map((answer) => itemOf(answer).task_id))).toEqual(
				new Set(setting.service.creations().map(({ id }) => id)),
			);
		});
	});

	describe('no message holds a socket code', () => {
		test('looks that never succeed, a service that is not there, credits', async () => {
			const { service } = setting;
			const reset = { type: 'reset' } as const;
			for (const route of ['poll', 'credits'] as const)
				service.faults.add({ route, action: reset });
			service.faults.add({ route: 'create', path: '/lost', action: reset });
			const runs = {
				looks: { parameters: { ...parameters, options: { timeout: 2 } } },
				service: {
					parameters: { ...parameters, options: { timeout: 1 } },
					credentials: { baseUrl: 'http://127.0.0.1:9' },
				},
				credits: { parameters: { resource: 'credits', operation: 'get' } },
				creation: {
					parameters: {
						resource: 'speech',
						operation: 'generateByVoiceId',
						voiceId: 'lost',
						text: 'Hello',
					},
				},
			};
			const texts = await Promise.all(
				Object.entries(runs).map(async ([name, options]) => {
					const { error } = await setting.run(options);
					return [name, `${error?.message} ${error?.description}`];
				}),
			);
			const said = Object.fromEntries(texts) as Record<keyof typeof runs, string>;
			expect(said.looks).toMatch(/was not finished .* last look at it failed/);
			expect(said.service).toMatch(/could not be reached/);
			expect(said.credits).toMatch(/could not be read/);
			expect(said.creation).toMatch(/the task may exist/);
			expect(Object.entries(said).filter(([, text]) => SOCKET_CODE.test(text))).toEqual([]);
		});
	});
});

describe('Max Credits', () => {
	const limited = (maximumCredits: unknown, more: object = {}) => ({
		...sound(),
		downloadOutput: false,
		options: { ...steered, maximumCredits, ...more } as Record<string, string>,
	});
	const sounds = (count: number) =>
		Array.from({ length: count }, (_, index) => ({ text: `${index}` }));

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
});
