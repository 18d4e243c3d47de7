/** A clock that is set back delays nothing by more than one pause. */
import { engineSetting, goOn, sound, steered } from './setting';

const setting = engineSetting();
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

test('while a creation waits for capacity', async () => {
	const { service } = setting;
	service.faults.add({
		route: 'create',
		times: 3,
		action: { type: 'status', status: 429, body: { success: false, code: 'active_task_limit' } },
	});
	const clock = setBackOnce(wasRefused);
	const { output } = await setting.runWithin(GENEROUS_MS, {
		parameters,
		credentials: setting.ownAccount(),
	});
	expect(clock.isSetBack()).toBe(true);
	expect(output[0]?.json.status).toBe('done');
	expect(service.creations()).toHaveLength(1);
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
