/** What a wait survives and when it ends: stray answers, throttling, answers that never end, a clock that is set back. */
import type { IDataObject } from 'n8n-workflow';
import type { FaultAction, FaultRule } from '../service';
import { engineSetting, goOn, sound, steered } from './setting';

const setting = engineSetting();
const parameters = { ...sound(), downloadOutput: false, options: steered };
/** Far more than the Timeout of these tests, and far less than what they are to be kept from. */
const GENEROUS_MS = 12_000;
const PAGE = '<html><head><title>401</title></head><body>Please wait</body></html>';
const EXPIRED = { success: false, error: 'API key expired' };
const RATE = { success: false, message: 'Too many requests' };
const BUSY = { success: false, code: 'server_busy' };

function refusal(status: number, body: unknown, retryAfter?: string): FaultAction {
	const headers: Record<string, string> =
		retryAfter === undefined ? {} : { 'retry-after': retryAfter };
	return { type: 'status', status, body, headers };
}

/** Runs the node for an account of its own, with these faults; what came of the first item, whose task is the first. */
async function waited(rules: FaultRule[], options: object = {}, items: IDataObject[] = [{}]) {
	for (const rule of rules) setting.service.faults.add(rule);
	const { output } = await setting.runWithin(GENEROUS_MS, {
		items,
		parameters: { ...parameters, options: { ...steered, ...options } },
		settings: goOn,
		credentials: setting.ownAccount(),
	});
	const [task] = setting.service.creations();
	return { output, json: output[0]?.json, taskId: task?.id };
}

describe('a 401 or 403 while polling', () => {
	test.each([
		['401 from an edge', 401, PAGE],
		['403 as JSON', 403, EXPIRED],
	])('one %s, and the wait goes on', async (_, status, body) => {
		const rule = { route: 'poll', times: 1, action: refusal(status, body) } as const;
		const { json, taskId } = await waited([rule]);
		expect(json).toMatchObject({ status: 'done', task_id: taskId });
	});
});

describe('a status without a task', () => {
	test.each([
		{ status: 'error', message: 'Too many requests' },
		{ status: 'error', id: 'req_1', type: 'api_error', message: 'Internal error' },
		{ status: 'done', id: 'another', metadata: { audio_url: 'https://files.example/a.mp3' } },
	])('%j while polling: the wait goes on', async (body) => {
		const rule = { route: 'poll', times: 1, action: refusal(200, body) } as const;
		const { json, taskId } = await waited([rule]);
		expect(setting.attempts()).toBe(1);
		expect(json).toMatchObject({ status: 'done', task_id: taskId });
		expect(JSON.stringify(json)).not.toContain('files.example');
	});

	test('for good: not failed, but not finished in time', async () => {
		const action = refusal(200, { status: 'error', message: 'Too many requests' });
		const { json, taskId } = await waited([{ route: 'poll', action }], { timeout: 3 });
		expect(json).toMatchObject({ outcome: 'timed_out', task_id: taskId });
	});
});

describe('no longer than its Timeout', () => {
	test.each<[string, FaultAction]>([
		['looks that come a byte at a time', { type: 'drip' }],
		['looks that are never answered', { type: 'stall' }],
		['looks that are to come back after the deadline', refusal(503, BUSY, '120')],
	])('%s: timed_out, and the task is named', async (_, action) => {
		const { json, taskId } = await waited([{ route: 'poll', action }], { timeout: 2 });
		expect(json).toMatchObject({ outcome: 'timed_out', task_id: taskId });
	});

	test('a creation that is to come back after the deadline ends at once', async () => {
		const { json } = await waited([{ route: 'create', action: refusal(429, RATE, '120') }], {
			timeout: 60,
		});
		expect(json).toMatchObject({ outcome: 'rejected', http_status: 429 });
		expect(setting.attempts()).toBe(1);
	});

	test('pauses that follow each other', async () => {
		const action = refusal(429, RATE, '2');
		const { output } = await waited(
			[
				{ route: 'create', skip: 3, action },
				{ route: 'poll', action },
			],
			{ timeout: 3 },
			Array.from({ length: 8 }, () => ({ stand_in: { never_ends: true } })),
		);
		const outcomes = output.map(({ json }) => json.outcome).sort();
		const expected = [...Array<string>(5).fill('rejected'), ...Array<string>(3).fill('timed_out')];
		expect(outcomes).toEqual(expected);
		expect(setting.service.creations()).toHaveLength(3);
	});
});

