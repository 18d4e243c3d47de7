/** Runs of the whole node that are about to sleep: the last look at their tasks, and what becomes of those that it finds over. */
import type { INodeExecutionData } from 'n8n-workflow';
import { PLAIN_TASK } from '../model/history';
import { runNode } from './wholeNode';

const sound = { resource: 'soundEffect', operation: 'generate', text: 'Rain' };
const asleep = { ...sound, waitMode: 'callback', options: { gracePeriod: 0 } };
const long = {
	resource: 'speech',
	operation: 'generateByVoiceId',
	voiceId: 'v',
	longText: 'join',
	text: 'The first part of a text, as long as that.\n\nThe second part, about as long.',
};
const goOn = { onError: 'continueRegularOutput' } as const;
const taskWith = (fields: Partial<typeof PLAIN_TASK>) => ({ ...PLAIN_TASK, ...fields });
const asleepFor = (...seconds: number[]) => seconds.map((each) => taskWith({ seconds: each }));
const ID = '71000000';
const idOf = (number: number) => String(71_000_000 + number);

const warnings = (logs: string[]) => logs.filter((line) => line.startsWith('warn: '));

test('parts of one item: the last one may be over in the last look', async () => {
	const { json, execution } = await runNode({
		parameters: { ...asleep, ...long, options: { gracePeriod: 10, maxCharacters: 60 } },
		// The time before the sleep begins with the answer to the creation, 60 ms after the task: so the second one ends 30 ms before it is over.
		tasks: asleepFor(3, 10.03),
	});
	expect(execution.saved).toBeUndefined();
	expect(json).toMatchObject([{ status: 'done', task_ids: [idOf(0), idOf(1)] }]);
});

test('what is over in the last look is paid for: the next try takes it up', async () => {
	const { json, sent } = await runNode({
		parameters: asleep,
		tasks: asleepFor(0),
		files: ['HTTP 404', 'HTTP 404'],
		node: { tries: 2 },
	});
	expect(json).toMatchObject([{ status: 'done', task_id: ID }]);
	expect(sent).toHaveLength(1);
});

test('an item that fails in the last look fails by itself, or ends the run', async () => {
	const given = {
		parameters: [asleep, asleep],
		tasks: [taskWith({ seconds: 0, end: 'error' as const }), taskWith({ seconds: 400 })],
	};
	const went = await runNode({ ...given, node: goOn });
	expect(went.execution.woken).toBe(true);
	expect(went.json).toMatchObject([
		{ outcome: 'failed', task_id: idOf(0), error: `Task ${idOf(0)} failed: too loud` },
		{ status: 'done', task_id: idOf(1) },
	]);
	const stopped = await runNode(given);
	expect(stopped.error?.message).toBe(`Task ${idOf(0)} failed: too loud`);
	expect(stopped.execution.saved).toBeUndefined();
});

test('a stop in the last look: nothing sleeps, and nothing goes out', async () => {
	const { execution, output, error, logs } = await runNode({
		parameters: asleep,
		tasks: asleepFor(400),
		// The creation takes 60 ms, and the look 30 ms.
		events: [{ at: 0.075, kind: 'stop' }],
	});
	expect(execution.status).toBe('canceled');
	expect(execution.waitTill).toBeUndefined();
	expect([output, error]).toEqual([[], undefined]);
	expect(warnings(logs)).toEqual([
		`warn: Media Generation: the execution was stopped; its tasks go on at the service and are paid for: ${ID}`,
	]);
});

test('where nothing sleeps, n8n does not try its own address', async () => {
	const node = { reachable: false };
	expect((await runNode({ parameters: asleep, node })).answers).not.toEqual([]);
	expect((await runNode({ parameters: sound, node })).answers).toEqual([]);
});

test('downloads do not keep the execution from its sleep', async () => {
	const { execution } = await runNode({
		parameters: [asleep, asleep],
		tasks: asleepFor(0, 400),
	});
	const saved = JSON.parse(execution.saved ?? '{}') as { items: INodeExecutionData[] };
	expect(saved.items.map(({ json }) => json)).toMatchObject([
		{ task_id: idOf(0), status: 'done', timed_out: true },
		{ task_id: idOf(1), status: 'doing', timed_out: true },
	]);
	expect(saved.items[0]).not.toHaveProperty('binary');
});

test('what was over in the last look stays known, even where the service forgets it', async () => {
	let looks = 0;
	const { json, execution } = await runNode({
		parameters: [asleep, asleep],
		tasks: asleepFor(0, 400),
		answer({ url }) {
			if (!url.endsWith(`/task/${idOf(0)}`)) return undefined;
			looks += 1;
			return looks === 1 ? undefined : { status: 404, body: { error: 'no such task' } };
		},
	});
	expect(execution.woken).toBe(true);
	expect(json).toMatchObject([
		{ task_id: idOf(0), status: 'done', outputs: [{ kind: 'audio' }, { kind: 'transcript' }] },
		{ task_id: idOf(1), status: 'done' },
	]);
});

test('"Task: Wait" can sleep: this n8n looks, as the service calls back elsewhere', async () => {
	let looks = 0;
	const { json, execution } = await runNode({
		parameters: {
			...asleep,
			downloadOutput: false,
			resource: 'task',
			operation: 'wait',
			taskId: 't',
		},
		answer() {
			looks += 1;
			return looks > 3
				? { body: { id: 't', status: 'done', metadata: { audio_url: 'https://x.example/t.wav' } } }
				: { body: { id: 't', status: 'doing', progress: 10 } };
		},
	});
	expect(execution.woken).toBe(true);
	expect(json).toMatchObject([{ status: 'done', task_id: 't' }]);
});
