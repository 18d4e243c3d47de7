/** A clock that is set back delays nothing by more than one pause. */
import { engineSetting, goOn, sound, steered } from './setting';
import { quiet, until } from './until';

const setting = engineSetting();
const parameters = { ...sound(), downloadOutput: false, options: steered };
const HOUR = 3_600_000;
const GENEROUS_MS = 15_000;

/** Sets the clock of this process back, once the node has read the answer that the stand-in has just given. */
async function setBack(ms: number) {
	await quiet(300);
	const now = Date.now.bind(Date);
	jest.spyOn(Date, 'now').mockImplementation(() => now() - ms);
}

afterEach(() => jest.restoreAllMocks());

test('while tasks are waited for', async () => {
	const { service } = setting;
	const running = setting.runWithin(GENEROUS_MS, {
		items: [{ stand_in: { ms: 3_000 } }, { stand_in: { ms: 3_500 } }],
		parameters,
	});
	running.catch(() => undefined);
	await until(
		'both were looked at',
		() => service.tasks.filter(({ polls }) => polls > 0).length === 2,
	);
	await setBack(HOUR);
	const { output } = await running;
	expect(output.map(({ json }) => json.status)).toEqual(['done', 'done']);
});

test('while a creation waits for capacity', async () => {
	const { service } = setting;
	service.faults.add({
		route: 'create',
		times: 3,
		action: { type: 'status', status: 429, body: { success: false, code: 'active_task_limit' } },
	});
	const running = setting.runWithin(GENEROUS_MS, { parameters, credentials: setting.ownAccount() });
	running.catch(() => undefined);
	await until('it was refused', () => service.requests.some(({ status }) => status === 429));
	await setBack(HOUR);
	const { output } = await running;
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
	const running = setting.runWithin(GENEROUS_MS, { parameters, credentials: setting.ownAccount() });
	running.catch(() => undefined);
	await until('it was refused', () => service.requests.some(({ status }) => status === 429));
	await setBack(HOUR);
	const { output } = await running;
	expect(output[0]?.json.status).toBe('done');
});

test('a task that never ends is still given up in time, or soon after', async () => {
	const { service } = setting;
	const running = setting.runWithin(GENEROUS_MS, {
		items: [{ stand_in: { never_ends: true } }],
		parameters: { ...parameters, options: { ...steered, timeout: 3 } },
		settings: goOn,
	});
	running.catch(() => undefined);
	await until('it was looked at', () => (service.tasks[0]?.polls ?? 0) > 0);
	await setBack(HOUR);
	const { output } = await running;
	expect(output[0]?.json).toMatchObject({ outcome: 'timed_out', task_id: service.tasks[0]?.id });
});
