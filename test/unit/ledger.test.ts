/** What a try finds of earlier ones: by the slot in one execution, by the request in another, by the call as a tool of an agent. */
import type { CreationRequest } from '../../nodes/MediaGeneration/answers/request';
import type { Failure } from '../../nodes/MediaGeneration/base/outcomes';
import { requestHash, type NodeRun, type Slot } from '../../nodes/MediaGeneration/task/identity';
import type { LedgerStore } from '../../nodes/MediaGeneration/task/entries';
import { Ledger } from '../../nodes/MediaGeneration/task/ledger';

const RUN: NodeRun = { executionId: '7', runIndex: 0 };
const LATER: NodeRun = { ...RUN, executionId: '8' };
const LATEST: NodeRun = { ...RUN, executionId: '9' };
const LOOP: NodeRun = { ...RUN, runIndex: 1 };
const REQUEST = { kind: 'speech', path: '/v1/x', body: { text: 'a' } };
const OTHER_TEXT = { ...REQUEST, body: { text: 'b' } };
const file = (sha256: string, name = 'a.png', size = 1) => {
	return { ...REQUEST, files: [{ field: 'assets', name, type: 'image/png', size, sha256 }] };
};
const CREATED = { kind: 'created' as const, taskId: 't1', createdAt: 5, answer: { task_id: 't1' } };
const SECOND = { ...CREATED, taskId: 't2' };
const FAILURE: Failure = { outcome: 'unknown', message: 'm', description: 'd' };
const SLOT: Slot = { item: 0, part: 0 };
const OTHER_ITEM: Slot = { item: 1, part: 0 };

/** The machine's clock and ours. */
function agree() {
	jest.spyOn(performance, 'now').mockReturnValue(0);
	jest.spyOn(Date, 'now').mockReturnValue(performance.timeOrigin);
}
agree();
beforeEach(agree);

const NOTHING = { kind: 'nothing' };
const FOUND = CREATED;
const UNCLEAR = { kind: 'unclear', failure: FAILURE, request: REQUEST, sentAt: 4 };

type Request = Pick<CreationRequest, 'kind' | 'path' | 'body' | 'qs' | 'files'>;

const asked = (slot: Slot, request: Request = REQUEST, baseUrl = 'https://api.example') => ({
	slot,
	request,
	hash: requestHash(baseUrl, request),
});
const saved = (store: object) => JSON.parse(JSON.stringify(store)) as LedgerStore;

/** The store after a run, as n8n keeps it between tries and executions: it goes through JSON. */
function storeAfter(
	run: NodeRun,
	acts: (ledger: Ledger) => void,
	store: LedgerStore = {},
): LedgerStore {
	const ledger = new Ledger(store, run);
	acts(ledger);
	return saved(store);
}
/** As a run does with each of its requests, before anything is created. */
function lookUp(ledger: Ledger, request: ReturnType<typeof asked>) {
	ledger.takeUp(request);
	return ledger.earlierOf(request);
}
const earlier = (store: LedgerStore, run: NodeRun, slot = SLOT, request: Request = REQUEST) => {
	return lookUp(new Ledger(store, run), asked(slot, request));
};

function create(ledger: Ledger, slot = SLOT, created = CREATED): void {
	ledger.sending(asked(slot), 4);
	ledger.created(asked(slot), created);
}
function lose(ledger: Ledger, slot = SLOT): void {
	ledger.sending(asked(slot), 3);
	ledger.unclear(asked(slot), { failure: FAILURE, sentAt: 4 });
}
const made = () => storeAfter(RUN, create);
const unclear = () => storeAfter(RUN, lose);

