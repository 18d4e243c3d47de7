/** The Callback URL of a creation: refused before anything is paid where nobody could call it, warned of, and kept secret. */
import type { EngineResult } from './engine';
import { engineSetting, goOn, SECRET, sound } from './setting';

const setting = engineSetting();
const PUBLIC = 'https://api.example.com';
const HOOK = 'https://n8n.example/webhook/1a2b/callback';
const creating = (callbackUrl: string, baseUrl?: string) => ({
	parameters: { ...sound(), waitForCompletion: false, callbackUrl },
	settings: goOn,
	...(baseUrl === undefined ? {} : { credentials: { baseUrl } }),
});

it.each([
	'http://0.0.0.0:5678/webhook/1',
	'http://[::]:5678/webhook/1',
	'http://localhost.:5678/webhook/1',
	'http://[::ffff:192.168.1.5]/webhook/1',
	'http://100.64.0.9/webhook/1',
	'http://n8n:5678/webhook/1',
])('%s can not be called by a service on the internet', async (callbackUrl) => {
	const { output } = await setting.run(creating(callbackUrl, PUBLIC));
	expect(output[0]?.json).toMatchObject({
		outcome: 'invalid',
		error: expect.stringMatching(/service can't reach .* Set N8N_WEBHOOK_URL/) as string,
	});
	expect(setting.service.requests).toEqual([]);
});

it('can be a private one for a private service', async () => {
	const { output } = await setting.run(creating('http://127.0.0.1:1/webhook/1'));
	expect(output[0]?.json.task_id).toEqual(expect.any(String));
});

it('is signed, with the reference, where the credential has a secret', async () => {
	const run = creating(HOOK);
	await setting.run({
		...run,
		parameters: { ...run.parameters, options: { callbackReference: 'order 7' } },
	});
	const sent = new URL(setting.bodies()[0]?.receive_url as string);
	expect(sent.origin + sent.pathname).toBe(HOOK);
	expect(sent.searchParams.get('reference')).toBe('order 7');
	expect(sent.searchParams.get('signed_for')).toBe('n8n.example/webhook/1a2b/callback');
	expect(sent.searchParams.get('signature')).toMatch(/^[\da-f]{64}$/);
	expect(sent.href).not.toContain(SECRET);
});

/** Not what every run says of the tasks it has made. */
function warningsOf({ data }: EngineResult['run']) {
	const hints = data.resultData.runData.Media?.[0]?.hints ?? [];
	return hints.filter(({ type }) => type === 'warning');
}

it.each([
	[1, /^The Callback URL is a Test URL .* Use the Production URL of a published workflow\.$/],
	[2, /but 2 tasks were given it/],
])('is warned of where it is a Test URL (%i tasks)', async (tasks, words) => {
	const items = Array.from({ length: tasks }, () => ({}));
	const { run, output } = await setting.run({
		...creating('https://n8n.example/webhook-test/1/callback'),
		items,
	});
	expect(output).toHaveLength(tasks);
	expect(warningsOf(run)).toEqual([
		expect.objectContaining({ message: expect.stringMatching(words) as string }),
	]);
});

it('is not warned of where it is another one', async () => {
	const { run } = await setting.run(creating(HOOK));
	expect(warningsOf(run)).toEqual([]);
});
