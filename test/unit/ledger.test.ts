import {
	Ledger,
	leftByEarlierTries,
	type RunIdentity,
	type Slot,
} from '../../nodes/MediaGeneration/create/ledger';
import type { Failure } from '../../nodes/MediaGeneration/service/failures';

const RUN: RunIdentity = { executionId: '7', runIndex: 0, baseUrl: 'https://api.example' };
const LATER: RunIdentity = { ...RUN, executionId: '8' };
const REQUEST = { kind: 'speech', path: '/v1/x', body: { text: 'a' } };
const OTHER_TEXT = { ...REQUEST, body: { text: 'b' } };
const CREATED = { taskId: 't1', createdAt: 5, answer: { task_id: 't1' } };
const FAILURE = { outcome: 'unknown' as const, message: 'm', description: 'd' };
const SLOT: Slot = { item: 0, part: 0 };

const NOTHING = { kind: 'nothing' };
const FOUND = { kind: 'created', created: CREATED, receiveUrl: undefined };

/** What n8n does between two tries and two executions: the context goes through JSON. */
const saved = (store: Record<string, unknown>) =>
	JSON.parse(JSON.stringify(store)) as Record<string, unknown>;

/** The store of a run that created one task. */
function storeWith(request: typeof REQUEST & { body: object } = REQUEST, slot = SLOT) {
	const store = {};
	new Ledger(store, RUN).noteCreated(slot, request, CREATED);
	return saved(store);
}

test('what an earlier try created is found again, also after n8n saved it', () => {
	const slot = { item: 3, part: 2 };
	expect(new Ledger(storeWith(REQUEST, slot), RUN).earlier(slot, REQUEST)).toEqual(FOUND);
});

describe('within one execution the item counts, whatever its request', () => {
	test.each<[string, typeof REQUEST & { qs?: { f: string } }]>([
		['the same request', REQUEST],
		['another text, as of a random number in it', OTHER_TEXT],
		['another route', { ...REQUEST, path: '/v1/y' }],
		['another query', { ...REQUEST, qs: { f: 'mp3' } }],
	])('%s is taken up', (_name, request) => {
		expect(new Ledger(storeWith(), RUN).earlier(SLOT, request)).toEqual(FOUND);
	});

	test.each<[string, Slot, RunIdentity]>([
		['another item', { item: 1, part: 0 }, RUN],
		['another part of its text', { item: 0, part: 1 }, RUN],
		['another round of a loop', SLOT, { ...RUN, runIndex: 1 }],
	])('%s creates again', (_name, slot, run) => {
		expect(new Ledger(storeWith(), run).earlier(slot, REQUEST)).toEqual(NOTHING);
	});
});

describe("after n8n's Retry of a failed execution the request counts too", () => {
	test('the same one is taken up', () => {
		expect(new Ledger(storeWith(), LATER).earlier(SLOT, REQUEST)).toEqual(FOUND);
	});

	test.each<[string, Slot, typeof REQUEST & { qs?: { f: string } }, RunIdentity]>([
		['another text', SLOT, OTHER_TEXT, LATER],
		['another route', SLOT, { ...REQUEST, path: '/v1/y' }, LATER],
		['another query', SLOT, { ...REQUEST, qs: { f: 'mp3' } }, LATER],
		['another service', SLOT, REQUEST, { ...LATER, baseUrl: 'https://other.example' }],
		['another item', { item: 1, part: 0 }, REQUEST, LATER],
		['another round of a loop', SLOT, REQUEST, { ...LATER, runIndex: 1 }],
	])('%s creates again', (_name, slot, request, run) => {
		expect(new Ledger(storeWith(), run).earlier(slot, request)).toEqual(NOTHING);
	});

	test('a resume URL of another execution, with another token, is the same request', () => {
		const withUrl = (receive_url: string) => ({
			...REQUEST,
			body: { ...REQUEST.body, receive_url },
		});
		const store = storeWith(withUrl('https://n8n.example/wait/7/node?signature=a'));
		const request = withUrl('https://n8n.example/wait/8/node?signature=b');
		expect(new Ledger(store, LATER).earlier(SLOT, request)).toEqual({
			...FOUND,
			// Where the old task will call, without its token.
			receiveUrl: 'https://n8n.example/wait/7/node',
		});
		expect(JSON.stringify(store)).not.toContain('signature');
	});
});