test.each<[string, () => LedgerStore, Slot, Request, NodeRun, object]>([
	['a task, of the same request', made, SLOT, REQUEST, RUN, FOUND],
	['of another text of the same item', made, SLOT, OTHER_TEXT, RUN, FOUND],
	['not of another item', made, OTHER_ITEM, REQUEST, RUN, NOTHING],
	['nor of another part', made, { ...SLOT, part: 1 }, REQUEST, RUN, NOTHING],
	['nor in another round of a loop', made, SLOT, REQUEST, LOOP, NOTHING],
	["n8n's Retry takes up that of the request", made, SLOT, REQUEST, LATER, FOUND],
	['whichever item it is by then', made, OTHER_ITEM, REQUEST, LATER, FOUND],
	['not that of another text', made, SLOT, OTHER_TEXT, LATER, NOTHING],
	['nor with another query', made, SLOT, { ...REQUEST, qs: { language: 'de' } }, LATER, NOTHING],
	['an unclear creation, whatever the text is', unclear, SLOT, OTHER_TEXT, RUN, UNCLEAR],
	["and for n8n's Retry", unclear, SLOT, REQUEST, LATER, UNCLEAR],
	['not for one of another text', unclear, SLOT, OTHER_TEXT, LATER, NOTHING],
])('a try finds %s', (_name, storeOf, slot, request, run, expected) => {
	expect(earlier(storeOf(), run, slot, request)).toMatchObject(expected);
});

test('the same request to another service is another one, a resume URL of another execution is not', () => {
	const elsewhere = asked(SLOT, REQUEST, 'https://b.example');
	expect(lookUp(new Ledger(made(), LATER), elsewhere)).toEqual(NOTHING);
	const withUrl = (receive_url: string) => ({ ...REQUEST, body: { ...REQUEST.body, receive_url } });
	const url = 'https://n8n.example/wait/7/node';
	const store = storeAfter(RUN, (ledger) => {
		ledger.sending(asked(SLOT, withUrl(`${url}?signature=secret`)), 4);
		ledger.created(asked(SLOT), CREATED);
	});
	expect(JSON.stringify(store)).not.toContain('secret');
	expect(earlier(store, LATER, SLOT, withUrl('https://n8n.example/wait/8/node'))).toEqual({
		...CREATED,
		isTakenUp: true,
	});
});

test('what a Retry has taken up is its own, by the slot, and no other item of it takes it', () => {
	const store = made();
	expect(earlier(store, LATER)).toMatchObject(FOUND);
	expect(earlier(store, LATER, OTHER_ITEM)).toEqual(NOTHING);
	expect(earlier(store, LATER, SLOT, OTHER_TEXT)).toMatchObject(FOUND);
	expect(earlier(store, LATEST)).toMatchObject(FOUND);
});

test('a task counts before a creation of the same request that is unclear', () => {
	const store = storeAfter(RUN, (ledger) => {
		lose(ledger);
		create(ledger, OTHER_ITEM);
	});
	expect(earlier(store, LATER)).toMatchObject(FOUND);
	expect(earlier(store, LATER, OTHER_ITEM)).toMatchObject(UNCLEAR);
});

test('one without any answer counts least, and a task that was found has none of its own', () => {
	const store = storeAfter(RUN, (ledger) => {
		ledger.sending(asked(SLOT), 3);
		ledger.created(asked(OTHER_ITEM), CREATED);
	});
	expect(earlier(store, LATER)).toMatchObject(FOUND);
	expect(earlier(store, LATER, OTHER_ITEM)).toMatchObject({ kind: 'unclear', sentAt: 3 });
});

test('one that named its task counts before one that did not', () => {
	const failure = { ...FAILURE, taskId: 't9' };
	const store = storeAfter(RUN, (ledger) => {
		lose(ledger);
		ledger.sending(asked(SLOT), 6);
		ledger.unclear(asked(SLOT), { failure, sentAt: 6 });
	});
	expect(earlier(store, LATER)).toMatchObject({ kind: 'unclear', failure });
});

test('what is sent again stands before what was unclear, which comes back where nothing was created', () => {
	const store = unclear();
	storeAfter(RUN, (ledger) => ledger.sending(asked(SLOT), 9), store);
	expect(earlier(store, RUN)).toMatchObject({ kind: 'unclear', sentAt: 9 });
	storeAfter(RUN, (ledger) => ledger.forget(SLOT), store);
	expect(earlier(store, RUN)).toEqual(UNCLEAR);
});

test('a round that has handed out its tasks leaves them to no Retry of another round', () => {
	const store = storeAfter(RUN, (ledger) => {
		create(ledger);
		create(ledger, OTHER_ITEM, SECOND);
		ledger.close(new Set([0]));
	});
	expect(earlier(store, RUN)).toMatchObject(FOUND);
	const retry = { ...LATER, runIndex: 1 };
	expect(earlier(store, retry)).toMatchObject(SECOND);
	expect(earlier(store, retry, OTHER_ITEM)).toEqual(NOTHING);
	// It was handed out to a run of which n8n has kept nothing.
	expect(earlier(store, LATER)).toMatchObject(FOUND);
});

