/** A creation that was sent gets its full time, however short the Timeout: giving its answer up would lose a paid task. */
import { engineSetting, goOn, sound } from './setting';

const setting = engineSetting();
const parameters = { ...sound(), downloadOutput: false };

function oneTask() {
	const [task, ...others] = setting.service.creations();
	expect(others).toEqual([]);
	expect(setting.attempts()).toBe(1);
	return task;
}

test('Timeout 2 s, an answer after 3 s: its task is waited for', async () => {
	setting.service.faults.add({ route: 'create', action: { type: 'processThenStall', ms: 3_000 } });
	const { output, error } = await setting.run({
		parameters: { ...parameters, options: { timeout: 2 } },
	});
	expect(error).toBeUndefined();
	expect(output[0]?.json).toMatchObject({ status: 'done', task_id: oneTask()?.id });
});

test('the same for a task that takes longer than the Timeout: the error names it', async () => {
	setting.service.settings.taskMs = 60_000;
	setting.service.faults.add({ route: 'create', action: { type: 'processThenStall', ms: 1_500 } });
	const { output } = await setting.run({
		parameters: { ...parameters, options: { timeout: 1 } },
		settings: goOn,
	});
	expect(output[0]?.json).toMatchObject({ outcome: 'timed_out', task_id: oneTask()?.id });
});

test('an answer that drips for 3 s: the same', async () => {
	setting.service.faults.add({ route: 'create', action: { type: 'drip', ms: 3_000 } });
	const { output, error } = await setting.run({
		parameters: { ...parameters, options: { timeout: 2 } },
	});
	expect(error).toBeUndefined();
	expect(output[0]?.json).toMatchObject({ status: 'done', task_id: oneTask()?.id });
});

test('a refusal first, and then an answer after the deadline', async () => {
	const { faults } = setting.service;
	faults.add({
		route: 'create',
		times: 1,
		action: { type: 'status', status: 429, body: { message: 'Too many requests' } },
	});
	faults.add({ route: 'create', action: { type: 'processThenStall', ms: 2_500 } });
	const { output, error } = await setting.run({
		parameters: { ...parameters, options: { timeout: 2 } },
	});
	expect(error).toBeUndefined();
	expect(setting.attempts()).toBe(2);
	expect(setting.service.creations()).toHaveLength(1);
	expect(output[0]?.json).toMatchObject({
		status: 'done',
		task_id: setting.service.creations()[0]?.id,
	});
});

test('not waiting: the answer counts, whenever it comes', async () => {
	setting.service.faults.add({ route: 'create', action: { type: 'processThenStall', ms: 2_000 } });
	const { output, error } = await setting.run({
		parameters: { ...parameters, waitForCompletion: false, options: { timeout: 1 } },
	});
	expect(error).toBeUndefined();
	expect(output[0]?.json.task_id).toBe(oneTask()?.id);
});

test('after another item has failed the run: the error names the task whose answer came last', async () => {
	const { faults } = setting.service;
	faults.add({
		route: 'create',
		path: '/bad',
		action: { type: 'status', status: 422, body: { success: false, error: 'bad voice' } },
	});
	faults.add({
		route: 'create',
		path: '/slow',
		action: { type: 'processThenStall', ms: 2_000 },
	});
	const { error } = await setting.run({
		items: [{ voice: 'bad' }, { voice: 'slow' }],
		parameters: {
			resource: 'speech',
			operation: 'generateByVoiceId',
			voiceId: '={{ $json.voice }}',
			text: 'Hello',
			options: { timeout: 1 },
		},
	});
	expect(error?.message).toMatch(/bad voice/);
	expect(setting.service.creations()).toHaveLength(1);
	expect(error?.description).toContain(setting.service.creations()[0]?.id);
});