describe('an unknown outcome', () => {
	const storeOfUnknown = () => {
		const store = {};
		new Ledger(store, RUN).noteUnknown(SLOT, REQUEST, FAILURE);
		return saved(store);
	};

	test.each([
		['the same request', REQUEST],
		['another text', OTHER_TEXT],
	])('stands in the same execution: %s', (_name, request) => {
		expect(new Ledger(storeOfUnknown(), RUN).earlier(SLOT, request)).toEqual({
			kind: 'unknown',
			failure: FAILURE,
		});
	});

	test('and only there: another execution sends it again, and says so', () => {
		expect(new Ledger(storeOfUnknown(), LATER).earlier(SLOT, REQUEST)).toEqual({
			kind: 'doubtful',
			sending: undefined,
		});
		expect(new Ledger(storeOfUnknown(), LATER).earlier(SLOT, OTHER_TEXT)).toEqual(NOTHING);
	});
});

test('a forgotten task is created again', () => {
	const ledger = new Ledger({}, RUN);
	ledger.noteCreated(SLOT, REQUEST, CREATED);
	ledger.noteCreated({ item: 0, part: 1 }, REQUEST, CREATED);
	ledger.forget(SLOT);
	expect(ledger.earlier(SLOT, REQUEST)).toEqual(NOTHING);
	expect(ledger.earlier({ item: 0, part: 1 }, REQUEST)).toEqual(FOUND);
});