describe('as a tool what counts is the call', () => {
	const tool = (id: number, executionId = '7', agent = 'Agent:0'): NodeRun => ({
		executionId,
		runIndex: id,
		call: { id: `call ${id}`, agent },
	});
	const called = (isOut: boolean | undefined, act = create) =>
		storeAfter(tool(0), (ledger) => {
			act(ledger);
			if (isOut !== undefined) ledger.close(new Set(isOut ? [0] : []));
		});

	test.each<[string, LedgerStore, NodeRun, Request, object]>([
		['its own, in another try', called(false), tool(0), OTHER_TEXT, FOUND],
		['what an equal one could not hand out', called(false), tool(1), REQUEST, FOUND],
		['not what one with another text could not', called(false), tool(1), OTHER_TEXT, NOTHING],
		['nor what was handed out', called(true), tool(1), REQUEST, NOTHING],
		['nor what another call is about', called(undefined), tool(1), REQUEST, NOTHING],
		['what is unclear', called(false, lose), tool(1), REQUEST, UNCLEAR],
		["in n8n's Retry all of it", called(true), tool(1, '8'), REQUEST, FOUND],
		[
			'but what was handed out to another agent',
			called(true),
			tool(1, '8', 'B:0'),
			REQUEST,
			NOTHING,
		],
		['also what is unclear', called(false, lose), tool(1, '8'), REQUEST, UNCLEAR],
	])('%s', (_name, store, run, request, expected) => {
		expect(earlier(store, run, SLOT, request)).toMatchObject(expected);
	});

	test('a call whose own creation is unclear takes no task that another one is about to try again', () => {
		const store = storeAfter(tool(0), lose);
		storeAfter(tool(1), (ledger) => (create(ledger), ledger.close(new Set())), store);
		expect(earlier(store, tool(0))).toMatchObject(UNCLEAR);
		expect(earlier(store, tool(1))).toMatchObject(FOUND);
	});

	test('two calls never get the same task', () => {
		const store = called(true);
		// Also if both began before one of them took it.
		const calls = [1, 2].map((id) => new Ledger(store, tool(id, '8')));
		const found = calls.map((ledger) => lookUp(ledger, asked(SLOT)));
		expect(found).toMatchObject([FOUND, NOTHING]);
	});
});

const NOTED = { execution: '7', slot: '0:0:0', hash: 'h', sentAt: 4 };
const TASK = { ...NOTED, taskId: 't1', createdAt: 5 };
const notesOf = (entries: unknown, more: object = {}) => ({
	createdTasks: { format: 1, openedIn: '7:0', entries, unrecorded: null, texts: {}, ...more },
});

