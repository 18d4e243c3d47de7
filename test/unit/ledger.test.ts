/** What a try finds of earlier ones: by the item in one execution, by the request in another, by the call as a tool of an agent. */
import type { IExecuteFunctions } from 'n8n-workflow';
import type { LedgerStore } from '../../nodes/MediaGeneration/task/entries';
import {
	requestHash,
	Ledger,
	type NodeRun,
	type Slot,
} from '../../nodes/MediaGeneration/task/ledger';
import type { CreationRequest } from '../../nodes/MediaGeneration/actions/operation';
import { runOf } from '../../nodes/MediaGeneration/n8n/execution';
import type { Failure } from '../../nodes/MediaGeneration/base/failures';

const RUN: NodeRun = { executionId: '7', runIndex: 0 };
const LATER: NodeRun = { ...RUN, executionId: '8' };
const LOOP: NodeRun = { ...RUN, runIndex: 1 };
const REQUEST = { kind: 'speech', path: '/v1/x', body: { text: 'a' } };
const OTHER_TEXT = { ...REQUEST, body: { text: 'b' } };
const OTHER_ROUTE = { ...REQUEST, path: '/v1/y' };
const OTHER_QUERY = { ...REQUEST, qs: { f: 'mp3' } };
const file = (sha256: string, name = 'a.png', size = 1) => {
	return { ...REQUEST, files: [{ field: 'assets', name, type: 'image/png', size, sha256 }] };
};
const CREATED = { taskId: 't1', createdAt: 5, answer: { task_id: 't1' } };
const SECOND = { ...CREATED, taskId: 't2' };
const FAILURE: Failure = { outcome: 'unknown', message: 'm', description: 'd' };
const UNCLEAR = { sentAt: 5, failure: FAILURE };
const SLOT: Slot = { item: 0, part: 0 };
const OTHER_ITEM: Slot = { item: 1, part: 0 };

const NOTHING = { kind: 'nothing' };
const FOUND = { kind: 'created', created: CREATED };

type Request = Pick<CreationRequest, 'kind' | 'path' | 'body' | 'qs' | 'files'>;

const asked = (slot: Slot, request: Request, baseUrl = 'https://api.example') => ({
	slot,
	request,
	hash: requestHash(baseUrl, request),
});
const earlier = (store: LedgerStore, run: NodeRun, slot = SLOT, request: Request = REQUEST) =>
	new Ledger(store, run).earlier(asked(slot, request));

const saved = (store: object) => JSON.parse(JSON.stringify(store)) as LedgerStore;

/** The store after a run, as n8n keeps it between tries and executions: it goes through JSON. */
function storeAfter(run: NodeRun, acts: (ledger: Ledger) => void): LedgerStore {
	const store = {};
	acts(new Ledger(store, run));
	return saved(store);
}
const made = (request = REQUEST) =>
	storeAfter(RUN, (ledger) => ledger.noteCreated(asked(SLOT, request), CREATED));
const unclear = () =>
	storeAfter(RUN, (ledger) => ledger.noteSending(asked(SLOT, REQUEST), UNCLEAR));

test.each<[string, Slot, Request, NodeRun, object]>([
	['the same request', SLOT, REQUEST, RUN, FOUND],
	['another text of the same item', SLOT, OTHER_TEXT, RUN, FOUND],
	['another route', SLOT, OTHER_ROUTE, RUN, FOUND],
	['another query', SLOT, OTHER_QUERY, RUN, FOUND],
	['another item', OTHER_ITEM, REQUEST, RUN, NOTHING],
	['another part of its text', { item: 0, part: 1 }, REQUEST, RUN, NOTHING],
	['another round of a loop', SLOT, REQUEST, LOOP, NOTHING],
	["n8n's Retry with the same request", SLOT, REQUEST, LATER, FOUND],
	["n8n's Retry with another text", SLOT, OTHER_TEXT, LATER, NOTHING],
	["n8n's Retry with another route", SLOT, OTHER_ROUTE, LATER, NOTHING],
	["n8n's Retry with another query", SLOT, OTHER_QUERY, LATER, NOTHING],
	["n8n's Retry of another item", OTHER_ITEM, REQUEST, LATER, NOTHING],
])('what was created, for %s', (_name, slot, request, run, found) => {
	expect(earlier(made(), run, slot, request)).toEqual(found);
});

