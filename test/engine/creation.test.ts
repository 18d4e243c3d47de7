/** Creations: what is unclear is never sent again, and what was sent gets its time. */
import tls, { type SecureContextOptions } from 'node:tls';
import type { FaultAction } from '../service';
import { certificate, startTlsTrap, type TlsTrap } from '../service/tlsTrap';
import { again, engineSetting, goOn, sound } from './setting';

const setting = engineSetting();

const parameters = { ...sound(), downloadOutput: false };

describe('creating', () => {
	describe('unclear: never sent again', () => {
		const unclear: Array<[string, FaultAction]> = [
			['a connection reset after the request', { type: 'processThenReset' }],
			['502', { type: 'processThenStatus', status: 502, body: '<html>Bad gateway</html>' }],
			['an empty answer', { type: 'emptyBody' }],
			['half a JSON', { type: 'malformedJson' }],
		];
		test.each(unclear)('%s', async (_, action) => {
			setting.service.faults.add({ route: 'create', action });
			const { output } = await setting.run({ parameters, settings: goOn });
			expect(output[0]?.json.outcome).toBe('unknown');
			expect(output[0]?.json.error).toMatch(/the task may exist/);
			expect(setting.attempts()).toBe(1);
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
			expect(setting.attempts()).toBe(1);
		});
	});
});

test('the time of a creation: Timeout 2 s, an answer after 3 s: its task is waited for', async () => {
	const action: FaultAction = { type: 'processThenStall', ms: 3_000 };
	setting.service.faults.add({ route: 'create', action });
	const { output } = await setting.run({ parameters: { ...parameters, options: { timeout: 2 } } });
	const [task, ...others] = setting.service.creations();
	expect(others).toEqual([]);
	expect(setting.attempts()).toBe(1);
	expect(output[0]?.json).toMatchObject({ status: 'done', task_id: task?.id });
});

/** Makes HTTPS clients of this process trust one more certificate, as NODE_EXTRA_CA_CERTS does. @returns undoes it */
function trust(pem: string): () => void {
	const before = tls.createSecureContext;
	tls.createSecureContext = (options?: SecureContextOptions) => {
		const context = before(options);
		(context.context as { addCACert(pem: string): void }).addCACert(pem);
		return context;
	};
	return () => void (tls.createSecureContext = before);
}

describe('a connection that was never made', () => {
	const parameters = { ...sound(), downloadOutput: false, options: { timeout: 5 } };
	let trap: TlsTrap;

	beforeEach(async () => {
		trap = await startTlsTrap();
	});
	afterEach(async () => await trap.close());

	test('an edge that answers in plain text, after the request was taken: the task may exist, and no try sends it again', async () => {
		const distrust = trust(certificate);
		const credentials = { baseUrl: trap.baseUrl };
		const { error } = await setting.run({ parameters, settings: again, credentials });
		distrust();
		// The account's list of tasks may be read, but nothing is created again.
		expect(trap.taken.filter((body) => body !== '')).toHaveLength(1);
		expect(error?.message).toMatch(/the task may exist/);
		expect(error?.description).not.toMatch(/nothing was paid/);
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
	test.each<[number, object]>([
		[200, { success: false, error: 'slow', task_id: 'task-1' }],
		[400, { success: false, task: { task_id: 'task-1', status: 'doing' } }],
		[429, { success: false, data: { tasks: [{ task_id: 'task-1' }] } }],
	])('HTTP %d %j: sent once, and taken up or called unclear', async (status, body) => {
		setting.service.faults.add({
			route: 'create',
			action: { type: 'processThenStatus', status, body },
		});
		const { output } = await setting.run({
			parameters: { ...sound(), waitForCompletion: false, options: { timeout: 2 } },
			settings: { ...goOn, ...again },
			credentials: setting.ownAccount(),
		});
		expect(setting.attempts()).toBe(1);
		const json = output[0]?.json ?? {};
		// Either the task was recognised, or it is said that one may exist.
		if (json.task_id === undefined) expect(json.outcome).toBe('unknown');
		else expect(json.task_id).toBe('task-1');
		expect(JSON.stringify(json)).not.toMatch(/nothing was paid|no task was created/i);
	});
});