describe('as a tool what counts is the call', () => {
	const tool = (id: number, executionId = '7', agent = 'Agent:0'): RunIdentity => ({
		...RUN,
		executionId,
		runIndex: id,
		call: { id: `call ${id}`, agent },
	});
	/** A call that created one task, and handed it out or not. */
	const call = (store: Record<string, unknown>, run: RunIdentity, handedOut: boolean) => {
		const ledger = new Ledger(store, run);
		ledger.noteCreated(SLOT, REQUEST, CREATED);
		ledger.close(() => handedOut);
	};

	test('a call takes up what an earlier one left behind', () => {
		const store = {};
		call(store, tool(0), false);
		expect(new Ledger(saved(store), tool(1)).earlier(SLOT, REQUEST)).toEqual(FOUND);
	});

	test('the next try of a call takes up what the call has made, whatever its text is by then', () => {
		const store = {};
		call(store, tool(0), false);
		expect(new Ledger(store, tool(0)).earlier(SLOT, OTHER_TEXT)).toEqual(FOUND);
	});

	test.each<[string, (ledger: Ledger) => void]>([
		['left a task behind', (ledger) => ledger.noteCreated(SLOT, REQUEST, CREATED)],
		['is unclear', (ledger) => ledger.noteUnknown(SLOT, REQUEST, FAILURE)],
	])('that comes first, also where an equal call %s', (_name, note) => {
		const store = {};
		const [first, second] = [new Ledger(store, tool(0)), new Ledger(store, tool(1))];
		note(first);
		second.noteCreated(SLOT, REQUEST, { ...CREATED, taskId: 't2' });
		for (const ledger of [first, second]) ledger.close(() => false);
		expect(new Ledger(store, tool(1)).earlier(SLOT, REQUEST)).toMatchObject({
			created: { taskId: 't2' },
		});
	});

	test('what an equal call has taken up meanwhile is its own by then', () => {
		const store = {};
		call(store, tool(0), false);
		const other = new Ledger(store, tool(1));
		expect(other.earlier(SLOT, REQUEST)).toEqual(FOUND);
		other.close(() => false);
		const again = new Ledger(store, tool(0));
		again.noteCreated(SLOT, REQUEST, { ...CREATED, taskId: 't2' });
		again.close(() => false);
		expect(new Ledger(store, tool(1)).earlier(SLOT, REQUEST)).toEqual(FOUND);
		expect(leftByEarlierTries(store, tool(0)).made).toEqual([{ item: 0, taskId: 't2' }]);
	});

	test('another call takes up a task rather than what may have become one', () => {
		const store = {};
		const [first, second] = [new Ledger(store, tool(0)), new Ledger(store, tool(1))];
		first.noteUnknown(SLOT, REQUEST, FAILURE);
		second.noteCreated(SLOT, REQUEST, CREATED);
		for (const ledger of [first, second]) ledger.close(() => false);
		expect(new Ledger(store, tool(2)).earlier(SLOT, REQUEST)).toEqual(FOUND);
	});

	test('an unknown creation is not sent again by the next call', () => {
		const store = {};
		const ledger = new Ledger(store, tool(0));
		ledger.noteUnknown(SLOT, REQUEST, FAILURE);
		ledger.close(() => false);
		expect(new Ledger(saved(store), tool(1)).earlier(SLOT, REQUEST)).toEqual({
			kind: 'unknown',
			failure: FAILURE,
		});
	});

	test('what was handed out is not for the next call', () => {
		const store = {};
		call(store, tool(0), true);
		expect(new Ledger(saved(store), tool(1)).earlier(SLOT, REQUEST)).toEqual(NOTHING);
	});

	test('what was handed out to the call itself is its own: n8n repeats it where its item has an error', () => {
		const store = {};
		call(store, tool(0), true);
		expect(new Ledger(saved(store), tool(0)).earlier(SLOT, OTHER_TEXT)).toEqual(FOUND);
	});

	test('another request creates again', () => {
		const store = {};
		call(store, tool(0), false);
		expect(new Ledger(saved(store), tool(1)).earlier(SLOT, OTHER_TEXT)).toEqual(NOTHING);
	});

	describe("after n8n's Retry of a failed execution the agent makes its calls once more", () => {
		const later = (id: number) => tool(id, '8');
		const storeOf = (handedOut: boolean, run = tool(0)) => {
			const store = {};
			call(store, run, handedOut);
			return saved(store);
		};

		test.each([true, false])(
			'what an equal one has made is taken up; handed out: %s',
			(handedOut) => {
				const store = storeOf(handedOut);
				expect(new Ledger(store, later(5)).earlier(SLOT, REQUEST)).toEqual(FOUND);
				// It belongs to that call now, in its further tries as well, and to no other.
				expect(new Ledger(store, later(5)).earlier(SLOT, OTHER_TEXT)).toEqual(FOUND);
				expect(new Ledger(store, later(6)).earlier(SLOT, REQUEST)).toEqual(NOTHING);
			},
		);

		test('what another run of the agent has handed out is not: it was of use', () => {
			const store = storeOf(true, tool(0, '7', 'Agent:1'));
			expect(new Ledger(store, later(5)).earlier(SLOT, REQUEST)).toEqual(NOTHING);
		});

		test('what another run of the agent has left behind is', () => {
			const store = storeOf(false, tool(0, '7', 'Agent:1'));
			expect(new Ledger(store, later(5)).earlier(SLOT, REQUEST)).toEqual(FOUND);
		});

		test('an unknown creation is looked for and sent again, by one call', () => {
			const store = {};
			const ledger = new Ledger(store, tool(0));
			ledger.noteSending(SLOT, { request: REQUEST, sentAt: 5 });
			ledger.noteUnknown(SLOT, REQUEST, FAILURE);
			ledger.close(() => false);
			const copy = saved(store);
			const kinds = [5, 6, 5].map((id) => new Ledger(copy, later(id)).earlier(SLOT, REQUEST).kind);
			expect(kinds).toEqual(['doubtful', 'nothing', 'doubtful']);
		});

		test('what a version before this one has left behind is taken up', () => {
			const createdTasks = storeOf(false).createdTasks as Record<string, { agent?: string }>;
			const [entry] = Object.values(createdTasks);
			const old = {
				createdTasks: { '0:0:0': { ...entry, agent: undefined, delivered: undefined } },
			};
			expect(new Ledger(old, later(5)).earlier(SLOT, REQUEST)).toEqual(FOUND);
		});
	});

	test('two calls at the same moment have a task each', () => {
		const store = {};
		const [first, second] = [new Ledger(store, tool(0)), new Ledger(store, tool(1))];
		first.noteCreated(SLOT, REQUEST, CREATED);
		expect(second.earlier(SLOT, REQUEST)).toEqual(NOTHING);
		first.close(() => false);
		expect(second.earlier(SLOT, REQUEST)).toEqual(FOUND);
		// The second has it now: a third finds nothing.
		expect(new Ledger(store, tool(2)).earlier(SLOT, REQUEST)).toEqual(NOTHING);
	});

	test('two items with the same request have a task each', () => {
		const store = {};
		call(store, tool(0), false);
		const ledger = new Ledger(store, tool(1));
		expect(ledger.earlier(SLOT, REQUEST)).toEqual(FOUND);
		expect(ledger.earlier({ item: 1, part: 0 }, REQUEST)).toEqual(NOTHING);
		expect(ledger.earlier(SLOT, REQUEST)).toEqual(FOUND);
	});

	test('what was handed out of several items is settled item by item', () => {
		const store = {};
		const ledger = new Ledger(store, tool(0));
		ledger.noteCreated(SLOT, REQUEST, CREATED);
		ledger.noteCreated({ item: 1, part: 0 }, OTHER_TEXT, { ...CREATED, taskId: 't2' });
		ledger.close((item) => item === 0);
		const next = new Ledger(store, tool(1));
		expect(next.earlier(SLOT, REQUEST)).toEqual(NOTHING);
		expect(next.earlier(SLOT, OTHER_TEXT)).toMatchObject({ created: { taskId: 't2' } });
	});

	test('a task that failed is forgotten, whichever try made it', () => {
		const store = {};
		call(store, tool(0), false);
		const ledger = new Ledger(store, tool(1));
		ledger.earlier(SLOT, REQUEST);
		ledger.forget(SLOT);
		ledger.close(() => false);
		expect(new Ledger(store, tool(2)).earlier(SLOT, REQUEST)).toEqual(NOTHING);
	});
});