test('the same request to another service is another one', () => {
	const elsewhere = asked(SLOT, REQUEST, 'https://b.example');
	expect(new Ledger(made(), LATER).earlier(elsewhere)).toEqual(NOTHING);
});

test('a resume URL of another execution, with another token, is the same request', () => {
	const withUrl = (receive_url: string) => ({ ...REQUEST, body: { ...REQUEST.body, receive_url } });
	const called = 'https://n8n.example/wait/7/node';
	const receiveUrl = `${called}?signature=a`;
	const store = storeAfter(RUN, (ledger) =>
		ledger.noteCreated(asked(SLOT, withUrl(receiveUrl)), { ...CREATED, receiveUrl }),
	);
	const request = withUrl('https://n8n.example/wait/8/node?signature=b');
	// Where the old task will call, without its token.
	const created = { ...CREATED, receiveUrl: called };
	expect(earlier(store, LATER, SLOT, request)).toEqual({ ...FOUND, created });
	expect(JSON.stringify(store)).not.toContain('signature');
});

test.each<[string, Request, NodeRun, object]>([
	['stands in the same execution', REQUEST, RUN, { kind: 'unknown', failure: FAILURE }],
	['stands whatever the text is', OTHER_TEXT, RUN, { kind: 'unknown', failure: FAILURE }],
	['is doubtful in another execution', REQUEST, LATER, { kind: 'doubtful' }],
	['is none of another text there', OTHER_TEXT, LATER, NOTHING],
])('an unknown outcome %s', (_name, request, run, expected) => {
	expect(earlier(unclear(), run, SLOT, request)).toMatchObject(expected);
});

