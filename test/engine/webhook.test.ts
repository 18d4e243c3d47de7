/** The harness itself: what n8n's server does around a node's webhook. */
import { engineSetting, sound } from './setting';
import { startWebhooks, type WebhookHost } from './webhook';
import { until } from './until';

const setting = engineSetting();
const credentials = () => ({
	apiKey: setting.service.apiKey,
	baseUrl: setting.service.baseUrl,
	callbackSecret: '',
});
let host: WebhookHost;

beforeAll(async () => {
	host = await startWebhooks();
});
afterAll(async () => await host.close());

async function finishedTask(): Promise<string> {
	// Long enough that it does not end by itself before.
	setting.service.settings.taskMs = 60_000;
	const response = await fetch(`${setting.service.baseUrl}/v1/task/sound-effect`, {
		method: 'POST',
		headers: {
			'content-type': 'application/json',
			authorization: `Bearer ${setting.service.apiKey}`,
		},
		body: JSON.stringify({ text: 'Rain' }),
	});
	const { task_id: taskId } = (await response.json()) as { task_id: string };
	await setting.service.finish(taskId);
	return taskId;
}

it('runs the workflow of a trigger', async () => {
	const trigger = host.publish({ credentials: credentials() });
	const taskId = await finishedTask();
	expect(await host.post(trigger.url, { id: taskId, status: 'done' })).toEqual({
		status: 200,
		body: { received: true },
	});
	const [execution] = trigger.executions();
	const result = await execution?.settled();
	expect(execution?.status).toBe('success');
	expect(result?.output[0]?.json).toMatchObject({ task_id: taskId, verified: true });
	expect(result?.output[0]?.binary?.data?.mimeType).toBe('audio/wav');
	expect(result?.run.data.resultData.runData.After).toHaveLength(1);
	expect(trigger.staticData()).toMatchObject({ 'node:Trigger': { seen: [expect.any(String)] } });
});

it('runs a test call while the editor listens, and none else', async () => {
	const trigger = host.publish({ credentials: credentials() });
	const taskId = await finishedTask();
	const body = { id: taskId, status: 'done' };
	expect((await host.post(trigger.testUrl, body)).status).toBe(404);
	trigger.listen();
	expect((await host.post(trigger.testUrl, body)).status).toBe(200);
	expect((await host.post(trigger.testUrl, body)).status).toBe(404);
	expect((await trigger.executions()[0]?.settled())?.output[0]?.json.task_id).toBe(taskId);
});

it('answers 500 where an execution cannot be stored', async () => {
	const trigger = host.publish({ credentials: credentials() });
	const taskId = await finishedTask();
	host.storing = 'fails';
	expect((await host.post(trigger.url, { id: taskId, status: 'done' })).status).toBe(500);
	expect(trigger.staticData()).toEqual({});
	host.storing = 'works';
	expect((await host.post(trigger.url, { id: taskId, status: 'done' })).status).toBe(200);
	await trigger.executions()[0]?.settled();
});

const asleep = {
	...sound(),
	waitForCompletion: true,
	waitMode: 'callback',
	downloadOutput: false,
	options: { gracePeriod: 0 },
};

it('puts an execution to sleep, wakes it, and runs the rest of its workflow', async () => {
	setting.service.settings.taskMs = 60_000;
	const execution = await host.start({
		items: [{ text: 'one' }, { text: 'two' }],
		parameters: asleep,
		credentials: credentials(),
	});
	await execution.settled();
	expect(execution.status).toBe('waiting');
	const [one = '', two = ''] = setting.service.tasks.map(({ id }) => id);
	expect(setting.bodies()[0]?.receive_url).toBe(execution.resumeUrl());
	await setting.service.finish(one);
	expect(setting.service.callbacks.map(({ status }) => status)).toEqual([202]);
	expect(execution.status).toBe('waiting');
	await setting.service.finish(two);
	expect(setting.service.callbacks.map(({ status }) => status)).toEqual([202, 200]);
	await until('the execution is over', () => execution.status === 'success');
	const { run } = await execution.settled();
	const after = run.data.resultData.runData.After?.at(-1)?.data?.main?.[0];
	expect(after?.map(({ json }) => [json.task_id, json.status])).toEqual([
		[one, 'done'],
		[two, 'done'],
	]);
	expect((await host.post(execution.resumeUrl(), { id: one })).status).toBe(409);
});

it('answers 409 while the execution runs, 401 to a wrong token, 404 where it knows nothing', async () => {
	setting.service.settings.taskMs = 60_000;
	let save = () => {};
	host.executions.beforeSaving = async () => await new Promise<void>((resolve) => (save = resolve));
	const execution = await host.start({ parameters: asleep, credentials: credentials() });
	await until('the task exists', () => setting.service.tasks.length === 1);
	const url = execution.resumeUrl();
	const body = { id: setting.service.tasks[0]?.id };
	expect((await host.post(url, body)).status).toBe(409);
	await until('the execution falls asleep', () => {
		save();
		return execution.status === 'waiting';
	});
	host.executions.beforeSaving = async () => await Promise.resolve();
	expect((await host.post(url.replace(/.$/, '_'), body)).status).toBe(401);
	expect((await host.post(execution.resumeUrl('other'), body)).status).toBe(404);
	expect((await host.post(`${host.url}/webhook-waiting/99/id-Media`, body)).status).toBe(404);
	expect((await host.post(url, body)).status).toBe(202);
	const { output, run } = await execution.deadline();
	expect(output[0]?.json).toMatchObject({ task_id: body.id, timed_out: true });
	expect(run.data.resultData.runData.After).toHaveLength(1);
});
