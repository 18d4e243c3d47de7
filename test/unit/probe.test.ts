/** The probe against the stand-in: as expected where the service behaves as the nodes expect, and every quirk named where it does not. */
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:http';
import { probe } from '../../scripts/probe/index';
import { type Finding, printed } from '../../scripts/probe/findings';
import { defaultValues, type ProbeOptions } from '../../scripts/probe/making';
import { type ProfileName, type SettingsPatch, type StandIn, startService } from '../service';

const spend = true;
const PROFILE = 'Profile of the stand-in that it is like';
const SETTINGS = 'What to set in the nodes';

let service: StandIn | undefined;
afterEach(async () => await service?.close());

async function start(settings: SettingsPatch = {}, profile?: ProfileName): Promise<StandIn> {
	service = await startService({ profile, settings: { taskMs: 40, ...settings } });
	return service;
}

async function freePort(): Promise<number> {
	const server = createServer().listen(0);
	const { port } = server.address() as AddressInfo;
	await new Promise((resolve) => server.close(resolve));
	return port;
}

async function run(options: Partial<ProbeOptions> = {}) {
	if (service === undefined) throw new Error('The stand-in is not running');
	const { baseUrl, apiKey } = service;
	const pace = { pollMs: 5, patience: 10, watch: 0.2, port: 0, log: () => undefined };
	return await probe({ baseUrl, apiKey, ...defaultValues, ...pace, ...options });
}

const differing = (findings: Finding[]) =>
	findings.filter(({ verdict }) => /cope/.test(verdict)).map(({ question }) => question);
const seen = (findings: Finding[], question: string) =>
	findings.find((finding) => finding.question === question)?.seen;

