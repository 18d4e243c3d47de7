/** The node as a tool of an AI agent: n8n gives each try a run index of its own, and rewrites messages that hold socket codes. */
import type { ToolAnswer } from './agent';
import { again, engineSetting, sound, steered } from './setting';

const setting = engineSetting();

describe('a tool', () => {
	const parameters = { ...sound('Rain'), downloadOutput: false, options: steered };
	/** Codes that n8n replaces a message for, and any other that looks like one. */
	const SOCKET_CODE = /\bE[A-Z]{4,}\b|\bEAI_|getaddrinfo/;

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
