/** Creations: what is unclear is never sent again, and what was sent gets its time. */
import type { IDataObject } from 'n8n-workflow';
import type { FaultAction } from '../service';
import { certificate, startTlsTrap, type TlsTrap } from '../service/tlsTrap';
import { engineSetting, goOn, sound, again } from './setting';
import { trust } from './trust';

const setting = engineSetting();

describe('creating', () => {
	const parameters = { ...sound(), downloadOutput: false };

	function attempts(): number {
		return setting.service.requests.filter(({ route }) => route === 'create').length;
	}

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
			const { error } = await setting.run({
				parameters: { ...parameters, options: { timeout: 1 } },
			});
			expect(error?.message).toMatch(/answer to the request never came .*the task may exist/);
			expect(error?.description).toMatch(/was not sent again/);
			expect(attempts()).toBe(1);
		});
	});

	describe('many at once', () => {
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
	});
});

describe('the time of a creation', () => {
	const parameters = { ...sound(), downloadOutput: false };

	function oneTask() {
		const [task, ...others] = setting.service.creations();
		expect(others).toEqual([]);
		expect(setting.attempts()).toBe(1);
		return task;
	}

	test('Timeout 2 s, an answer after 3 s: its task is waited for', async () => {
		setting.service.faults.add({
			route: 'create',
			action: { type: 'processThenStall', ms: 3_000 },
		});
		const { output, error } = await setting.run({
			parameters: { ...parameters, options: { timeout: 2 } },
		});
		expect(error).toBeUndefined();
		expect(output[0]?.json).toMatchObject({ status: 'done', task_id: oneTask()?.id });
	});
});

describe('a connection that was never made', () => {
	const parameters = { ...sound(), downloadOutput: false, options: { timeout: 5 } };
	let trap: TlsTrap;

	beforeEach(async () => {
		trap = await startTlsTrap();
	});
	afterEach(async () => await trap.close());

	describe('an edge that answers in plain text, after the request was taken', () => {
		let distrust: () => void;
		beforeEach(() => {
			distrust = trust(certificate);
		});
		afterEach(() => distrust());

		test('the task may exist, and nothing is sent again', async () => {
			const { output } = await setting.run({
				parameters,
				settings: goOn,
				credentials: { baseUrl: trap.baseUrl },
			});
			// The account's list of tasks may be read, but nothing is created again.
			expect(trap.taken.filter((body) => body !== '')).toHaveLength(1);
			expect(output[0]?.json.outcome).toBe('unknown');
			expect(output[0]?.json.error).toMatch(/the task may exist/);
		});

		test('nor by Retry On Fail', async () => {
			const { error } = await setting.run({
				parameters,
				settings: again,
				credentials: { baseUrl: trap.baseUrl },
			});
			// The account's list of tasks may be read, but nothing is created again.
			expect(trap.taken.filter((body) => body !== '')).toHaveLength(1);
			expect(error?.message).toMatch(/the task may exist/);
			expect(error?.description).not.toMatch(/nothing was paid/);
		});
	});

	test('a certificate that is not trusted: nothing was sent, and nothing was paid', async () => {
		const { output, error } = await setting.run({
			parameters,
			settings: goOn,
			credentials: { baseUrl: trap.baseUrl },
		});
		expect(error).toBeUndefined();
		expect(trap.taken).toEqual([]);
		expect(output[0]?.json.outcome).toBe('rejected');
		expect(output[0]?.json.error).toMatch(/could not be reached: .*certificate/);
	});
});

describe('a refusal that names a task', () => {
	describe('sent once, and taken up or called unclear', () => {
		const named: Array<[string, object]> = [
			['at the root', { success: false, error: 'slow', task_id: 'task-1' }],
			['under data', { success: false, message: 'slow', data: { task_id: 'task-1' } }],
			['under error', { success: false, error: { message: 'slow', task_id: 'task-1' } }],
			['under task', { success: false, task: { task_id: 'task-1', status: 'doing' } }],
			['in a list', { success: false, data: { tasks: [{ task_id: 'task-1' }] } }],
		];
		const actions = named.flatMap(([name, body]) =>
			[200, 400, 429].map((status): [string, number, FaultAction] => [
				name,
				status,
				{ type: 'processThenStatus', status, body },
			]),
		);
		test.each(actions)('%s, HTTP %d', async (_, __, action) => {
			setting.service.faults.add({ route: 'create', action });
			const { output } = await setting.run({
				parameters: { ...sound(), waitForCompletion: false, options: { timeout: 2 } },
				settings: { ...goOn, ...again },
				credentials: setting.ownAccount(),
			});
			expect(setting.attempts()).toBe(1);
			const json: IDataObject = output[0]?.json ?? {};
			// Either the task was recognised, or it is said that one may exist.
			if (json.task_id === undefined) expect(json.outcome).toBe('unknown');
			else expect(json.task_id).toBe('task-1');
			expect(JSON.stringify(json)).not.toMatch(/nothing was paid|no task was created/i);
		});
	});
});