describe('no tight loop', () => {
	const kinds = ['0', '0.001', new Date('2020-01-01').toUTCString(), '-1', 'soon', ''];

	test.each<[string, number, object]>([
		['a rate limit', 429, RATE],
		['a busy service', 503, BUSY],
	])('creations that are refused: %s', async (_, status, body) => {
		for (const [index, retryAfter] of kinds.entries())
			setting.service.faults.add({
				route: 'create',
				path: `/voice-${index}`,
				action: refusal(status, body, retryAfter),
			});
		const asked = await Promise.all(
			kinds.map(async (_kind, index) => {
				const { output } = await setting.runWithin(GENEROUS_MS, {
					parameters: {
						resource: 'speech',
						operation: 'generateByVoiceId',
						voiceId: `voice-${index}`,
						text: 'Hello',
						options: { timeout: 2 },
					},
					settings: goOn,
					credentials: setting.ownAccount(),
				});
				expect(output[0]?.json.outcome).toBe('rejected');
				return setting.service.requests.filter(({ url }) => url.includes(`/voice-${index}`)).length;
			}),
		);
		// In 2 s, with pauses of at least some 400 ms.
		expect(asked.filter((count) => count < 2 || count > 8)).toEqual([]);
	});

	test('looks that are throttled', async () => {
		const rules = kinds.map((retryAfter): FaultRule => ({
			route: 'poll',
			probability: 1 / kinds.length,
			action: refusal(503, BUSY, retryAfter),
		}));
		const last: FaultRule = { route: 'poll', action: refusal(503, BUSY, '0') };
		const { json } = await waited([...rules, last], { timeout: 3 });
		expect(json?.outcome).toBe('timed_out');
		expect(setting.service.polls().length).toBeLessThanOrEqual(16);
	});
});

describe('a clock that is set back', () => {
	/** Sets the clock of this process back by an hour at the beginning of the first pause after something has happened. */
	function setBackOnce(hasHappened: () => boolean) {
		const { setTimeout } = globalThis;
		let isSetBack = false;
		const begin = (act: () => void, ms = 0) => {
			if (!isSetBack && ms >= 100 && hasHappened()) {
				isSetBack = true;
				const now = Date.now.bind(Date);
				jest.spyOn(Date, 'now').mockImplementation(() => now() - 3_600_000);
			}
			return setTimeout(act, ms);
		};
		jest.spyOn(globalThis, 'setTimeout').mockImplementation(begin);
		return { isSetBack: () => isSetBack };
	}
	afterEach(() => jest.restoreAllMocks());

	const wasLookedAt = () => (setting.service.tasks[0]?.polls ?? 0) > 0;
	const wasRefused = () => setting.service.requests.some(({ status }) => status === 429);
	const paused: FaultRule = { route: 'create', times: 1, action: refusal(429, RATE, '2') };
	const endless = { stand_in: { never_ends: true } };

	test.each<[string, () => boolean, FaultRule[], IDataObject, string]>([
		['while a task is waited for', wasLookedAt, [], { stand_in: { ms: 3_000 } }, 'done'],
		['while the account is paused', wasRefused, [paused], {}, 'done'],
		['while a task never ends', wasLookedAt, [], endless, 'timed_out'],
	])('%s', async (_, hasHappened, rules, item, end) => {
		const clock = setBackOnce(hasHappened);
		const { json } = await waited(rules, { timeout: end === 'done' ? 60 : 3 }, [item]);
		expect(clock.isSetBack()).toBe(true);
		expect(json?.outcome ?? json?.status).toBe(end);
	});
});
