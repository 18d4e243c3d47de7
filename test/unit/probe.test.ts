/** The probe against the stand-in: as expected where the service behaves as the nodes expect, and every quirk named where it does not. */
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:http';
import { probe, type ProbeOptions } from '../../scripts/probe/index';
import type { Finding } from '../../scripts/probe/findings';
import { defaultValues } from '../../scripts/probe/kinds';
import { printed } from '../../scripts/probe/printed';
import { type SettingsPatch, type StandIn, startService } from '../service';

const pace = { pollMs: 5, patienceMs: 10_000 };
const spend = { ...defaultValues, ...pace };

let service: StandIn | undefined;
afterEach(async () => await service?.close());

async function start(settings: SettingsPatch = {}): Promise<StandIn> {
	service = await startService({ settings: { taskMs: 40, ...settings } });
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
	return await probe({ baseUrl, apiKey, ...options });
}

async function callbackOptions() {
	const port = await freePort();
	const url = `http://127.0.0.1:${port}/from/service?kept=yes`;
	return { url, port, patienceMs: 10_000, watchMs: 200 };
}

const differing = (findings: Finding[]) =>
	findings.filter(({ differs }) => differs === true).map(({ question }) => question);
const seen = (findings: Finding[], question: string) =>
	findings.find((finding) => finding.question === question)?.seen;

