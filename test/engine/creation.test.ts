import type { FaultAction } from '../service';
import { engineSetting, goOn, sound } from './setting';

const setting = engineSetting();
const parameters = { ...sound(), downloadOutput: false };

function attempts(): number {
	return setting.service.requests.filter(({ route }) => route === 'create').length;
}

describe('sent again, as nothing can have been created', () => {
	const refusals: Array<[string, FaultAction]> = [
		[
			'429 active_task_limit',
			{ type: 'status', status: 429, body: { success: false, code: 'active_task_limit' } },
		],
		[
			'429 rate limit',
			{
				type: 'status',
				status: 429,
				body: { error: 'Too many requests' },
				headers: { 'retry-after': '0' },
			},
		],
		['429 without a reason', { type: 'status', status: 429, body: { success: false } }],
		[
			'503 server_busy',
			{ type: 'status', status: 503, body: { success: false, code: 'server_busy' } },
		],
		[
			'busy inside 200',
			{
				type: 'status',
				status: 200,
				body: { success: false, code: 'server_busy', message: 'busy' },
			},
		],
	];
	test.each(refusals)('%s', async (_, action) => {
		setting.service.faults.add({ route: 'create', times: 1, action });
		const { output, error } = await setting.run({ parameters });
		expect(error).toBeUndefined();
		expect(output[0]?.json.status).toBe('done');
		expect(attempts()).toBe(2);
		expect(setting.service.creations()).toHaveLength(1);
	});

	test('bounded by the timeout, with a message that names the limit', async () => {
		setting.service.faults.add({
			route: 'create',
			action: {
				type: 'status',
				status: 429,
				body: { code: 'active_task_limit', message: 'Too many active tasks' },
			},
		});
		const { error } = await setting.run({ parameters: { ...parameters, options: { timeout: 2 } } });
		expect(error?.message).toMatch(
			/accepts no more tasks at the moment \(HTTP 429: Too many active tasks\)/,
		);
		expect(error?.description).toMatch(/Max Active Tasks/);
		expect(attempts()).toBeGreaterThan(1);
	});

	test('an ambiguous 429 names both causes at the end', async () => {
		setting.service.faults.add({
			route: 'create',
			action: { type: 'status', status: 429, body: {} },
		});
		const { error } = await setting.run({ parameters: { ...parameters, options: { timeout: 1 } } });
		expect(error?.message).toMatch(/a limit it does not name/);
		expect(error?.description).toMatch(/rate limit.*daily spend limit/);
	});

	test('a connection that is never made: rejected, nothing was created', async () => {
		const { output } = await setting.run({
			parameters: { ...parameters, options: { timeout: 1 } },
			credentials: { baseUrl: 'http://127.0.0.1:9' },
			settings: goOn,
		});
		expect(output[0]?.json.outcome).toBe('rejected');
		expect(output[0]?.json.error).toMatch(/could not be reached/);
	});
});

describe('refused at once', () => {
	const refusals: Array<[string, FaultAction, RegExp, number]> = [
		[
			'400',
			{ type: 'status', status: 400, body: { success: false, error: 'text too long' } },
			/refused the task \(HTTP 400: text too long\)/,
			400,
		],
		[
			'401',
			{ type: 'status', status: 401, body: { success: false, error: 'Invalid API key' } },
			/HTTP 401: Invalid API key/,
			401,
		],
		[
			'402',
			{ type: 'status', status: 402, body: { message: 'no credits' } },
			/HTTP 402: no credits/,
			402,
		],
		[
			'422',
			{ type: 'status', status: 422, body: { error: { message: 'bad model' } } },
			/HTTP 422: bad model/,
			422,
		],
		['a redirect', { type: 'redirect', to: '{other}{path}', status: 307 }, /HTTP 307/, 307],
		[
			'a daily cap',
			{ type: 'status', status: 429, body: { error: 'Daily spend limit reached' } },
			/daily or spend limit/,
			429,
		],
		[
			'a refusal inside 200',
			{ type: 'status', status: 200, body: { success: false, message: 'voice not found' } },
			/refused the task: voice not found/,
			200,
		],
	];
	test.each(refusals)('%s', async (_, action, message, status) => {
		setting.service.faults.add({ route: 'create', action });
		const { output } = await setting.run({ parameters, settings: goOn });
		expect(output[0]?.json).toMatchObject({ outcome: 'rejected', http_status: status });
		expect(output[0]?.json.error).toMatch(message);
		expect(attempts()).toBe(1);
		expect(setting.service.requests.some(({ host }) => host === 'other')).toBe(false);
	});

	test('the daily cap of a key, as the stand-in answers it', async () => {
		setting.service.settings.dailyCap = 1;
		const items = [{}, {}, {}];
		const { output } = await setting.run({ items, parameters, settings: goOn });
		const refused = output.filter(({ json }) => json.outcome === 'rejected');
		expect(refused.length).toBeGreaterThan(0);
		expect(refused[0]?.json.error).toMatch(/daily or spend limit/);
	});
});

