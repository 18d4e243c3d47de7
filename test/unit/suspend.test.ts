/** Putting an execution to sleep: what n8n is given to keep, and what goes out if the deadline passes. README, "Waiting". */
import { runInNewContext } from 'node:vm';
import type { INodeExecutionData } from 'n8n-workflow';
import { now } from '../../nodes/MediaGeneration/base/clock';
import { parseTask } from '../../nodes/MediaGeneration/transport/task';
import {
	CONTEXT_FIELD,
	readNotes,
	waitingTooltip,
	type OpenTask,
} from '../../nodes/MediaGeneration/suspend/notes';
import { sleepingInput } from '../../nodes/MediaGeneration/n8n/sleep';
import {
	suspend,
	type Sleeper,
	type SleepingTask,
} from '../../nodes/MediaGeneration/suspend/suspend';
import { realClock } from '../../nodes/MediaGeneration/n8n/clock';
import { ASSEMBLY, doneTask, FILES } from './itemSettings';
import { fakeN8n } from '../support/n8n';
import { noAnswer, scriptedClient } from '../support/replies';

const RESUME_URL = 'https://n8n.example/webhook-waiting/7/media-generation?signature=token';
const HOUR = 3_600_000;

const sleepingTask = (taskId: string, fields: Partial<OpenTask> = {}): OpenTask => ({
	kind: 'open',
	taskId,
	watch: {
		...{ taskId, kind: 'image', echoes: [], named: true },
		...{ createdAt: Date.now(), deadline: Date.now() + HOUR },
	},
	task: parseTask({ id: taskId, status: 'doing', progress: 40 }),
	receiveUrl: undefined,
	...fields,
});
const open = (...tasks: SleepingTask[]): Sleeper => ({
	items: [{ json: { task_id: tasks[0]?.watch.taskId } }],
	open: { tasks, files: FILES, assembly: ASSEMBLY, carriesInput: false },
});
const complete = (...items: INodeExecutionData[]): Sleeper => ({ items, open: null });

/** Its loop sleeps for good. */
beforeEach(() => {
	jest.spyOn(realClock, 'sleep').mockImplementation(async () => await new Promise(() => {}));
});
afterEach(() => jest.restoreAllMocks());

async function asleep(sleepers: Sleeper[], { callable = true, onError = '' } = {}) {
	const data: { data?: { main: INodeExecutionData[][] } } = {};
	const waits: Date[] = [];
	const metadatas: object[] = [];
	let input: INodeExecutionData[] = [];
	const { context, kept: store } = fakeN8n({
		own: {
			getNode: () => ({ id: 'node-1', name: 'Media', type: 'x', onError }),
			getExecuteData: () => data,
			getInputData: () => input,
			putExecutionToWait: async (till: Date) => await Promise.resolve(waits.push(till)),
			setMetadata: (metadata: object) => metadatas.push(metadata),
		},
	});
	const client = scriptedClient(() => noAnswer());
	const waking = { resumeUrl: RESUME_URL, callable };
	const items = await suspend(context, client, { sleepers, waking });
	const kept = data.data?.main[0] ?? [];
	const again = (next: INodeExecutionData[]) => {
		input = next;
		return sleepingInput(context);
	};
	const notes = readNotes(store[CONTEXT_FIELD]);
	if (typeof notes === 'string') throw new Error(notes);
	expect(realClock.sleep).toHaveBeenCalled();
	return { items, kept, notes, waits, metadatas, again };
}

test('what goes out if the deadline passes is one item per input item first, in order, and then the further files of split ones', async () => {
	const split = ['x', 'y', 'z'].map((name) => ({ json: { name } }));
	const { items, kept, notes } = await asleep([
		complete(...split),
		open(sleepingTask('t1')),
		complete({ json: { name: 'w' } }),
	]);
	expect(items.map(({ json }) => json.name ?? json.task_id)).toEqual(['x', 't1', 'w', 'y', 'z']);
	expect(items.slice(0, 3).map(({ pairedItem }) => pairedItem)).toEqual([
		{ item: 0 },
		{ item: 1 },
		{ item: 2 },
	]);
	expect(kept).toEqual(items);
	expect(notes.items.map((item) => item !== null)).toEqual([false, true, false, false, false]);
});