test.each([
	['a list', []],
	['text', 'x'],
	['null', null],
	['an entry without a task', { '0:0:0': { execution: '7' } }],
	['an entry with a time and without a task', { '0:0:0': { execution: '7', createdAt: 5 } }],
	['an entry without a time', { '0:0:0': { execution: '7', taskId: 't1' } }],
])('what %s has replaced may be paid for', (_name, createdTasks) => {
	const ledger = new Ledger({ createdTasks }, RUN);
	const { kind, failure } = ledger.earlier(SLOT, REQUEST) as { kind: string; failure: Failure };
	expect([kind, failure.outcome]).toEqual(['unknown', 'unknown']);
	expect(failure.message).toMatch(/can't be read; the task may exist/);
});

test('what is no entry of a slot is no obstacle', () => {
	expect(new Ledger({ createdTasks: { a: 1 } }, RUN).earlier(SLOT, REQUEST)).toEqual(NOTHING);
});

test('an entry without the answer is a task all the same', () => {
	const createdTasks = { '0:0:0': { execution: '7', hash: 'h', taskId: 't1', createdAt: 5 } };
	expect(new Ledger({ createdTasks }, RUN).earlier(SLOT, REQUEST)).toEqual(FOUND);
});

describe('the texts that a long text was split into', () => {
	const FIRST = ['One at 9:00.', 'Two.'];
	const LATER_CUT = ['One at 9:01. Two.'];
	const storeOf = (item = 0) => {
		const store = {};
		expect(new Ledger(store, RUN).firstTexts(item, FIRST)).toEqual(FIRST);
		return saved(store);
	};

	test('stay those of the first try', () => {
		expect(new Ledger(storeOf(), RUN).firstTexts(0, LATER_CUT)).toEqual(FIRST);
	});

	test.each<[string, number, RunIdentity]>([
		['another item', 1, RUN],
		['another execution', 0, LATER],
		['another round of a loop', 0, { ...RUN, runIndex: 1 }],
	])('%s has its own', (_name, item, run) => {
		expect(new Ledger(storeOf(), run).firstTexts(item, LATER_CUT)).toEqual(LATER_CUT);
	});

	test('those of one item leave those of another alone', () => {
		const store = storeOf();
		new Ledger(store, RUN).firstTexts(1, LATER_CUT);
		expect(new Ledger(store, RUN).firstTexts(0, LATER_CUT)).toEqual(FIRST);
		expect(new Ledger(store, RUN).firstTexts(1, FIRST)).toEqual(LATER_CUT);
	});

	test('a store that holds nonsense is no obstacle', () => {
		for (const texts of [7, 'x', undefined]) {
			const createdTasks = { '0:0:texts': { execution: '7', texts } };
			expect(new Ledger({ createdTasks }, RUN).firstTexts(0, FIRST)).toEqual(FIRST);
		}
	});

	test('and are no tasks', () => {
		const store = storeOf();
		expect(leftByEarlierTries(store, RUN)).toEqual({ made: [], unclear: [] });
		expect(new Ledger(store, RUN).earlier(SLOT, REQUEST)).toEqual(NOTHING);
	});

	test('each item costs the same, however many there are', () => {
		let read = 0;
		const createdTasks = new Proxy<Record<string, unknown>>(
			{},
			{
				get: (target, key) => {
					read += 1;
					return Reflect.get(target, key) as unknown;
				},
				ownKeys: () => {
					throw new Error('All entries are read');
				},
			},
		);
		const ledger = new Ledger({ createdTasks }, RUN);
		for (let item = 0; item < 100; item += 1) ledger.firstTexts(item, FIRST);
		expect(read).toBe(100);
	});
});

describe('what earlier tries have left, for the error of a later one', () => {
	const NONE = { made: [], unclear: [] };
	const UNCLEAR = [{ item: 1, failure: FAILURE }];
	/** The store of two items, one of which has two parts; a creation of a third is unclear. */
	function storeOfThree() {
		const store = {};
		const ledger = new Ledger(store, RUN);
		ledger.noteCreated({ item: 0, part: 0 }, REQUEST, CREATED);
		ledger.noteCreated({ item: 0, part: 1 }, OTHER_TEXT, { ...CREATED, taskId: 't2' });
		ledger.noteUnknown({ item: 1, part: 0 }, REQUEST, FAILURE);
		ledger.noteCreated({ item: 2, part: 0 }, REQUEST, { ...CREATED, taskId: 't3' });
		return store;
	}

	test('is all that was made, and what may have been, whatever the items ask for by now', () => {
		expect(leftByEarlierTries(saved(storeOfThree()), RUN)).toEqual({
			made: [
				{ item: 0, taskId: 't1' },
				{ item: 0, taskId: 't2' },
				{ item: 2, taskId: 't3' },
			],
			unclear: UNCLEAR,
		});
	});

	test("also those of an agent's call", () => {
		const run = { ...RUN, call: { id: 'a call', agent: 'Agent:0' } };
		const store = {};
		new Ledger(store, run).noteUnknown({ item: 1, part: 0 }, REQUEST, FAILURE);
		expect(leftByEarlierTries(store, run)).toEqual({ made: [], unclear: UNCLEAR });
	});

	test('but no task that failed', () => {
		const store = storeOfThree();
		new Ledger(store, RUN).forget({ item: 0, part: 1 });
		expect(leftByEarlierTries(saved(store), RUN).made.map(({ taskId }) => taskId)).toEqual([
			't1',
			't3',
		]);
	});

	test.each<[string, RunIdentity]>([
		['another execution', LATER],
		['another round of a loop', { ...RUN, runIndex: 1 }],
		['a later round that ends alike', { ...RUN, runIndex: 10 }],
		['a call of an agent', { ...RUN, call: { id: 'a call', agent: 'Agent:0' } }],
	])('nor any for %s', (_name, run) => {
		expect(leftByEarlierTries(saved(storeOfThree()), run)).toEqual(NONE);
	});

	test('of the tenth round are not those of the first', () => {
		const store = {};
		new Ledger(store, { ...RUN, runIndex: 10 }).noteCreated(SLOT, REQUEST, CREATED);
		for (const runIndex of [0, 1])
			expect(leftByEarlierTries(saved(store), { ...RUN, runIndex })).toEqual(NONE);
	});

	test.each<[string, object]>([
		['nothing was made', {}],
		['the store was emptied', { createdTasks: {} }],
		['the store holds something else', { createdTasks: 'x' }],
		['an entry is none', { createdTasks: { '0:0:0': null, '0:1:0': 'x' } }],
	])('where %s: none', (_name, store) => {
		expect(leftByEarlierTries({ ...store }, RUN)).toEqual(NONE);
	});
});
