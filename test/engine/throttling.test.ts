/** A pause is about what it was said of, and no Retry-After allows a tight loop. */
import type { FaultAction } from '../service';
import { engineSetting, goOn, sound, steered } from './setting';
import { until } from './until';
import { startWebhooks, type WebhookHost } from './webhook';

const setting = engineSetting();
const parameters = { ...sound(), downloadOutput: false, options: steered };
const GENEROUS_MS = 12_000;

function refusal(status: number, body: object, retryAfter: string): FaultAction {
	return { type: 'status', status, body, headers: { 'retry-after': retryAfter } };
}
const CAP = { success: false, error: 'This API key has reached its daily spend limit' };
const FULL = { success: false, code: 'active_task_limit', message: 'Too many active tasks' };
const RATE = { success: false, message: 'Too many requests' };
const BUSY = { success: false, code: 'server_busy' };

describe('what a creation is refused for pauses no looks', () => {
	test('a daily cap', async () => {
		setting.service.faults.add({ route: 'create', skip: 1, action: refusal(429, CAP, '60') });
		const { output } = await setting.runWithin(GENEROUS_MS, {
			items: [{ stand_in: { ms: 1_500 } }, {}],
			parameters: { ...parameters, options: { ...steered, maxActiveTasks: 2 } },
			settings: goOn,
			credentials: setting.ownAccount(),
		});
		expect(output.map(({ json }) => json.outcome ?? json.status)).toEqual(['done', 'rejected']);
	});
});

describe('what an outsider can cause by posting to a trigger pauses nothing', () => {
	let host: WebhookHost;
	beforeAll(async () => {
		host = await startWebhooks();
	});
	afterAll(async () => await host.close());

	test('40 made-up callbacks, whose looks are throttled', async () => {
		const { service } = setting;
		service.faults.add({
			route: 'poll',
			path: '/made-up',
			action: refusal(503, BUSY, '300'),
		});
		const { apiKey } = setting.ownAccount();
		const trigger = host.publish({
			credentials: { apiKey, baseUrl: service.baseUrl, callbackSecret: '' },
		});
		const running = setting.runWithin(20_000, {
			items: [{ stand_in: { ms: 2_500 } }],
			parameters,
			credentials: { apiKey },
		});
		running.catch(() => undefined);
		await until('a task is waited for', () => service.creations().length === 1);
		const posts = Array.from(
			{ length: 40 },
			async (_, index) => await host.post(trigger.url, { id: `made-up-${index}`, status: 'done' }),
		);
		await until('the service was asked', () =>
			service.polls().some(({ status, url }) => status === 503 && url.includes('made-up')),
		);
		const later = await setting.runWithin(GENEROUS_MS, { parameters, credentials: { apiKey } });
		expect(later.output[0]?.json.status).toBe('done');
		expect((await running).output[0]?.json.status).toBe('done');
		for (const { status } of await Promise.all(posts)) expect([404, 503]).toContain(status);
		expect(trigger.executions()).toEqual([]);
	}, 60_000);
});

describe('no tight loop', () => {
	const past = new Date('2020-01-01').toUTCString();
	const kinds = ['0', '0.001', past, '-1', 'soon', ''];
	const refusals: Array<[string, number, object]> = [
		['a full account', 429, FULL],
		['a rate limit', 429, RATE],
		['a busy service', 503, BUSY],
		['a limit without a name', 429, {}],
	];
	/** In 2 s, with pauses of at least some 400 ms. */
	const FEW = 8;

	test.each(refusals)('creations that are refused: %s', async (_, status, body) => {
		for (const retryAfter of kinds) {
			setting.service.faults.add({
				route: 'create',
				path: `/voice-${kinds.indexOf(retryAfter)}`,
				action: refusal(status, body, retryAfter),
			});
		}
		const asked = await Promise.all(
			kinds.map(async (retryAfter, index) => {
				const { output } = await setting.runWithin(GENEROUS_MS, {
					parameters: {
						resource: 'speech',
						operation: 'generateByVoiceId',
						voiceId: `voice-${index}`,
						text: 'Hello',
						options: { timeout: 2 },
					},
					settings: goOn,
					// Refused before it is looked at, so any key will do: an account for each.
					credentials: { apiKey: `sk_account-${status}-${index}` },
				});
				expect(output[0]?.json.outcome).toBe('rejected');
				const { requests } = setting.service;
				return [retryAfter, requests.filter(({ url }) => url.includes(`/voice-${index}`)).length];
			}),
		);
		expect(asked.filter(([, count]) => Number(count) > FEW)).toEqual([]);
		expect(asked.filter(([, count]) => Number(count) < 2)).toEqual([]);
	});

	test('looks that are throttled', async () => {
		const { service } = setting;
		kinds.forEach((retryAfter, index) =>
			service.faults.add({
				route: 'poll',
				path: `/v1${index % 2 === 0 ? '' : 'e'}/task/`,
				probability: 1 / kinds.length,
				action: refusal(503, BUSY, retryAfter),
			}),
		);
		service.faults.add({ route: 'poll', action: refusal(503, BUSY, '0') });
		const { output } = await setting.runWithin(GENEROUS_MS, {
			parameters: { ...parameters, options: { timeout: 3 } },
			settings: goOn,
			credentials: setting.ownAccount(),
		});
		expect(output[0]?.json.outcome).toBe('timed_out');
		expect(service.polls().length).toBeLessThanOrEqual(16);
	});
});