test("n8n wakes it by the machine's clock, wherever that was set", async () => {
	const deadline = now() + HOUR;
	jest.spyOn(Date, 'now').mockReturnValue(now() + 24 * HOUR);
	const task = sleepingTask('t1');
	const { waits } = await asleep([open({ ...task, watch: { ...task.watch, deadline } })]);
	jest.restoreAllMocks();
	expect(Math.round((Number(waits[0]) - now()) / HOUR)).toBe(25);
});

test('it sleeps until the last of its deadlines', async () => {
	const at = (ms: number) => {
		const task = sleepingTask(`t${ms}`);
		return { ...task, watch: { ...task.watch, deadline: ms } };
	};
	const [early, late] = [Date.now() + HOUR, Date.now() + 5 * HOUR];
	const { waits } = await asleep([open(at(early)), open(at(late)), open(at(early))]);
	expect(waits).toHaveLength(1);
	expect(Math.abs((waits[0]?.getTime() ?? 0) - late)).toBeLessThan(3);
});

/** What the expression of the node's description gives for what was left in the metadata. */
const said = (resumeUrl: string) =>
	runInNewContext(waitingTooltip.replace(/^=\{\{|\}\}$/g, ''), {
		$execution: { resumeUrl },
	}) as string;

test.each<[string[], string]>([
	[['t0'], 'its task is over (t0)'],
	[['t0', 't1', 't2'], 'its 3 tasks are over (t0, t1, t2)'],
	[['t0', 't1', 't2', 't3', 't4'], 'its 5 tasks are over (t0, t1, t2, ...)'],
	...['a,b', 'a&ids=b#c', '50%', 'täsk "1"'].map((id): [string[], string] => [
		[id],
		`its task is over (${id})`,
	]),
])('the editor says that %j are waited for, and until when', async (taskIds, words) => {
	const { metadatas, waits } = await asleep(taskIds.map((taskId) => open(sleepingTask(taskId))));
	const [{ resumeUrl }] = metadatas as [{ resumeUrl: string }];
	expect(resumeUrl).not.toContain('token');
	const until = runInNewContext(`new Date(${waits[0]?.getTime()}).toLocaleString()`) as string;
	expect(said(resumeUrl).replace(until, 'the deadline')).toBe(
		`Asleep until ${words}, or until the deadline at the latest`,
	);
});

describe('whether the service calls this execution', () => {
	const called = async (receiveUrl: string | undefined, callable: boolean) => {
		const { notes } = await asleep([open(sleepingTask('t1', { receiveUrl }))], { callable });
		return notes.items[0]?.tasks.map((task) => task.called);
	};

	test.each<[string, string | undefined, boolean, boolean]>([
		['where its task has this address', RESUME_URL, true, true],
		['not where it has none', undefined, true, false],
		['not where the task has another one', 'https://other.example/', true, false],
		['not where the service can not call', RESUME_URL, false, false],
	])('%s', async (_name, receiveUrl, callable, expected) => {
		expect(await called(receiveUrl, callable)).toEqual([expected]);
	});
});

test('a task that was done in the last poll is kept, as the service can forget it', async () => {
	const { watch } = sleepingTask('t1');
	const done = { ...doneTask('t1'), kind: 'done' as const, watch };
	const { notes } = await asleep([open(done, sleepingTask('t2'))]);
	const [item] = notes.items;
	expect(item?.tasks.map(({ known }) => known?.state)).toEqual(['done', undefined]);
});

test("n8n's next try of a node that sleeps already finds what it put to sleep, and nothing happens to it", async () => {
	const { kept, again } = await asleep([open(sleepingTask('t1')), open(sleepingTask('t2'))]);
	const copies = again(kept);
	expect(copies?.map(({ json }) => json.task_id)).toEqual(['t1', 't2']);
	expect(copies?.[0]).not.toBe(kept[0]);
	expect(again([{ json: {} }])).toBeUndefined();
	// One of them is enough: the rest of the input is of the same execution.
	expect(again([{ json: {} }, kept[0] ?? { json: {} }])).toHaveLength(2);
});
