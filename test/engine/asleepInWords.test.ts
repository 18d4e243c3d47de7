/** What a sleeping execution shows of itself in the editor, and Max Credits of a run that sleeps. */
import { workflowOf } from './editor';
import { mediaGeneration, mediaNode, type EngineResult } from './engine';
import { engineSetting, goOn, sound } from './setting';
import { until } from './until';
import { startWebhooks, type Execution, type WebhookHost } from './webhook';

const setting = engineSetting({ taskMs: 60_000 });
let host: WebhookHost;
beforeAll(async () => {
	host = await startWebhooks();
});
afterAll(async () => await host.close());

async function asleep(count: number, options: Record<string, number> = {}): Promise<Execution> {
	const { apiKey, baseUrl } = setting.service;
	const execution = await host.start({
		items: Array.from({ length: count }, (_, index) => ({ text: `${index}` })),
		parameters: {
			...sound(),
			waitMode: 'callback',
			downloadOutput: false,
			options: { gracePeriod: 0, ...options },
		},
		settings: goOn,
		credentials: { apiKey, baseUrl },
	});
	await execution.settled();
	expect(execution.status).toBe('waiting');
	return execution;
}

async function wake(execution: Execution): Promise<EngineResult> {
	for (const { id } of setting.service.creations()) await setting.service.finish(id);
	await until('the execution is over', () => execution.status === 'success');
	return await execution.settled();
}

/** What the editor shows: it evaluates the expression with nothing but the resume URL of the run's metadata. */
async function tooltip(resumeUrl: string): Promise<string> {
	const node = mediaNode({ parameters: {} });
	const workflow = workflowOf(node);
	const expression = mediaGeneration.description.waitingNodeTooltip;
	await workflow.expression.acquireIsolate();
	const shown: unknown = workflow.expression.getSimpleParameterValue(node, expression, 'internal', {
		$execution: { id: '1', mode: 'test', resumeUrl, resumeFormUrl: '' },
	});
	await workflow.expression.releaseIsolate();
	return String(shown);
}

test.each([
	[1, /^Asleep until its task is over, or until (.*) at the latest$/],
	[3, /^Asleep until its 3 tasks are over, or until (.*) at the latest$/],
])('%d tasks: how many, and until when', async (count, words) => {
	const before = Date.now();
	const execution = await asleep(count, { timeout: 7200 });
	const { run } = await execution.settled();
	const { resumeUrl = '' } = run.data.resultData.runData.Media?.[0]?.metadata ?? {};
	expect(resumeUrl).not.toContain('signature');
	const [, when = ''] = words.exec(await tooltip(resumeUrl)) ?? [];
	// Shown to the second.
	expect(Date.parse(when)).toBeGreaterThan(before + 7_200_000 - 1_000);
	expect(Date.parse(when)).toBeLessThan(Date.now() + 7_200_000 + 1_000);
	await wake(execution);
});

test('where n8n has no metadata to show, it says what it waits for', async () => {
	expect(await tooltip('https://n8n.example/webhook-waiting/1')).toBe(
		'Asleep until its tasks are over',
	);
});

test('Max Credits: what was created sleeps, the items left are invalid when it wakes', async () => {
	const execution = await asleep(4, { maximumCredits: 15 });
	expect(setting.service.creations()).toHaveLength(2);
	const { output } = await wake(execution);
	expect(output.map(({ json }) => json.outcome ?? json.status)).toEqual([
		'done',
		'done',
		'invalid',
		'invalid',
	]);
	expect(output[2]?.json.error).toMatch(/^Max Credits is reached: .* cost 20 credits/);
	expect(setting.attempts()).toBe(2);
});
