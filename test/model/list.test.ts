/** Creations without an answer are found in a list that lags, lies about order, and holds other people's tasks. */
import { PLAIN_HISTORY, PLAIN_ITEM, PLAIN_NODE, PLAIN_TASK } from './history';
import { NO_LIST, type ListScript } from './list';
import { good, ID, idOf, runNode } from './node';
import { play } from './play';
import { loadProcesses } from './processes';

const lost = ['HTTP 502 page', 'reset', '200 empty'] as const;
const creations = lost.map((kind) => ({ kind, created: true, retryAfter: 'none' as const }));
const others: ListScript['others'] = ['older', 'other type', 'other text'];
const list: ListScript = { ...NO_LIST, kind: 'data', others };
const fields = { resource: 'speech', operation: 'generateByVoiceName', voice: 'v' };
const parameters = creations.map((_, index) => ({ ...fields, text: `i${index}p0`, options: {} }));

test.each<[string, Partial<ListScript>]>([
	['at once', {}],
	['late, in any order, by another clock', { lag: 10, order: 'shuffled', ahead: -7_200 }],
	['oldest first, as a bare list', { order: 'oldest', kind: 'bare', ahead: 90 }],
])('every way to lose an answer: found %s', async (_, script) => {
	const { json, sent } = await runNode({ parameters, creations, list: { ...list, ...script } });
	expect(json.map(({ task_id: taskId }) => taskId)).toEqual(sent.map(({ task }) => task?.id));
	expect(sent).toHaveLength(3);
});

test.each<[string, Partial<ListScript>]>([
	['without a list', { kind: 'none' }],
	['with one that repeats nothing', { repeats: false }],
])('not found %s: unknown, and sent once', async (_, script) => {
	const { json, sent } = await runNode({
		parameters,
		creations,
		list: { ...list, ...script },
		node: { onError: 'continueRegularOutput', tries: 3 },
	});
	expect(json.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown', 'unknown']);
	expect(sent).toHaveLength(3);
});

test('a try that finds nothing, as the list lags, is followed by one that does', async () => {
	const { broken, story } = await play(
		{
			...PLAIN_HISTORY,
			list: { ...list, lag: 16 },
			node: { ...PLAIN_NODE, tries: 3 },
			items: [PLAIN_ITEM],
			creations,
		},
		loadProcesses(),
	);
	expect(broken).toEqual([]);
	expect(story.filter((line) => line.includes('POST'))).toHaveLength(1);
	expect(story.at(-1)).toMatch(/execution 1 ends: success/);
});

/** A list that does not show the task beyond doubt, or not at all: nothing follows from that. */
test.each<[string, Partial<ListScript>]>([
	['without times', { times: 'none' }],
	['with another name for them', { times: 'another name' }],
	['with local times that name no zone', { times: 'local' }],
	['that lacks the task', { lag: 3_600 }],
	['that is none', { kind: 'none' }],
])('a list %s: sent once, by no try and by no Retry again', async (_, script) => {
	const { executions, sent } = await runNode({
		parameters: parameters[0] ?? {},
		creations: creations.slice(0, 1),
		list: { ...list, others: [], ...script },
		node: { tries: 2 },
		retries: [{ changed: false }, { changed: false }],
	});
	expect(executions.map(({ status }) => status)).toEqual(['error', 'error', 'error']);
	expect(sent).toHaveLength(1);
});

test.each<[string, Partial<ListScript>]>([
	['is none', { kind: 'none' }],
	['can not be read', { faults: ['busy', 'busy', 'busy', 'busy', 'busy', 'busy', 'busy', 'busy'] }],
	['has it without its text', { repeats: false }],
	['shows it late', { lag: 30 }],
])('n8n is killed, and the list %s: no Retry pays again', async (_, script) => {
	for (const savesProgress of [true, false]) {
		const { broken, story } = await play(
			{
				...PLAIN_HISTORY,
				list: { ...list, others: [], ...script },
				node: { ...PLAIN_NODE, savesProgress },
				tasks: [{ ...PLAIN_TASK, seconds: 40 }],
				events: [{ at: 11, kind: 'death' }],
				retries: [{ changed: false }, { changed: false }],
			},
			loadProcesses(),
		);
		expect(broken).toEqual([]);
		expect(story.filter((line) => line.includes('POST'))).toHaveLength(1);
	}
});

test.each([true, false])(
	'a Retry that n8n kills: the next one sends nothing again (saved progress: %s)',
	async (savesProgress) => {
		const { broken, story } = await play(
			{
				...PLAIN_HISTORY,
				...{ list: NO_LIST, items: [PLAIN_ITEM, PLAIN_ITEM] },
				node: { ...PLAIN_NODE, savesProgress },
				creations: [good, { kind: 'out of credits', created: false, retryAfter: 'none' }],
				tasks: [PLAIN_TASK, { ...PLAIN_TASK, seconds: 40 }],
				events: [{ at: 15, kind: 'death' }],
				retries: [{ changed: false }, { changed: false }],
			},
			loadProcesses(),
		);
		expect(broken).toEqual([]);
		expect(story.filter((line) => line.includes('POST'))).toHaveLength(3);
	},
);

test('what was found is taken up by the next try, and what was refused is sent again by it', async () => {
	const taken = await runNode({
		parameters: parameters[0] ?? {},
		creations: creations.slice(0, 1),
		list: { ...list, others: [] },
		files: ['HTTP 404', 'HTTP 404'],
		node: { tries: 2 },
	});
	expect(taken.json).toMatchObject([{ status: 'done' }]);
	expect(taken.sent).toHaveLength(1);
	const refused = { kind: 'refused', created: false, retryAfter: 'none' } as const;
	const again = await runNode({
		...{ parameters: parameters[0] ?? {}, creations: [refused], node: { tries: 2 } },
	});
	expect(again.json).toMatchObject([{ status: 'done' }]);
	expect(again.sent).toHaveLength(2);
});

test('another provider than the last one names its type differently: found all the same', async () => {
	const given = (index: number) => ({
		...fields,
		text: `i${index}p0`,
		options: { maxActiveTasks: 1 },
	});
	const { json, sent } = await runNode({
		parameters: [given(0), given(1)],
		creations: [good, ...creations.slice(0, 1)],
		list: { ...list, others: [] },
		answer: ({ url }) =>
			url.endsWith(`/task/${ID}`)
				? { body: { id: ID, status: 'done', type: 'minimax_tts', metadata: {} } }
				: undefined,
		node: { onError: 'continueRegularOutput' },
	});
	expect(sent).toHaveLength(2);
	expect(json[1]).toMatchObject({ task_id: idOf(1) });
});