describe('as a tool what counts is the call', () => {
	const tool = (id: number, executionId = '7', agent = 'Agent:0'): NodeRun => ({
		...RUN,
		executionId,
		runIndex: id,
		call: { id: `call ${id}`, agent },
	});
	const later = (id: number) => tool(id, '8');
	/** After a call that created one task, and handed it out or not. */
	const called = (handedOut: boolean, run = tool(0)) =>
		storeAfter(run, (ledger) => {
			ledger.noteCreated(asked(SLOT, REQUEST), CREATED);
			ledger.close(() => handedOut);
		});

	test.each<[string, boolean, NodeRun, Request, object]>([
		['left behind: an equal call takes it up', false, tool(1), REQUEST, FOUND],
		['left behind: a call with another text does not', false, tool(1), OTHER_TEXT, NOTHING],
		['left behind: the next try takes it up, whatever its text', false, tool(0), OTHER_TEXT, FOUND],
		['handed out: not for the next call', true, tool(1), REQUEST, NOTHING],
		['handed out: the call itself has it, as n8n repeats it', true, tool(0), OTHER_TEXT, FOUND],
		["left behind, after n8n's Retry", false, later(5), REQUEST, FOUND],
		["handed out, after n8n's Retry of the agent's run", true, later(5), REQUEST, FOUND],
	])('%s', (_name, handedOut, run, request, found) => {
		expect(earlier(called(handedOut), run, SLOT, request)).toEqual(found);
	});

	test.each<[boolean, object]>([
		[true, NOTHING],
		[false, FOUND],
	])("another run of the agent, after n8n's Retry; handed out before: %s", (handedOut, found) => {
		const store = called(handedOut, tool(0, '7', 'Agent:1'));
		expect(earlier(store, later(5))).toEqual(found);
	});

	const noteTask = (first: Ledger) => first.noteCreated(asked(SLOT, REQUEST), CREATED);
	const noteUnclear = (first: Ledger) => first.noteSending(asked(SLOT, REQUEST), UNCLEAR);
	test.each<[string, (ledger: Ledger) => void, number]>([
		['its own before what an equal one left', noteTask, 1],
		['its own before an unclear one', noteUnclear, 1],
		['a task before what may have become one', noteUnclear, 2],
	])('a call takes up %s', (_name, note, id) => {
		const store = {};
		const [first, second] = [new Ledger(store, tool(0)), new Ledger(store, tool(1))];
		note(first);
		second.noteCreated(asked(SLOT, REQUEST), SECOND);
		for (const ledger of [first, second]) ledger.close(() => false);
		const found = earlier(store, tool(id));
		expect(found).toMatchObject({ created: { taskId: 't2' } });
	});

	test('an unknown creation is not sent again by the next call; after a Retry by one', () => {
		const store = storeAfter(tool(0), (ledger) => {
			ledger.noteSending(asked(SLOT, REQUEST), UNCLEAR);
			ledger.close(() => false);
		});
		const kindFor = (run: NodeRun) => earlier(store, run).kind;
		expect(kindFor(tool(1))).toBe('unknown');
		expect([5, 6, 5].map((id) => kindFor(later(id)))).toEqual(['doubtful', 'nothing', 'doubtful']);
	});

	test('two items with the same request have a task each', () => {
		const ledger = new Ledger(called(false), tool(1));
		expect(ledger.earlier(asked(SLOT, REQUEST))).toEqual(FOUND);
		expect(ledger.earlier(asked(OTHER_ITEM, REQUEST))).toEqual(NOTHING);
	});

	test('what was handed out of several items is settled item by item', () => {
		const store = storeAfter(tool(0), (ledger) => {
			ledger.noteCreated(asked(SLOT, REQUEST), CREATED);
			ledger.noteCreated(asked(OTHER_ITEM, OTHER_TEXT), SECOND);
			ledger.close((item) => item === 0);
		});
		const next = new Ledger(store, tool(1));
		expect(next.earlier(asked(SLOT, REQUEST))).toEqual(NOTHING);
		expect(next.earlier(asked(SLOT, OTHER_TEXT))).toMatchObject({ created: { taskId: 't2' } });
	});
});

test.each<[object | null, string]>([
	[null, ':0'],
	[{ main: [{ previousNode: 'Agent' }] }, 'Agent:0'],
	[{ main: [{ previousNode: 'Agent', previousNodeRun: 2 }] }, 'Agent:2'],
])('a call belongs to a run of the agent, and its ID has no colon: %j', (source, agent) => {
	const context = {
		evaluateExpression: () => 3,
		getExecutionId: () => '7',
		getInputData: () => [{ json: { toolCallId: 'a:b' } }],
		getExecuteData: () => ({ source }),
		isToolExecution: () => true,
		getNode: () => ({ type: 'mediaGeneration' }),
	};
	const call = { id: '3 a b', agent };
	expect(runOf(context as unknown as IExecuteFunctions)).toEqual({
		executionId: '7',
		runIndex: 3,
		call,
	});
});

const NOTED = { execution: '7', hash: 'h' };

