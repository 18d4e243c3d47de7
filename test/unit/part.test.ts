/** What breaks amid a task that may be paid for names it, and costs no other item anything. */
import type { Delivery } from '../../nodes/MediaGeneration/files/delivery';
import type { Item, Part } from '../../nodes/MediaGeneration/run/item';
import { followTask, taskOf, withFiles } from '../../nodes/MediaGeneration/run/part';
import type { Run } from '../../nodes/MediaGeneration/run/run';
import type { Earlier } from '../../nodes/MediaGeneration/task/entries';
import type { Created } from '../../nodes/MediaGeneration/task/identity';
import { RAIN } from '../support/replies';
import { ASSEMBLY, doneTask, FILES } from './itemSettings';

const MADE: Created = { kind: 'created', taskId: 't1', createdAt: 0, answer: {} };
const slot = { item: 0, part: 0 };
const part: Part = { kind: 'creates', slot, hash: 'h', request: RAIN };
const item = {
	...{ kind: 'item', index: 0, assembly: ASSEMBLY, parts: [part] },
	settings: { waiting: { kind: 'poll' }, files: FILES, timeoutMs: 1_000 },
} as unknown as Item;
/** A run of which nothing else works. */
const brokenRun = (noted: Earlier) =>
	({ ledger: { earlierOf: () => noted }, now: () => 0 }) as unknown as Run;
const failing = (outcome: string, named: { taskId?: string } = {}) => {
	const description = expect.stringMatching(/Task: Wait|task list/) as string;
	return { kind: 'failed', failure: { outcome, description, ...named } };
};

test.each<[string, Earlier, object]>([
	['before its answer came, it may exist', { kind: 'nothing' }, failing('unknown')],
	[
		'after it was noted, it is named',
		{ ...MADE, isTakenUp: false },
		failing('unreachable', { taskId: 't1' }),
	],
])('a creation that breaks off %s', async (_, noted, expected) => {
	expect(await taskOf(brokenRun(noted), item, part)).toMatchObject(expected);
});

test('a wait that breaks off names the task', async () => {
	const waited = await followTask(brokenRun({ kind: 'nothing' }), item, { part, made: MADE });
	expect(waited).toMatchObject(failing('unreachable', { taskId: 't1' }));
});

test('a task that is done stays done where its files break', async () => {
	const delivery = {
		deliverTask: async () => await Promise.reject(new Error('broken')),
	} as unknown as Delivery;
	const ended = { ...doneTask('t1'), watch: {} as never, delivered: undefined };
	expect(await withFiles(delivery, ended, { ...item, number: 0 })).toEqual(ended);
});