describe('the probe', () => {
	it('reads only, unless it is told to spend', async () => {
		const stand = await start();
		const findings = await run();
		expect(differing(findings)).toEqual([]);
		expect(stand.creations()).toEqual([]);
		expect(new Set(stand.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
		expect(
			findings.filter((finding) => finding.seen === undefined).map(({ expected }) => expected),
		).toEqual(expect.arrayContaining(['see -- --spend', 'see -- --callback URL']));
	});

	it('makes one task of each kind with --spend, names each, and finds a service that behaves as expected', async () => {
		const stand = await start();
		const log: string[] = [];
		const findings = await run({ spend, log: (text) => log.push(text) });
		expect(differing(findings)).toEqual([]);
		expect(stand.creations().map(({ kind }) => kind)).toEqual([
			'sound_effect',
			'speech_by_id',
			'speech_by_name',
			'image',
		]);
		expect(log.map((text) => text.split(' ')[1])).toEqual(
			stand.creations().map(({ id }) => `${id}:`),
		);
		expect(seen(findings, 'Price of a image')).toBe('30 credits');
		expect(seen(findings, 'Right after its creation, /v1e shows a image')).toBe('yes');
	});

	it('names the quirks of shapes', async () => {
		await start({
			creditsShape: 'string',
			keysShape: 'array',
			taskShape: 'wrapped',
			numbersAsStrings: true,
			outputAtRoot: true,
			fileType: 'application/octet-stream',
		});
		const findings = await run({ spend });
		expect(differing(findings)).toEqual(
			expect.arrayContaining([
				'Balance (GET /v1/credits)',
				'Keys (GET /v1/api-keys)',
				'sound effect: where the task stands',
				'Creation of a sound effect: numbers',
				'sound effect: its metadata',
				'File of a sound effect: its type',
			]),
		);
		expect(differing(findings)).not.toContain('Balance: can the nodes read it?');
		expect(seen(findings, 'sound effect: where the task stands')).toBe('in "data"');
		expect(seen(findings, 'File of a sound effect: its type')).toBe('application/octet-stream');
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
		faults.add({
			route: 'poll',
			perTask: true,
			times: 2,
			action: { type: 'status', status: 404, body: { success: false, error: 'Task not found' } },
		});
		const findings = await run({ spend });
		expect(seen(findings, 'Names of a running image')).toMatch(/queued|rendering/);
		expect(seen(findings, 'error_message of a running image')).toBe('still warming up');
		expect(seen(findings, 'A image that is done')).toBe('2 looks without');
		expect(seen(findings, 'Progress of a image')).toContain('goes back');
		expect(seen(findings, 'Right after its creation, /v1 shows a image')).toMatch(/^no: 404/);
		expect(differing(findings)).toEqual(
			expect.arrayContaining([
				'Names of a running image',
				'Progress of a image',
				'error_message of a running image',
				'A image that is done',
				'Right after its creation, /v1 shows a image',
				'Looks at a speech by voice name that said nothing of it',
			]),
		);
		expect(seen(findings, 'speech by voice name: its end')).toBe('done');
	});

	it('names a service that refuses inside 200, throttles, and answers a wrong key with a page', async () => {
		const { faults } = await start({ refusalStyle: 'insideHttp200' });
		faults.add({
			route: 'credits',
			times: 1,
			skip: 1,
			action: { type: 'status', status: 401, body: '<html>Denied</html>' },
		});
		faults.add({
			route: 'poll',
			times: 2,
			skip: 2,
			action: {
				type: 'status',
				status: 429,
				body: { success: false },
				headers: { 'retry-after': '3', 'x-ratelimit-remaining': '0' },
			},
		});
		const findings = await run({ spend });
		expect(seen(findings, 'A wrong key')).toBe('401, HTML');
		expect(seen(findings, 'A creation without its text')).toMatch(/^200 \{success: boolean/);
		expect(seen(findings, '5 looks at once')).toContain('429');
		expect(seen(findings, 'Requests that were throttled or failed')).toBe('2 x 429');
		expect(seen(findings, 'Headers about rate limits')).toBe('retry-after, x-ratelimit-remaining');
		expect(differing(findings)).toEqual(
			expect.arrayContaining([
				'A wrong key',
				'A creation without its text',
				'5 looks at once',
				'Requests that were throttled or failed',
			]),
		);
	});

	it('sends a creation once, also when no answer comes', async () => {
		const stand = await start();
		stand.faults.add({ route: 'create', kind: 'image', action: { type: 'processThenReset' } });
		const findings = await run({ spend });
		expect(stand.creations('image')).toHaveLength(1);
		expect(seen(findings, 'Creation of a image')).toMatch(/^no answer/);
		expect(differing(findings)).toContain('Creation of a image');
	});

	it('watches a callback: how it comes, and that none is repeated', async () => {
		const stand = await start();
		const findings = await run({ callback: await callbackOptions() });
		expect(stand.creations()).toHaveLength(1);
		expect(stand.creations()[0]?.receiveUrl).toMatch(/\/from\/service\?kept=yes&probe=[\w-]{36}$/);
		expect(differing(findings)).toEqual([]);
		expect(seen(findings, 'Sent again after 503')).toBe('no');
	});

	it('names callbacks that are repeated after 503 and doubled after 200, or come before the creation is answered', async () => {
		await start({
			callbacks: { copies: 2, retryOn5xx: 3, retryDelayMs: 10, beforeCreationAnswer: true },
		});
		const findings = await run({ callback: await callbackOptions() });
		expect(seen(findings, 'Sent again after 503')).toMatch(/^yes, after/);
		expect(seen(findings, 'Sent again after 200')).toMatch(/^yes, 1 more/);
		expect(differing(findings)).toEqual([
			'Before the creation was answered',
			'Sent again after 200',
		]);
	});

	it('says so when no callback comes', async () => {
		await start({ callbacks: { drop: true } });
		const findings = await run({ callback: { ...(await callbackOptions()), patienceMs: 200 } });
		expect(seen(findings, 'A callback')).toBe('did not come');
		expect(differing(findings)).toEqual(['A callback']);
	});

	it('prints a row for each finding and no key, not even one that the service repeats', async () => {
		const stand = await start();
		const { apiKey, faults } = stand;
		const another = stand.addKey().key;
		faults.add({
			route: 'credits',
			times: 1,
			action: { type: 'status', status: 200, body: { [apiKey]: apiKey, [another]: 1 } },
		});
		const findings = await run();
		const text = printed(findings);
		expect(text).toContain('{(key): string, (key): number}');
		for (const key of [apiKey, another]) {
			expect(text).not.toContain(key);
			expect(JSON.stringify(findings)).not.toContain(key);
		}
		expect(seen(findings, 'Secrets in the list')).toBe('2 in full');
		const count = differing(findings).length;
		expect(count).toBeGreaterThan(0);
		expect(text.match(/^ {2}DIFFERS/gm)).toHaveLength(count);
		expect(text).toContain(`${findings.length} questions, ${count} answered otherwise`);
	});

	it('gives the key to the service alone', async () => {
		const { requests, apiKey } = await start();
		await run({ spend });
		const strangers = requests.filter(({ host }) => host !== 'api');
		expect(strangers.length).toBeGreaterThan(0);
		expect(JSON.stringify(strangers)).not.toContain(apiKey);
	});
});
