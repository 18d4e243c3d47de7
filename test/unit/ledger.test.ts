import { Ledger, type RunIdentity } from '../../nodes/MediaGeneration/create/ledger';

const RUN: RunIdentity = { executionId: '7', runIndex: 0, baseUrl: 'https://api.example' };
const REQUEST = { kind: 'speech', path: '/v1/x', body: { text: 'a' } };
const CREATED = { taskId: 't1', createdAt: 5, answer: { task_id: 't1' } };
const FAILURE = { outcome: 'unknown' as const, message: 'm', description: 'd' };

/** What n8n does between two tries: the context goes through JSON. */
const saved = (store: Record<string, unknown>) =>
	JSON.parse(JSON.stringify(store)) as Record<string, unknown>;

test('what an earlier try created is found again, also after n8n saved it', () => {
	const store = {};
	new Ledger(store, RUN).noteCreated(3, REQUEST, CREATED);
	expect(new Ledger(saved(store), RUN).created(3, REQUEST)).toEqual(CREATED);
});

test('a resume URL with another token is the same request', () => {
	const store = {};
	const body = { ...REQUEST.body, receive_url: 'https://n8n.example/1?signature=a' };
	new Ledger(store, RUN).noteCreated(0, { ...REQUEST, body }, CREATED);
	expect(
		new Ledger(store, RUN).created(0, {
			...REQUEST,
			body: { ...body, receive_url: 'https://n8n.example/1?signature=b' },
		}),
	).toEqual(CREATED);
});

test.each<[string, number, typeof REQUEST & { qs?: { f: string } }, RunIdentity]>([
	['another item', 1, REQUEST, RUN],
	['another text', 0, { ...REQUEST, body: { text: 'b' } }, RUN],
	['another route', 0, { ...REQUEST, path: '/v1/y' }, RUN],
	['another query', 0, { ...REQUEST, qs: { f: 'mp3' } }, RUN],
	['another round of a loop', 0, REQUEST, { ...RUN, runIndex: 1 }],
	['another service', 0, REQUEST, { ...RUN, baseUrl: 'https://other.example' }],
])('%s creates anew', (_name, index, request, run) => {
	const store = {};
	new Ledger(store, RUN).noteCreated(0, REQUEST, CREATED);
	expect(new Ledger(store, run).created(index, request)).toBeUndefined();
});

test('an unknown outcome stands in the same execution, and only there', () => {
	const store = {};
	new Ledger(store, RUN).noteUnknown(0, REQUEST, FAILURE);
	expect(new Ledger(saved(store), RUN).unknown(0, REQUEST)).toEqual(FAILURE);
	expect(new Ledger(store, { ...RUN, executionId: '8' }).unknown(0, REQUEST)).toBeUndefined();
	expect(new Ledger(store, RUN).created(0, REQUEST)).toBeUndefined();
});

test('a forgotten task is created anew', () => {
	const ledger = new Ledger({}, RUN);
	ledger.noteCreated(0, REQUEST, CREATED);
	ledger.forget(0, REQUEST);
	expect(ledger.created(0, REQUEST)).toBeUndefined();
});

test.each([
	['a list', []],
	['text', 'x'],
	['null', null],
	['nonsense entries', { a: 1 }],
])('a store that holds %s is no obstacle', (_name, createdTasks) => {
	const ledger = new Ledger({ createdTasks }, RUN);
	expect(ledger.created(0, REQUEST)).toBeUndefined();
	ledger.noteCreated(0, REQUEST, CREATED);
	expect(ledger.created(0, REQUEST)).toEqual(CREATED);
});
