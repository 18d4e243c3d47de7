/** The judge of test/workflows, on executions as n8n saves them: what it finds. One that finds too much fails its own suite. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StandIn, TaskRecord } from '../service';
import type { Item } from '../n8n/harness/execution';
import { EXCUSES } from '../support/rules';
import { caseOf } from '../workflows/generate';
import type { MediaNode } from '../workflows/case';
import type { Evidence, Run, Saved } from '../workflows/evidence';
import { Graph } from '../workflows/graph';
import { judge } from '../workflows/judge';

const generate: MediaNode = {
	...{ name: 'Generate 1', kind: 'creates', waits: true, suspends: true },
	...{ executeOnce: false, splits: false, maximumCredits: undefined },
};
const wait: MediaNode = { ...generate, name: 'Wait 1', kind: 'waits' };
const task = (id: string, text: string) =>
	({ id, body: { text }, status: 'done', cost: 12, refunded: false }) as unknown as TaskRecord;
const of = (item: string, run = 0) => `<${item} Generate 1 ${run}>`;
const done = (id: string, item = 0): Item => ({
	json: { task_id: id, status: 'done', outputs: [] },
	pairedItem: { item },
});
const run = (from: string, main: Item[][], more: Partial<Run> = {}): Run => ({
	...{ startTime: 0, executionTime: 0, executionStatus: 'success', data: { main } },
	source: [{ previousNode: from }],
	...more,
});
const input = (...json: Array<Record<string, unknown>>) =>
	run('Start 1', [json.map((each) => ({ json: each }))]);

interface More {
	graph: Graph;
	/** Further executions. */
	others: object[];
	/** What n8n has saved of the execution, and has logged. */
	raw: string;
	log: string;
}

/** One execution in which these nodes ran. */
async function judged(
	runData: Record<string, Run[]>,
	tasks: TaskRecord[],
	media: Partial<MediaNode> = {},
	{ graph = new Graph('Test', {}), others = [], ...more }: Partial<More> = {},
): Promise<string[]> {
	const plan = { graph, media: [{ ...generate, ...media }, wait] };
	const saved = {
		id: '1',
		status: 'success',
		resultData: { runData },
		plan,
		raw: more.raw ?? '[{}]',
	};
	const evidence: Evidence = {
		played: caseOf(1),
		service: { tasks, requests: [], payload: () => ({}) } as unknown as StandIn,
		executions: [{}, ...others].map(
			(other) => ({ ...saved, retryOf: undefined, ...other }) as unknown as Saved,
		),
		...{ workflows: [], unfinished: [], killedAt: [], log: '', secrets: ['sk_secret'] },
		...(more.log !== undefined && { log: more.log }),
	};
	return await judge(evidence, async () => await Promise.resolve(Buffer.alloc(0)));
}

const items = [input({ item: 'i0' }, { item: 'i1' })];
const both = [task('a', of('i0')), task('b', of('i1'))];
const slow = { ...task('slow', of('i1')), status: 'doing' } as TaskRecord;

/** A node got two items, and the second came out as this. */
async function generated(second: Item, tasks = both, more: Partial<More> = {}): Promise<string[]> {
	const out = run('Items 1', [[done('a'), second]]);
	return await judged({ 'Items 1': items, 'Generate 1': [out] }, tasks, {}, more);
}

test('items that come out as their own tasks are well', async () => {
	expect(await generated(done('b', 1))).toEqual([]);
});

const failed = (json: Item['json']): Item => ({ json, pairedItem: { item: 1 } });

const signed = 'https://n8n.example/webhook-waiting/1/x?signature=0123456789abcdef';

test.each<[string, Partial<More>, RegExp]>([
	['the key in the log', { log: 'a b sk_secret' }, /^KEY: the log holds sk_secret$/],
	['the key in an execution', { raw: '["sk_secret"]' }, /^KEY: execution 1 holds sk_secret$/],
	['a signature', { raw: JSON.stringify([signed]) }, /^KEY: execution 1 holds signature=0123/],
	[
		"n8n's token, but where n8n keeps it",
		{ raw: '[{"resumeToken":"1"},"0123456789","?t=0123456789"]' },
		/^KEY: execution 1 holds \?t=0123456789$/,
	],
])('what n8n has kept: %s', async (_, kept, words) => {
	const found = await generated(done('b', 1), both, kept);
	expect(found.join('\n')).toMatch(words);
});

