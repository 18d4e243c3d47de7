/** The judge of test/workflows, on executions as n8n saves them: what it finds. One that finds too much fails its own suite. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StandIn, TaskRecord } from '../service';
import type { Item, NodeRun } from '../n8n/harness/execution';
import { EXCUSES } from '../support/rules';
import { caseOf } from '../workflows/generate';
import type { MediaNode } from '../workflows/case';
import type { Evidence, Saved } from '../workflows/evidence';
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
const run = (from: string, main: Item[][], more: Partial<NodeRun> = {}): NodeRun => ({
	...{ startTime: 0, executionTime: 0, executionStatus: 'success', data: { main } },
	source: [{ previousNode: from }],
	...more,
});
const input = (...json: Array<Record<string, unknown>>) =>
	run('Start 1', [json.map((each) => ({ json: each }))]);

/** What ran, and what else is seen of it. */
interface Seen {
	runData: Record<string, NodeRun[]>;
	tasks: TaskRecord[];
	media: Partial<MediaNode>;
	graph: Graph;
	/** Further executions. */
	others: object[];
	/** What n8n has saved of the execution, and has logged. */
	raw: string;
	log: string;
}

/** What is found of one execution. */
async function judged(seen: Partial<Seen>): Promise<string> {
	const { runData = {}, tasks = [], media = {}, others = [], raw = '[{}]', log = '' } = seen;
	const { graph = new Graph('Test', {}) } = seen;
	const plan = { graph, media: [{ ...generate, ...media }, wait] };
	const saved = { id: '1', status: 'success', resultData: { runData }, plan, raw };
	const evidence: Evidence = {
		played: caseOf(1),
		service: { tasks, requests: [], payload: () => ({}) } as unknown as StandIn,
		executions: [{}, ...others].map(
			(other) => ({ ...saved, retryOf: undefined, ...other }) as unknown as Saved,
		),
		...{ workflows: [], unfinished: [], killedAt: [], log, secrets: ['sk_secret'] },
	};
	const found = await judge(evidence, async () => await Promise.resolve(Buffer.alloc(0)));
	return found.join('\n');
}

const items = [input({ item: 'i0' }, { item: 'i1' })];
const both = [task('a', of('i0')), task('b', of('i1'))];
const slow = { ...task('slow', of('i1')), status: 'doing' } as TaskRecord;

/** A node got two items, and the second came out as this. */
const generated = (second: Item, more: Partial<Seen> = {}): Partial<Seen> => {
	const out = run('Items 1', [[done('a'), second]]);
	const tasks = [...both, slow];
	return { runData: { 'Items 1': items, 'Generate 1': [out] }, tasks, ...more };
};
const well = (more: Partial<Seen> = {}) => generated(done('b', 1), { tasks: both, ...more });
const failed = (json: Item['json']) => generated({ json, pairedItem: { item: 1 } });

test('items that come out as their own tasks are well', async () => {
	expect(await judged(well())).toBe('');
});

const signed = 'https://n8n.example/webhook-waiting/1/x?signature=0123456789abcdef';
const kept = '[{"resumeToken":"1"},"0123456789","?t=0123456789"]';
const unlinked = new Graph('Test', {});
unlinked.link([{ node: 'Items 1', output: 0 }], 'Wait 1');
const killed = [
	{ id: '0', status: 'crashed', resultData: { runData: {} } },
	{ id: '2', retryOf: '0' },
];
const paidFour = ['c', 'd', 'e', 'f'].map((id) => task(id, of('i0')));
const oneOut = run('Items 1', [[done('a')]]);
const details = { error: 'no', outcome: 'failed', task_id: 'b' };
const late = { item: 'i0', error: 'late', outcome: 'timed_out', task_id: 'paid' };
const rounds = [0, 1, 2, 3].map((round) => ({
	task: task(`t${round}`, of('i0', round)),
	run: run('Items 1', [[done(`t${round}`)]]),
}));
const loop = {
	runData: { 'Items 1': [input({ item: 'i0' })], 'Generate 1': rounds.map((each) => each.run) },
	tasks: [...rounds.map((each) => each.task), task('t4', of('i0', 3))],
};

test.each<[string, Partial<Seen>, RegExp]>([
	['the key in the log', well({ log: 'a b sk_secret' }), /^KEY: the log holds sk_secret$/],
	['the key in an execution', well({ raw: '["sk_secret"]' }), /^KEY: execution 1 holds sk_secret$/],
	[
		'a signature',
		well({ raw: JSON.stringify([signed]) }),
		/^KEY: execution 1 holds signature=0123/,
	],
	["n8n's token, but where n8n keeps it", well({ raw: kept }), /^KEY: .* holds \?t=0123456789$/],
	['an item passed through', failed({ item: 'i1' }), /item 1 left as it came/],
	['an item with the task of another', generated(done('a', 1)), /item 1 .* has the task of <i0/],
	['a task that nobody made', generated(done('c', 1)), /item 1 names a task that nobody made: c/],
	[
		'an item that is not there',
		generated(done('a')),
		/item 0 came out 2 times(.|\n)*item 1 came out 0 times/,
	],
	['a failure, though its task is done', failed(details), /not true that .*"outcome":"failed"/],
	[
		'an item that was stopped, though the execution was not',
		failed({ ...details, outcome: 'cancelled' }),
		/not true that .*"outcome":"cancelled"/,
	],
	['an end before its time', generated(done('slow', 1)), /not true that .*"task_id":"slow"/],
	[
		'items that never came to a node',
		{ runData: { 'Items 1': [input({})] }, graph: unlinked },
		/1 items of Items 1 never came to Wait 1/,
	],
	[
		'more payments than Retries of what was killed',
		well({ tasks: [...paidFour, ...both], others: killed, log: 'c d e f' }),
		/i0 Generate 1 0> was paid 4 times for 3/,
	],
	[
		'a failure that "Task: Wait" made good',
		{ runData: { 'Items 1': [input({ error: 'no', details, task_id: 'a' })], 'Wait 1': [oneOut] } },
		/came as "failed" and left as "done"/,
	],
	[
		'a paid task whose item is made again without a hint',
		{
			runData: { 'Items 1': [input(late)], 'Generate 1': [oneOut] },
			tasks: [task('a', of('i0'))],
		},
		/no hint names the paid task paid/,
	],
	[
		'a loop that goes beyond its budget, and pays twice',
		{ ...loop, media: { maximumCredits: 30 } },
		/paid 2 times for 1(.|\n)*is named nowhere(.|\n)*spent 60 of 42/,
	],
])('it finds %s', async (_, seen, words) => {
	expect(await judged(seen)).toMatch(words);
});

test.each([
	['slept in is passed on by the Retry', 'waiting', /^$/],
	['ended is not', 'success', /has the task of <i0 Generate 1 0>/],
] as const)('a task of a run that %s', async (_, executionStatus, words) => {
	const runs = [run('Items 1', [[done('a')]], { executionStatus }), oneOut];
	const runData = { 'Items 1': [input({ item: 'i0' })], 'Generate 1': runs };
	expect(await judged({ runData, tasks: [task('a', of('i0'))] })).toMatch(words);
});

test('what is excused is in the docs', () => {
	const docs = readFileSync(join(__dirname, '../../docs/troubleshooting.md'), 'utf8');
	for (const words of Object.values(EXCUSES)) expect(docs).toContain(words ?? '');
});