test.each<[string, object]>([
	['text in place of the entries', notesOf('x')],
	['null in place of one of another slot', notesOf([TASK, null])],
	['an entry without a task', notesOf([NOTED])],
	['an entry without the time of its sending', notesOf([{ ...TASK, sentAt: 'x' }])],
	['an entry without a hash', notesOf([{ ...TASK, hash: 1 }])],
	['an entry of nobody', notesOf([{ ...TASK, execution: undefined }])],
	['another format', notesOf([], { format: 0 })],
	['text in place of a time', notesOf([], { unrecorded: 'x' })],
	['no run', notesOf([], { openedIn: undefined })],
])('what %s has replaced may be paid for: nothing is sent', (_name, store) => {
	const ledger = new Ledger(store as LedgerStore, RUN);
	const found = lookUp(ledger, asked(SLOT));
	expect(found).toMatchObject({ kind: 'unread', failure: { outcome: 'unknown' } });
	expect(() => ledger.sending(asked(SLOT), 4)).toThrow(/can't be read; the task may exist/);
});

test('what can not be taken up may be paid for: nothing is sent', () => {
	const store = made();
	const { entries } = store.createdTasks as { entries: object[] };
	entries.forEach((entry) => Object.freeze(entry));
	expect(earlier(store, LATER)).toMatchObject({ kind: 'unread' });
});

test('an entry without its answer is a task, and one that was only sent is unclear', () => {
	expect(earlier(notesOf([TASK]), RUN)).toMatchObject(FOUND);
	const sent = storeAfter(RUN, (ledger) => ledger.sending(asked(SLOT), 4));
	const { kind, failure } = earlier(sent, LATER) as { kind: string; failure: Failure };
	expect([kind, failure.outcome]).toEqual(['unclear', 'unknown']);
	expect(failure.message).toMatch(/n8n ended before its answer came; the task may exist/);
});

test('what an execution may have sent that n8n has killed is looked for until the item is reached', () => {
	const store = {};
	const killed = (beganAt: number) => ({ beganAt, endedBefore: 9 });
	const tryOf = (
		run: NodeRun,
		since: ReturnType<typeof killed> | undefined,
		acts = (_: Ledger) => {},
	) => {
		const ledger = new Ledger(store, run, { killed: since });
		const kinds = [SLOT, OTHER_ITEM].map((slot) => lookUp(ledger, asked(slot)));
		acts(ledger);
		return kinds;
	};
	const unrecorded = { kind: 'unrecorded', sentAt: 3, endedBefore: 9 };
	expect(tryOf(RUN, killed(3))).toEqual([unrecorded, unrecorded]);
	expect(tryOf(RUN, undefined, create)).toEqual([unrecorded, unrecorded]);
	// A later execution that comes with notes says when the first one of them began.
	expect(tryOf(LATER, killed(7))).toMatchObject([FOUND, unrecorded]);
	const left = storeAfter(RUN, () => {});
	const after = new Ledger(left, LATER, { killed: killed(7) });
	expect(lookUp(after, asked(SLOT))).toEqual(NOTHING);
});

test('a run that n8n killed saved none of its notes: its Retry comes with those of the run before', () => {
	const killed = { beganAt: 3, endedBefore: 9 };
	const unrecorded = { kind: 'unrecorded', sentAt: 3, endedBefore: 9 };
	const retryOf = (repeated: string | undefined, run: NodeRun, store = storeAfter(RUN, create)) => {
		const ledger = new Ledger(store, run, { killed: { ...killed, repeated } });
		return [SLOT, OTHER_ITEM].map((slot) => lookUp(ledger, asked(slot)));
	};
	expect(retryOf('7', LATER)).toMatchObject([FOUND, NOTHING]);
	expect(retryOf('8', LATEST)).toMatchObject([FOUND, unrecorded]);
	const whole = storeAfter(LATER, () => {}, storeAfter(RUN, create));
	expect(retryOf('8', LATEST, whole)).toMatchObject([FOUND, NOTHING]);
	expect(retryOf('7', { ...LATER, runIndex: 1 })[1]).toEqual(unrecorded);
	// Older versions of n8n don't name that execution, nor does n8n 2.41 once its Retry has slept.
	expect(retryOf(undefined, { ...LATER, runIndex: 1 })[1]).toEqual(unrecorded);
	expect(retryOf(undefined, LATER)).toMatchObject([FOUND, NOTHING]);
	// The first round of the Retry has decided: the execution before it failed, so no round of it was lost.
	const failed = storeAfter(LATER, () => {}, storeAfter(RUN, create));
	expect(retryOf('7', { ...LATER, runIndex: 1 }, failed)).toMatchObject([FOUND, NOTHING]);
});

test('what is noted is cleaned and small', () => {
	const store = {};
	const clean = <T>(value: T) => JSON.parse(JSON.stringify(value).replaceAll('token', '***')) as T;
	const ledger = new Ledger(store, RUN, { clean });
	const url = 'https://n8n.example/webhook-waiting/7?signature=resume';
	const request = { ...REQUEST, body: { text: 'a', auth: 'token', receive_url: url } };
	ledger.sending(asked(SLOT, request), 4);
	ledger.created(asked(SLOT, request), { ...CREATED, answer: { task_id: 't1', echo: 'token' } });
	ledger.sending(asked(OTHER_ITEM, request), 4);
	const failure = { outcome: 'unknown', message: 'token', description: 'd' } as const;
	ledger.unclear(asked(OTHER_ITEM, request), { failure, sentAt: 5 });
	expect(JSON.stringify(store)).not.toMatch(/token|resume/);
	expect(earlier(store, RUN)).toMatchObject({ taskId: 't1' });
	const list = Array.from({ length: 1_000 }, (_, index) => `text ${index}`);
	const large = { ...CREATED, answer: { task_id: 't1', list } };
	const small = storeAfter(RUN, (each) => create(each, SLOT, large));
	expect(earlier(small, RUN)).toEqual(FOUND);
});

test.each<[string, number, NodeRun, boolean]>([
	['stay those of the first try', 0, RUN, true],
	['are those of their item', 1, RUN, false],
	['are those of their execution', 0, LATER, false],
	['are those of their round of a loop', 0, LOOP, false],
])('the texts that a long text was split into %s', (_name, item, run, areFirst) => {
	const [first, other] = [['One at 9:00.', 'Two.'], ['One at 9:01. Two.']];
	const store = storeAfter(RUN, (ledger) => ledger.firstTexts(0, first));
	expect(new Ledger(store, run).firstTexts(item, other)).toEqual(areFirst ? first : other);
	expect(new Ledger(store, RUN).left).toEqual({ made: [], unclear: [] });
});

test.each<[string, NodeRun, NodeRun, boolean]>([
	['the same run', RUN, RUN, true],
	['a later round', { ...RUN, runIndex: 10 }, { ...RUN, runIndex: 10 }, true],
	['another execution', RUN, LATER, false],
	['another round of a loop', RUN, LOOP, false],
	['a later round that ends alike', RUN, { ...RUN, runIndex: 10 }, false],
	['an earlier round that begins alike', { ...RUN, runIndex: 10 }, LOOP, false],
])('what a run has left, for the error of a later try, in %s', (_name, first, run, isLeft) => {
	const store = storeAfter(first, (ledger) => {
		create(ledger);
		create(ledger, { item: 0, part: 1 }, SECOND);
		lose(ledger, OTHER_ITEM);
		create(ledger, { item: 3, part: 0 }, { ...CREATED, taskId: 't4' });
		ledger.forget({ item: 3, part: 0 });
	});
	const tasks = [CREATED, SECOND].map(({ taskId }) => ({ item: 0, taskId }));
	expect(new Ledger(store, run).taskIds).toEqual(tasks.map(({ taskId }) => taskId));
	expect(new Ledger(store, run).left).toEqual({
		made: isLeft ? tasks : [],
		unclear: isLeft ? [{ item: 1, failure: FAILURE }] : [],
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
	const noted = storeAfter(RUN, (ledger) => ledger.sending(asked(SLOT, streamed), 4));
	expect(JSON.stringify(noted)).toContain('"sha256":"1"');
});

test('times are noted by the machine’s clock: ours stands still while the machine sleeps', () => {
	const store = storeAfter(RUN, create);
	storeAfter(RUN, (ledger) => lose(ledger, OTHER_ITEM), store);
	jest.spyOn(Date, 'now').mockReturnValue(performance.timeOrigin + 3_600_000);
	expect(earlier(store, LATER)).toMatchObject({ createdAt: 5 - 3_600_000 });
	// Nor when it was sent: somebody may have set the clock as well.
	expect(earlier(store, LATER, OTHER_ITEM)).toHaveProperty('sentAt', undefined);
	// Nothing was sent in the future, whatever somebody has set the machine's clock to.
	jest.spyOn(Date, 'now').mockReturnValue(performance.timeOrigin - 1e13);
	expect(earlier(store, LATER)).toMatchObject({ createdAt: performance.timeOrigin });
});

test('5,000 tasks are taken up without holding up n8n', () => {
	const slots = Array.from({ length: 5_000 }, (_, item) => ({ item, part: 0 }));
	const store: LedgerStore = {};
	const ledger = new Ledger(store, RUN);
	for (const slot of slots) create(ledger, slot, { ...CREATED, taskId: `t${slot.item}` });
	let reads = 0;
	const { entries } = store.createdTasks as { entries: object[] };
	// All requests are equal, the worst case.
	const counted = entries.map(
		(entry) =>
			new Proxy(entry, { get: (of, name) => ((reads += 1), Reflect.get(of, name) as unknown) }),
	);
	entries.splice(0, entries.length, ...counted);
	const retry = new Ledger(store, LATER);
	const found = slots.map((slot) => lookUp(retry, asked(slot)));
	expect(found.at(-1)).toMatchObject({ taskId: 't4999' });
	expect(reads).toBeLessThan(500_000);
});
