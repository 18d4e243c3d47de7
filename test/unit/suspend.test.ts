/** Putting an execution to sleep: what n8n is given to keep, and what goes out if the deadline passes. README, "Waiting". */
import { runInNewContext } from 'node:vm';
import type { INodeExecutionData } from 'n8n-workflow';
import { now } from '../../nodes/MediaGeneration/base/clock';
import {
	CONTEXT_FIELD,
	readNotes,
	type WaitingTask,
} from '../../nodes/MediaGeneration/suspend/notes';
import { waitingTooltip } from '../../nodes/MediaGeneration/n8n/editor';
import { suspend, type SuspendedItem } from '../../nodes/MediaGeneration/suspend/suspend';
import { cleanerOf } from '../../nodes/MediaGeneration/n8n/clean';
import { realClock } from '../../nodes/MediaGeneration/n8n/realClock';
import { itemsToPassOn } from '../../nodes/MediaGeneration/n8n/sleep';
import { FILES } from './itemSettings';
import { fakeN8n } from '../support/n8n';
import { noAnswer, scriptedClient } from '../support/replies';

const RESUME_URL = 'https://n8n.example/webhook-waiting/7/media-generation?signature=token';
const KEY = 'sk_0123456789';
const HOUR = 3_600_000;

const sleepingTask = (taskId: string, deadline = Date.now() + HOUR): WaitingTask => ({
	...{ taskId, requestAddresses: [], named: true, callsBack: true },
	...{ createdAt: Date.now(), deadline },
});
const open = (...tasks: WaitingTask[]): SuspendedItem => ({
	items: [{ json: { task_id: tasks[0]?.taskId } }],
	waits: { tasks, files: FILES, carriesInput: false },
});
const complete = (...items: INodeExecutionData[]): SuspendedItem => ({ items, waits: null });

/** Its loop sleeps for good. */
beforeEach(() => {
	jest.spyOn(realClock, 'sleep').mockImplementation(async () => await new Promise(() => {}));
});
afterEach(() => jest.restoreAllMocks());

async function asleep(suspended: SuspendedItem[]) {
	const { context, kept: store, entry, waits, metadata } = fakeN8n();
	const client = scriptedClient(() => noAnswer());
	cleanerOf(context).knows({ apiKey: KEY, callbackSecret: '' });
	const items = await suspend(context, client, { suspended, resumeUrl: RESUME_URL });
	const kept = entry.data.main[0] ?? [];
	const notes = readNotes(store[CONTEXT_FIELD]);
	if (notes === undefined) throw new Error('no notes');
	expect(realClock.sleep).toHaveBeenCalled();
	return { context, entry, items, kept, notes, waits, metadata };
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

test("n8n wakes it at the last of its deadlines, by the machine's clock, wherever that was set", async () => {
	const at = (hours: number) => open(sleepingTask(`t${hours}`, now() + hours * HOUR));
	const all = [1, 5, 1].map(at);
	jest.spyOn(Date, 'now').mockReturnValue(now() + 24 * HOUR);
	const { waits } = await asleep(all);
	jest.restoreAllMocks();
	expect(waits.map((until) => Math.round((Number(until) - now()) / HOUR))).toEqual([29]);
});

test('a node that has slept passes its items on: in a further try, and in the Retry of an execution that was killed after it woke', async () => {
	const { context, entry } = await asleep([open(sleepingTask('t1'))]);
	expect(itemsToPassOn(context)).toEqual(entry.data.main[0]);
	const woken = [{ json: { text: 'of its task' } }];
	const retry = fakeN8n({ mode: 'retry', input: woken });
	expect(itemsToPassOn(retry.context)).toBeUndefined();
	const saved = JSON.parse(JSON.stringify(entry)) as typeof entry;
	Object.assign(retry.entry, { ...saved, data: { main: [woken] } });
	expect(itemsToPassOn(retry.context)).toEqual(woken);
});

/** What the expression of the node's description gives for what was left in the metadata. */
const said = (resumeUrl: string) =>
	runInNewContext(waitingTooltip.replace(/^=\{\{|\}\}$/g, ''), {
		$execution: { resumeUrl },
	}) as string;

test.each<[string[], string]>([
	[['t0'], 'its task has finished (t0)'],
	[['t0', 't1', 't2'], 'its 3 tasks have finished (t0, t1, t2)'],
	[['t0', 't1', 't2', 't3', 't4'], 'its 5 tasks have finished (t0, t1, t2, ...)'],
	...['a,b', 'a?ids=b#c', '50%', 'täsk "1"', 'half \ud800'].map((id): [string[], string] => [
		[id],
		`its task has finished (${id.replace('\ud800', '\ufffd')})`,
	]),
	// The editor renders it as HTML.
	[['<img src="//x?a&b">'], 'its task has finished (&lt;img src="//x?a&amp;b"&gt;)'],
])('the editor says that %j are waited for, and until when', async (taskIds, words) => {
	const { metadata, waits } = await asleep(taskIds.map((taskId) => open(sleepingTask(taskId))));
	const [{ resumeUrl }] = metadata as [{ resumeUrl: string }];
	expect(resumeUrl).not.toContain('token');
	const until = runInNewContext(`new Date(${waits[0]?.getTime()}).toLocaleString()`) as string;
	expect(said(resumeUrl).replace(until, 'the deadline')).toBe(
		`Asleep until ${words}, or until the deadline at the latest`,
	);
});