describe('the probe', () => {
	it('makes nothing, unless it is told to spend', async () => {
		const stand = await start();
		const findings = await run();
		expect(differing(findings)).toEqual([]);
		expect(stand.creations()).toEqual([]);
		const posted = stand.requests.filter(({ method }) => method === 'POST');
		expect(posted.map(({ url }) => url)).toEqual(['/v1i/task/price', '/v1/task/delete']);
		const hidden = findings.filter(({ verdict }) => verdict === 'not shown');
		const unasked = ['Creation', 'Its file without a key', 'A callback', 'An expired key'];
		expect(hidden.map(({ question }) => question)).toEqual(expect.arrayContaining(unasked));
	});

	const signs =
		'health check, prices, deletion, voices of other providers, speech at v3, images as forms, dubbing';

	it('makes one task of each kind with --spend, names each, and finds a service as expected, for which nothing is to be set', async () => {
		const stand = await start({ lists: { tasks: true } });
		const log: string[] = [];
		const findings = await run({ spend, log: (text) => log.push(text) });
		expect(differing(findings)).toEqual([]);
		const kinds = stand.creations().map(({ kind }) => kind);
		expect(kinds.join()).toBe(
			'sound_effect,speech_by_id,speech_by_id,speech_by_name,image,sound_effect',
		);
		expect(stand.creations().map(({ body }) => body.previous_text)[2]).toBe('Zero.');
		const named = stand.creations().map(({ id }) => `${id}:`);
		expect(log.map((text) => text.split(' ')[1])).toEqual(named);
		expect(seen(findings, 'Creation (speech between other parts)')).toMatch(/^200/);
		expect(seen(findings, 'Its price (image)')).toBe('30 credits');
		expect(seen(findings, 'Shown by /v1e right after its creation (image)')).toMatch(/^200/);
		expect(seen(findings, PROFILE)).toBe(
			`specification. As today: nothing. As the specification: ${signs}, a list that cuts texts`,
		);
		expect(seen(findings, SETTINGS)).toBe('nothing: the defaults fit');
		expect(seen(findings, 'A task that runs, and is deleted')).toMatch(/^404, no word of a refund/);
		// The key goes to the service alone.
		const strangers = stand.requests.filter(({ host }) => host !== 'api');
		expect(strangers.length).toBeGreaterThan(0);
		expect(JSON.stringify(strangers)).not.toContain(stand.apiKey);
	});

	it("finds today's profile, and says what to set; speech goes to v3, once", async () => {
		const stand = await start({}, 'today');
		const findings = await run({ spend });
		expect(seen(findings, PROFILE)).toBe(
			`today. As today: ${signs}, a list that cuts texts. As the specification: nothing`,
		);
		expect(differing(findings)).toEqual(['The route of speech by voice ID']);
		expect(seen(findings, 'Creation (speech by voice ID)')).toMatch(/^200/);
		expect(stand.creations('speech_by_id').map(({ body }) => body.voice_id)).toEqual(
			Array(2).fill(`elevenlabs_${defaultValues.voiceId}`),
		);
		const deleted = seen(findings, 'A task that runs, and is deleted');
		expect(deleted).toBe('200, 10 credits back; then 404');
		expect(stand.active).toBe(0);
		const text = printed(findings);
		expect(text).toMatch(/^  What to set in the nodes: .*Image: Get Price can be used;/m);
		expect(text).not.toMatch(/-  Profile  -/);
	});

	it('names the quirks of a task that is under way', async () => {
		const { faults } = await start({
			statusNames: ['queued', 'rendering'],
			progress: 'backwards',
			doingErrorMessage: 'still warming up',
			noUrlLooks: 2,
			pollRoutes: { v1: ['sound_effect', 'speech_by_id', 'image'] },
			taskMs: 400,
		});
		// As of a task that its service does not show yet.
		const body = { success: false, error: 'Task not found' };
		const action = { type: 'status', status: 404, body } as const;
		faults.add({ route: 'poll', perTask: true, times: 2, action });
		const findings = await run({ spend });
		const quirks: Array<[question: string, words: RegExp]> = [
			['Its status while it runs (image)', /queued|rendering/],
			['error_message while it runs (image)', /^still warming up$/],
			['Its result when it is done (image)', /^2 looks without$/],
			['Progress (image)', /goes back/],
			['Shown by /v1 right after its creation (image)', /^404/],
			['Reads that said nothing about the task (speech by voice name)', /./],
		];
		for (const [question, words] of quirks) expect(seen(findings, question)).toMatch(words);
		expect(differing(findings)).toEqual(expect.arrayContaining(quirks.map(([quirk]) => quirk)));
		expect(seen(findings, 'Its end (speech by voice name)')).toBe('done');
	});

	it('sends a creation once, also when no answer comes', async () => {
		const stand = await start();
		stand.faults.add({ route: 'create', kind: 'image', action: { type: 'processThenReset' } });
		const findings = await run({ spend });
		expect(stand.creations('image')).toHaveLength(1);
		expect(seen(findings, 'Creation (image)')).toMatch(/^no answer/);
		expect(differing(findings)).toContain('Creation (image)');
	});

	it('names callbacks that are repeated after 503 and doubled after 200, or come before the creation is answered', async () => {
		await start({
			callbacks: { copies: 2, retryOn5xx: 3, retryDelayMs: 10, beforeCreationAnswer: true },
		});
		const port = await freePort();
		const callback = `http://127.0.0.1:${port}/from/service?kept=yes`;
		const findings = await run({ callback, port });
		expect(seen(findings, 'Sent again after 503')).toMatch(/^yes, after/);
		expect(seen(findings, 'Sent again after 200')).toMatch(/^yes, 1 more/);
		const differ = ['Before the creation was answered', 'Sent again after 200'];
		expect(differing(findings)).toEqual(differ);
	});

	it('prints a row for each finding and no key, not even one that the service repeats', async () => {
		const stand = await start();
		const { apiKey, faults } = stand;
		const another = stand.addKey().key;
		const body = { [apiKey]: apiKey, [another]: 1 };
		faults.add({ route: 'credits', times: 1, action: { type: 'status', status: 200, body } });
		const findings = await run();
		const text = printed(findings);
		expect(text).toContain('{(key): string, (key): number}');
		for (const key of [apiKey, another]) {
			expect(text).not.toContain(key);
			expect(JSON.stringify(findings)).not.toContain(key);
		}
		expect(seen(findings, 'Secrets in the list')).toBe('2 in full');
	});

	it('says what to do about each difference that the nodes do not cope with', async () => {
		const { faults } = await start();
		const body = { credits: '7' };
		faults.add({ route: 'credits', times: 1, action: { type: 'notObject', body } });
		const html = { type: 'status', status: 200, body: '<html>Welcome</html>' } as const;
		faults.add({ route: 'keys', action: html });
		const findings = await run();
		const text = printed(findings);
		expect(text).toMatch(/DIFFERS: copes +Shapes +Balance/);
		expect(text).toMatch(/DIFFERS: does not cope +Resources +Keys/);
		expect(text).toContain(
			'  Keys (GET /v1/api-keys): the nodes do not cope. Do without API Key: Get Many; nothing else needs the list.',
		);
		expect(text).toContain(
			`${findings.length - 2} questions, 2 answered otherwise than expected: the nodes cope with 1 of these, and not with 1.`,
		);
	});
});