test.each<[string, unknown, (number | null)?]>([
	['a list', []],
	['text', 'x'],
	['null', null],
	['an entry without a task', { '0:0:0': NOTED }],
	['an entry with a time and without a task', { '0:0:0': { ...NOTED, createdAt: 5 } }],
	['an entry without a time', { '0:0:0': { ...NOTED, taskId: 't1' } }],
	['an ID that is none', { '0:0:0': { ...NOTED, taskId: 1, createdAt: 5 } }],
	['a sending without a time', { '0:0:0': { ...NOTED, sending: { request: {} } } }],
	['a sending without a request', { '0:0:0': { ...NOTED, sending: { sentAt: 5 } } }],
	['an entry without a hash', { '0:0:0': { ...NOTED, taskId: 't1', createdAt: 5, hash: 1 } }],
	['another format', {}, 0],
	['no format', {}, null],
])('what %s has replaced may be paid for', (_name, entries, format = 1) => {
	const createdTasks = { format, entries };
	const { kind, failure } = earlier({ createdTasks }, RUN) as {
		kind: string;
		failure: Failure;
	};
	expect([kind, failure.outcome]).toEqual(['unknown', 'unknown']);
	expect(failure.message).toMatch(/can't be read; the task may exist/);
});

test('what is no entry of a slot is no obstacle, and an entry without the answer is a task', () => {
	const having = (entries: object) => ({ createdTasks: { format: 1, entries } });
	expect(earlier(having({ a: 1 }), RUN)).toEqual(NOTHING);
	const noted = having({ '0:0:0': { ...NOTED, taskId: 't1', createdAt: 5 } });
	expect(earlier(noted, RUN)).toEqual(FOUND);
});

describe('what an execution may have sent that n8n has killed', () => {
	const unsaid = { kind: 'unsaid', sending: { request: REQUEST, sentAt: 3 } };
	/** What a try finds of an item, and what it does. */
	const tryOf = (
		store: LedgerStore,
		run: NodeRun,
		since?: number,
		act?: (ledger: Ledger) => void,
	) => {
		const ledger = new Ledger(store, run);
		ledger.begin(since);
		const found = [SLOT, OTHER_ITEM].map((slot) => ledger.earlier(asked(slot, REQUEST)));
		act?.(ledger);
		return found;
	};

	test('is looked for until the item was come to, by later tries and executions as well', () => {
		const store = {};
		const refuse = (ledger: Ledger) => {
			ledger.noteSending(asked(SLOT, REQUEST), { sentAt: 5 });
			ledger.forget(SLOT);
		};
		expect(tryOf(store, RUN, 3, refuse)).toEqual([unsaid, unsaid]);
		expect(tryOf(store, RUN, 3)).toEqual([NOTHING, unsaid]);
		expect(tryOf(saved(store), LATER, 9)).toEqual([NOTHING, unsaid]);
		expect(tryOf(store, LOOP, 9)).toEqual([
			{ ...unsaid, sending: { ...unsaid.sending, sentAt: 9 } },
			{ ...unsaid, sending: { ...unsaid.sending, sentAt: 9 } },
		]);
	});

	test('is nothing where an execution has left its notes, though they are empty', () => {
		const store = {};
		expect(tryOf(store, RUN)).toEqual([NOTHING, NOTHING]);
		expect(tryOf(saved(store), LATER, 3)).toEqual([NOTHING, NOTHING]);
	});
});

test('what is noted is cleaned, its task ID apart', () => {
	const store = {};
	const clean = <T>(value: T) => JSON.parse(JSON.stringify(value).replaceAll('token', '***')) as T;
	const created = { ...CREATED, answer: { task_id: 't1', echo: 'token' } };
	new Ledger(store, RUN, clean).noteCreated(asked(SLOT, REQUEST), created);
	expect(JSON.stringify(store)).not.toContain('token');
	expect(earlier(store, RUN)).toMatchObject({ created: { taskId: 't1' } });
});

test('of an answer that takes long to clean and to save, the task is noted alone', () => {
	const store = {};
	const list = Array.from({ length: 1_000 }, (_, index) => `text ${index}`);
	const created = { ...CREATED, answer: { task_id: 't1', list } };
	new Ledger(store, RUN).noteCreated(asked(SLOT, REQUEST), created);
	expect(earlier(saved(store), RUN)).toEqual(FOUND);
});

describe('the texts that a long text was split into', () => {
	const FIRST = ['One at 9:00.', 'Two.'];
	const LATER_CUT = ['One at 9:01. Two.'];
	const split = () => storeAfter(RUN, (ledger) => ledger.firstTexts(0, FIRST));

	test.each<[string, number, NodeRun, string[]]>([
		['stay those of the first try', 0, RUN, FIRST],
		['are those of their item', 1, RUN, LATER_CUT],
		['are those of their execution', 0, LATER, LATER_CUT],
		['are those of their round of a loop', 0, LOOP, LATER_CUT],
	])('%s', (_name, item, run, texts) => {
		const store = split();
		expect(new Ledger(store, run).firstTexts(item, LATER_CUT)).toEqual(texts);
		expect(new Ledger(store, run).firstTexts(item, FIRST)).toEqual(texts);
		expect(earlier(store, RUN)).toEqual(NOTHING);
		expect(new Ledger(store, RUN).left).toEqual({ made: [], unclear: [] });
	});

	test('each item costs the same, however many there are', () => {
		const ownKeys = () => {
			throw new Error('All entries are read');
		};
		const entries = new Proxy<Record<string, unknown>>({}, { ownKeys });
		const ledger = new Ledger({ createdTasks: { format: 1, entries } }, RUN);
		for (let item = 0; item < 3; item += 1) ledger.firstTexts(item, FIRST);
		expect(ledger.firstTexts(1, LATER_CUT)).toEqual(FIRST);
	});
});

describe('what earlier tries have left, for the error of a later one', () => {
	const NONE = { made: [], unclear: [] };
	const CALL = { id: 'a call', agent: 'Agent:0' };
	/** After a try with two tasks, one that failed, and an unclear creation. */
	const left = (run: NodeRun) =>
		storeAfter(run, (ledger) => {
			ledger.noteCreated(asked(SLOT, REQUEST), CREATED);
			ledger.noteCreated(asked({ item: 0, part: 1 }, OTHER_TEXT), SECOND);
			ledger.noteSending(asked(OTHER_ITEM, REQUEST), UNCLEAR);
			ledger.noteCreated(asked({ item: 2, part: 0 }, REQUEST), { ...CREATED, taskId: 't3' });
			ledger.noteCreated(asked({ item: 3, part: 0 }, REQUEST), { ...CREATED, taskId: 't4' });
			ledger.forget({ item: 3, part: 0 });
		});

	test.each([RUN, { ...RUN, call: CALL }, { ...RUN, runIndex: 10 }])(
		'is all that was made and did not fail, and what may have been: %j',
		(run) => {
			expect(new Ledger(left(run), run).left).toEqual({
				made: [
					{ item: 0, taskId: 't1' },
					{ item: 0, taskId: 't2' },
					{ item: 2, taskId: 't3' },
				],
				unclear: [{ item: 1, failure: FAILURE }],
			});
		},
	);

	test.each<[string, NodeRun, NodeRun]>([
		['another execution', RUN, LATER],
		['another round of a loop', RUN, LOOP],
		['a later round that ends alike', RUN, { ...RUN, runIndex: 10 }],
		['an earlier round that begins alike', { ...RUN, runIndex: 10 }, LOOP],
		['a call of an agent', RUN, { ...RUN, call: CALL }],
	])('but for %s', (_name, first, run) => {
		expect(new Ledger(left(first), run).left).toEqual(NONE);
	});
});

test("a file's content, name and field are parts of what is asked for; how it is sent is not", () => {
	const hash = (request: Request & { form?: boolean }) =>
		requestHash('https://api.example', request);
	const plain = hash(file('1'));
	const stream = async function* () {
		yield await Promise.resolve(Buffer.from(''));
	};
	const streamed = { ...file('1'), files: file('1').files.map((each) => ({ ...each, stream })) };
	for (const same of [streamed, { ...file('1'), form: true }]) expect(hash(same)).toBe(plain);
	for (const other of [REQUEST, file('2'), file('1', 'b.png')]) expect(hash(other)).not.toBe(plain);
	const noted = storeAfter(RUN, (ledger) => ledger.noteSending(asked(SLOT, streamed), UNCLEAR));
	expect(JSON.stringify(noted)).toContain('"sha256":"1"');
	expect(earlier(noted, LATER, SLOT, file('1'))).toMatchObject({ kind: 'doubtful' });
	expect(earlier(noted, LATER, SLOT, file('2'))).toEqual(NOTHING);
});