test('what is excused is in the docs', () => {
	const docs = readFileSync(join(__dirname, '../../docs/troubleshooting.md'), 'utf8');
	for (const words of Object.values(EXCUSES)) expect(docs).toContain(words ?? '');
});

test.each<[string, Item, RegExp]>([
	['passed through', failed({ item: 'i1' }), /item 1 left as it came/],
	['with the task of another item', done('a', 1), /item 1 .* has the task of <i0/],
	['with a task that nobody made', done('c', 1), /item 1 names a task that nobody made: c/],
	['that is not there', done('a'), /item 0 came out 2 times(.|\n)*item 1 came out 0 times/],
	[
		'that failed, though its task is done',
		failed({ error: 'no', outcome: 'failed', task_id: 'b' }),
		/it is not true that .*"outcome":"failed"/,
	],
	[
		'that was stopped, though the execution was not',
		failed({ error: 'no', outcome: 'cancelled', task_id: 'b' }),
		/it is not true that .*"outcome":"cancelled"/,
	],
	['that is done, though its task is not', done('slow', 1), /not true that .*"task_id":"slow"/],
])('an item %s', async (_, second, words) => {
	const found = await generated(second, [...both, slow]);
	expect(found.join('\n')).toMatch(words);
});

test.each([
	['slept in is passed on by the Retry', 'waiting', []],
	['ended is not', 'success', [expect.stringMatching(/has the task of <i0 Generate 1 0>/)]],
] as const)('a task of a run that %s', async (_, executionStatus, found) => {
	const runs = [run('Items 1', [[done('a')]], { executionStatus }), run('Items 1', [[done('a')]])];
	const runData = { 'Items 1': [input({ item: 'i0' })], 'Generate 1': runs };
	expect(await judged(runData, [task('a', of('i0'))])).toEqual(found);
});

test('items that never came to a node are missed', async () => {
	const graph = new Graph('Test', {});
	graph.link([{ node: 'Items 1', output: 0 }], 'Wait 1');
	const found = await judged({ 'Items 1': [input({})] }, [], {}, { graph });
	expect(found.join('\n')).toMatch(/1 items of Items 1 never came to Wait 1/);
});

test('a Retry of what was killed may pay again, once for each such Retry', async () => {
	const others = [
		{ id: '0', status: 'crashed', resultData: { runData: {} } },
		{ id: '2', retryOf: '0' },
	];
	const paid = ['c', 'd', 'e', 'f'].map((id) => task(id, of('i0')));
	const tasks = [...paid, ...both];
	const found = await generated(done('b', 1), tasks, { others, log: 'c d e f' });
	expect(found.join('\n')).toMatch(/i0 Generate 1 0> was paid 4 times for 3/);
});

test('a failure before Task: Wait stays that failure', async () => {
	const before = [
		input({ error: 'no', details: { error: 'no', outcome: 'failed', task_id: 'b' }, task_id: 'a' }),
	];
	const out = run('Items 1', [[done('a')]]);
	const found = await judged({ 'Items 1': before, 'Wait 1': [out] }, []);
	expect(found.join('\n')).toMatch(/came as "failed" and left as "done"/);
});

test('a paid task whose item is made again is named in a hint', async () => {
	const again = [input({ item: 'i0', error: 'late', outcome: 'timed_out', task_id: 'paid' })];
	const out = run('Items 1', [[done('a')]]);
	const runs = { 'Items 1': again, 'Generate 1': [out] };
	const found = await judged(runs, [task('a', of('i0'))]);
	expect(found.join('\n')).toMatch(/no hint names the paid task paid/);
});

test('a budget holds over the rounds of a loop, and each item is paid once', async () => {
	const rounds = [0, 1, 2, 3].map((round) => ({
		task: task(`t${round}`, of('i0', round)),
		run: run('Items 1', [[done(`t${round}`)]]),
	}));
	const runs = { 'Items 1': [input({ item: 'i0' })], 'Generate 1': rounds.map((each) => each.run) };
	const tasks = [...rounds.map((each) => each.task), task('t4', of('i0', 3))];
	const over = await judged(runs, tasks, { maximumCredits: 30 });
	expect(over.join('\n')).toMatch(/paid 2 times for 1(.|\n)*is named nowhere(.|\n)*spent 60 of 42/);
});
