/** Nothing outlasts its time: no answer that drips, no pause that the service asks for, no clock that is set back. */
import type { FaultAction } from '../service';
import { engineSetting, goOn, sound, steered } from './setting';

const setting = engineSetting();

describe('the time of a run', () => {
	const parameters = { ...sound(), downloadOutput: false };

	/** Far more than the Timeout of these tests and the 2 s beside it, and far less than what they are to be kept from. */
	const GENEROUS_MS = 10_000;

	describe('looks that never come to an end', () => {
		const endless: Array<[string, FaultAction]> = [
			['a byte every 100 ms', { type: 'drip' }],
			['a byte every second', { type: 'drip', everyMs: 1_000 }],
			['nothing at all', { type: 'stall' }],
		];
		test.each(endless)('%s: timed_out, and the task is named', async (_, action) => {
			setting.service.faults.add({ route: 'poll', action });
			const { output } = await setting.runWithin(GENEROUS_MS, {
				parameters: { ...parameters, options: { timeout: 2 } },
				settings: goOn,
			});
			expect(output[0]?.json).toMatchObject({
				outcome: 'timed_out',
				task_id: setting.service.creations()[0]?.id,
			});
		});
	});

	test('an answer that drips but comes to its end is an answer', async () => {
		setting.service.faults.add({ route: 'poll', action: { type: 'drip', ms: 1_200 } });
		const { output } = await setting.run({ parameters });
		expect(output[0]?.json.status).toBe('done');
	});

	describe('a Retry-After beyond the deadline ends the wait at once', () => {
		const refusals: Array<[string, number, object]> = [
			['a rate limit', 429, { success: false, message: 'Too many requests' }],
			['a full account', 429, { success: false, code: 'active_task_limit' }],
			['a limit without a name', 429, { success: false }],
			['a busy service', 503, { success: false, code: 'server_busy' }],
		];
		test.each(refusals)('of a creation: %s', async (_, status, body) => {
			const headers = { 'retry-after': '120' };
			setting.service.faults.add({
				route: 'create',
				action: { type: 'status', status, body, headers },
			});
			const { output } = await setting.runWithin(GENEROUS_MS, {
				parameters: { ...parameters, options: { timeout: 60 } },
				settings: goOn,
				credentials: setting.ownAccount(),
			});
			expect(output[0]?.json).toMatchObject({ outcome: 'rejected', http_status: status });
			expect(setting.attempts()).toBe(1);
		});

		test('of looks: the verdict comes no later than the deadline', async () => {
			setting.service.faults.add({
				route: 'poll',
				action: {
					type: 'status',
					status: 503,
					body: { success: false, code: 'server_busy' },
					headers: { 'retry-after': '120' },
				},
			});
			const { output } = await setting.runWithin(GENEROUS_MS, {
				items: [{}, {}],
				parameters: { ...parameters, options: { timeout: 3 } },
				settings: goOn,
				credentials: setting.ownAccount(),
			});
			expect(output.map(({ json }) => json.outcome)).toEqual(['timed_out', 'timed_out']);
			expect(output.map(({ json }) => json.task_id)).toEqual(
				setting.service.creations().map(({ id }) => id),
			);
		});
	});

	test('pauses that follow each other outlast no deadline', async () => {
		const busy: FaultAction = {
			type: 'status',
			status: 429,
			body: { success: false, message: 'Too many requests' },
			headers: { 'retry-after': '2' },
		};
		setting.service.faults.add({ route: 'create', skip: 3, action: busy });
		setting.service.faults.add({ route: 'poll', action: busy });
		const { output } = await setting.runWithin(GENEROUS_MS, {
			items: Array.from({ length: 8 }, () => ({ stand_in: { never_ends: true } })),
			parameters: { ...parameters, options: { ...steered, timeout: 3 } },
			settings: goOn,
			credentials: setting.ownAccount(),
		});
		const outcomes = output.map(({ json }) => json.outcome);
		expect(outcomes.filter((outcome) => outcome === 'timed_out')).toHaveLength(3);
		expect(outcomes.filter((outcome) => outcome === 'rejected')).toHaveLength(5);
		expect(setting.service.creations()).toHaveLength(3);
	});
});

describe('a clock that is set back', () => {
	const parameters = { ...sound(), downloadOutput: false, options: steered };
	const HOUR = 3_600_000;
	const GENEROUS_MS = 15_000;

	/** The shortest pause that counts as one. */
	const PAUSE_MS = 100;

	/** Sets the clock of this process back at the beginning of the first pause after something has happened. */
	function setBackOnce(hasHappened: () => boolean) {
		const { setTimeout } = globalThis;
		let isSetBack = false;
		const begin = (act: () => void, ms = 0) => {
			if (!isSetBack && ms >= PAUSE_MS && hasHappened()) {
				isSetBack = true;
				const now = Date.now.bind(Date);
				jest.spyOn(Date, 'now').mockImplementation(() => now() - HOUR);
			}
			return setTimeout(act, ms);
		};
		jest.spyOn(globalThis, 'setTimeout').mockImplementation(begin);
		return { isSetBack: () => isSetBack };
	}

	afterEach(() => jest.restoreAllMocks());

	const wasRefused = () => setting.service.requests.some(({ status }) => status === 429);

	/** One task, as the answer to a look at another one would end a pause. */
	const wasLookedAt = () => (setting.service.tasks[0]?.polls ?? 0) > 0;

	test('while a task is waited for', async () => {
		const clock = setBackOnce(wasLookedAt);
		const { output } = await setting.runWithin(GENEROUS_MS, {
			items: [{ stand_in: { ms: 3_000 } }],
			parameters,
		});
		expect(clock.isSetBack()).toBe(true);
		expect(output[0]?.json.status).toBe('done');
	});

	test('while the account is paused', async () => {
		const { service } = setting;
		service.faults.add({
			route: 'create',
			times: 1,
			action: {
				type: 'status',
				status: 429,
				body: { success: false, message: 'Too many requests' },
				headers: { 'retry-after': '2' },
			},
		});
		const clock = setBackOnce(wasRefused);
		const { output } = await setting.runWithin(GENEROUS_MS, {
			parameters,
			credentials: setting.ownAccount(),
		});
		expect(clock.isSetBack()).toBe(true);
		expect(output[0]?.json.status).toBe('done');
	});

	test('a task that never ends is still given up in time, or soon after', async () => {
		const { service } = setting;
		const clock = setBackOnce(wasLookedAt);
		const { output } = await setting.runWithin(GENEROUS_MS, {
			items: [{ stand_in: { never_ends: true } }],
			parameters: { ...parameters, options: { ...steered, timeout: 3 } },
			settings: goOn,
		});
		expect(clock.isSetBack()).toBe(true);
		expect(output[0]?.json).toMatchObject({ outcome: 'timed_out', task_id: service.tasks[0]?.id });
	});
});