describe('unclear: never sent again', () => {
	const unclear: Array<[string, FaultAction]> = [
		['a connection reset after the request', { type: 'processThenReset' }],
		['a connection reset', { type: 'reset' }],
		['500', { type: 'processThenStatus', status: 500, body: { error: 'oops' } }],
		['502', { type: 'processThenStatus', status: 502, body: '<html>Bad gateway</html>' }],
		['503 without a reason', { type: 'processThenStatus', status: 503 }],
		['504', { type: 'processThenStatus', status: 504 }],
		['an empty answer', { type: 'emptyBody' }],
		['a web page', { type: 'html' }],
		['half a JSON', { type: 'malformedJson' }],
		['an answer without task_id', { type: 'notObject', body: { success: true } }],
	];
	test.each(unclear)('%s', async (_, action) => {
		setting.service.faults.add({ route: 'create', action });
		const { output } = await setting.run({ parameters, settings: goOn });
		expect(output[0]?.json.outcome).toBe('unknown');
		expect(output[0]?.json.error).toMatch(/the task may exist/);
		expect(attempts()).toBe(1);
	});

	// A creation gets 120 s, so that the rest of "it never came" is tested where no time passes (test/unit/submit.test.ts).
	test('an answer that never comes, later than the Timeout', async () => {
		const action: FaultAction = { type: 'processThenReset', ms: 1_500 };
		setting.service.faults.add({ route: 'create', action });
		const { error } = await setting.run({ parameters: { ...parameters, options: { timeout: 1 } } });
		expect(error?.message).toMatch(/answer to the request never came .*the task may exist/);
		expect(error?.description).toMatch(/was not sent again/);
		expect(attempts()).toBe(1);
	});
});

describe('many at once', () => {
	test('no more than Max Active Tasks are in flight', async () => {
		const items = Array.from({ length: 7 }, () => ({}));
		const { output } = await setting.run({
			items,
			parameters: { ...parameters, options: { maxActiveTasks: 3 } },
		});
		expect(output).toHaveLength(7);
		expect(setting.service.maxActive).toBeLessThanOrEqual(3);
	});

	test('40 items, a third of the polls busy, some reset, five active tasks: 40 results and 40 creations', async () => {
		const { service } = setting;
		service.settings.activeTaskLimit = 5;
		service.faults.add({ route: 'poll', probability: 0.05, action: { type: 'reset' } });
		service.faults.add({
			route: 'poll',
			probability: 0.33,
			action: { type: 'status', status: 503, body: { success: false, code: 'server_busy' } },
		});
		const items = Array.from({ length: 40 }, (_, index) => ({ text: `Sound ${index}` }));
		const { output, error } = await setting.run({ items, parameters });
		expect(error).toBeUndefined();
		expect(output.map(({ json }) => service.task(json.task_id as string)?.body.text)).toEqual(
			items.map(({ text }) => text),
		);
		expect(service.creations()).toHaveLength(40);
		expect(service.maxActive).toBeLessThanOrEqual(5);
	}, 90_000);

	test('a failure without Continue On Fail names the tasks that are still of use, and creates nothing more', async () => {
		const { service } = setting;
		const items = [
			{ stand_in: { ms: 60_000 } },
			{ stand_in: { end: 'error', error_message: 'no such sound', ms: 50 } },
			{ stand_in: { ms: 60_000 } },
		];
		const { error } = await setting.run({
			items,
			parameters: {
				...parameters,
				options: { maxActiveTasks: 2, extraFields: '={{ { stand_in: $json.stand_in } }}' },
			},
		});
		expect(error?.message).toMatch(/^Task .* failed: no such sound$/);
		expect(service.creations()).toHaveLength(2);
		const useful = service.tasks.find(({ status }) => status === 'doing');
		expect(error?.description).toContain(String(useful?.id));
		expect(error?.description).not.toContain(
			String(service.tasks.find(({ status }) => status === 'error')?.id),
		);
	});
});
