/** One answer that is not about the task neither ends a paid wait nor changes what is known of it. */
import type { FaultAction, JsonObject } from '../service';
import { again, engineSetting, goOn, sound } from './setting';

const setting = engineSetting();
const parameters = { ...sound(), downloadOutput: false };
const PAGE = '<html><head><title>401</title></head><body>Please wait</body></html>';
const EXPIRED = { success: false, error: 'API key expired' };
/** What is not a task, though it has a status. */
const TOO_MANY = { status: 'error', message: 'Too many requests' };

const refusal = (status: number, body: unknown): FaultAction => ({ type: 'status', status, body });

describe('a 401 or 403 while polling', () => {
	test.each<[string, FaultAction]>([
		['401 from an edge', refusal(401, PAGE)],
		['403 from an edge', refusal(403, PAGE)],
		['401 as JSON', refusal(401, EXPIRED)],
		['403 as JSON', refusal(403, EXPIRED)],
	])('one %s, and the wait goes on', async (_, action) => {
		setting.service.faults.add({ route: 'poll', times: 1, action });
		const { output, error } = await setting.run({ parameters });
		expect(error).toBeUndefined();
		expect(output[0]?.json).toMatchObject({
			status: 'done',
			task_id: setting.service.creations()[0]?.id,
		});
	});

	test.each([401, 403])('%d as JSON for good: a second look confirms it first', async (status) => {
		setting.service.faults.add({ route: 'poll', action: refusal(status, EXPIRED) });
		const { output } = await setting.runWithin(30_000, {
			parameters: { ...parameters, options: { timeout: 120 } },
			settings: goOn,
		});
		const taskId = setting.service.creations()[0]?.id;
		expect(output[0]?.json).toMatchObject({
			outcome: 'unreachable',
			task_id: taskId,
			http_status: status,
		});
		const [first, second] = setting.service.polls(taskId);
		// A pause never ends early, so this is not a guess about time.
		expect((second?.time ?? 0) - (first?.time ?? 0)).toBeGreaterThan(950);
	});

	test('Retry On Fail pays once', async () => {
		setting.service.faults.add({ route: 'poll', times: 2, action: refusal(401, EXPIRED) });
		const { output } = await setting.run({ parameters, settings: again });
		expect(output[0]?.json.status).toBe('done');
		expect(setting.attempts()).toBe(1);
	});
});

describe('a status without a task', () => {
	const words: JsonObject[] = [
		TOO_MANY,
		{ status: 'error', error: 'Rate limit exceeded', code: 429 },
		{ status: 'error', data: null, message: 'Internal error' },
		{ status: 'error', type: 'rate_limit_error', message: 'Slow down' },
		{ status: 'error', type: 'api_error', message: 'Internal error' },
		{ status: 'error', id: 'req_1', type: 'api_error', message: 'Internal error' },
		{ status: 'done', id: 'another', metadata: { audio_url: 'https://files.example/a.mp3' } },
	];
	test.each(words)(
		'%j while polling: the wait goes on, and nothing is paid again',
		async (body) => {
			setting.service.faults.add({ route: 'poll', times: 1, action: refusal(200, body) });
			const { output, error } = await setting.run({ parameters, settings: again });
			expect(setting.attempts()).toBe(1);
			expect(error).toBeUndefined();
			expect(output[0]?.json).toMatchObject({
				status: 'done',
				task_id: setting.service.creations()[0]?.id,
			});
			expect(JSON.stringify(output)).not.toContain('files.example');
		},
	);

	test('for good: not failed, but not finished in time', async () => {
		setting.service.faults.add({ route: 'poll', action: refusal(200, TOO_MANY) });
		const { output } = await setting.run({
			parameters: { ...parameters, options: { timeout: 3 } },
			settings: goOn,
		});
		expect(output[0]?.json).toMatchObject({
			outcome: 'timed_out',
			task_id: setting.service.creations()[0]?.id,
		});
	});

	test('a failed task without an ID, but with what only a task has, has failed', async () => {
		const task = {
			status: 'error',
			progress: 40,
			type: 'sound_effect',
			metadata: {},
			error_message: 'no luck',
		};
		setting.service.faults.add({ route: 'poll', action: refusal(200, task) });
		const { output } = await setting.run({ parameters, settings: goOn });
		expect(output[0]?.json).toMatchObject({
			outcome: 'failed',
			task_id: setting.service.creations()[0]?.id,
		});
		expect(output[0]?.json.error).toMatch(/no luck/);
	});
});
