/** Task: Get Many: whatever a service's list of tasks looks like, and that it may have none. */
import type { IDataObject } from 'n8n-workflow';
import { ItemFields } from '../../nodes/MediaGeneration/actions/fields';
import { listTasks } from '../../nodes/MediaGeneration/actions/getTasks';
import { goOn, runNode, type Answer, type Given } from '../model/node';
import { readTaskList } from '../../nodes/MediaGeneration/transport/taskList';
import { fakeN8n } from '../support/n8n';
import { answer, scriptedClient } from '../support/replies';

const getAll = { resource: 'task', operation: 'getAll', returnAll: false, limit: 50, options: {} };
const all = { ...getAll, returnAll: true };

const task = (number: number, more: object = {}): IDataObject => ({
	id: `t${number}`,
	status: 'doing',
	type: 'sound_effect',
	created_at: new Date(number * 1_000).toISOString(),
	...more,
});
const range = (from: number, to: number) =>
	Array.from({ length: to - from }, (_, index) => task(from + index));
const queryOf = (url: string) => Object.fromEntries(new URL(url).searchParams);

/** Gives out pages; the last one repeats where a test says so. */
const pages =
	(given: unknown[][], shape: (page: unknown[], number: number) => unknown = (page) => page) =>
	({ url }: { url: string }): Answer => {
		const number = Number(queryOf(url).page);
		return { body: shape(given[number - 1] ?? [], number) };
	};
const idsOf = async (given: Given) =>
	(await runNode(given)).json.map(({ task_id: taskId }) => taskId);

test('one item per task, newest first, as Task: Get has it', async () => {
	const files = { audio_url: 'https://files.example/a.mp3' };
	const done = task(1, { status: 'done', metadata: files, error: '' });
	const { json, output, requests } = await runNode({
		parameters: [getAll, { ...getAll, limit: 1, filters: { type: ' sound_effect' } }],
		answer: pages([[done, task(2, { error: 'too loud' })]]),
	});
	const { error: _empty, ...rest } = done;
	expect(json.slice(0, 2)).toEqual([
		{ ...task(2), task_error: 'too loud', task_id: 't2', outputs: [] },
		{ ...rest, task_id: 't1', outputs: [{ url: files.audio_url, kind: 'audio' }] },
	]);
	expect(json).toHaveLength(3);
	expect(output.map(({ pairedItem }) => pairedItem)).toEqual([0, 0, 1].map((item) => ({ item })));
	const queries = ['page=1&limit=50', 'page=2&limit=50', 'page=1&limit=1&type=sound_effect'];
	expect(requests).toEqual(queries.map((query) => `GET /v1/tasks?${query}`));
});

test('a long list gives others their turns', async () => {
	const metadata = {
		audio_url: 'https://files.example/a.mp3',
		srt_url: 'https://files.example/a.srt',
	};
	const data = range(1, 10_000).map((each) => ({ ...each, status: 'done', metadata }));
	let turns = 0;
	let tick: NodeJS.Immediate;
	const again = () => ((turns += 1), (tick = setImmediate(again)));
	const client = scriptedClient(() => {
		again();
		return answer(200, { data, has_more: false });
	});
	const { context } = fakeN8n({ parameters: all });
	const items = await listTasks({ client }, new ItemFields(context, 0));
	clearImmediate(tick!);
	expect(items).toHaveLength(data.length);
	expect(turns).toBeGreaterThan(2);
});

test.each<[string, number, (page: unknown[], number: number) => unknown]>([
	['without a word of what follows', 4, (page) => page],
	['as far as the service says', 3, (data, page) => ({ data, pagination: { has_more: page < 3 } })],
])('pages are followed: %s, %d requests', async (_, times, shape) => {
	const given = [range(200, 300), range(100, 200), range(70, 100)];
	const { json, requests } = await runNode({ parameters: all, answer: pages(given, shape) });
	expect(json).toHaveLength(230);
	expect(json[0]?.task_id).toBe('t299');
	expect(requests).toHaveLength(times);
});

test.each<[Answer, object]>([
	[{ status: 404, body: {} }, { task_id: 't1' }],
	[{ body: {} }, { error: expect.stringMatching(/page=2.* an unexpected shape$/) as string }],
])('behind the last page: %j', async (answer, expected) => {
	const given = pages([[task(1)]]);
	const answered = (request: { url: string }, count: number) =>
		count === 0 ? given(request) : answer;
	const { json } = await runNode({ parameters: all, answer: answered, node: goOn });
	expect(json).toMatchObject([expected]);
});

test.each<[object, Record<string, unknown>, boolean]>([
	[{}, {}, true],
	[{ has_more: true }, {}, false],
	[{ last_page: 1 }, { 'x-total-count': '1' }, true],
	[{ last_page: 2 }, {}, false],
	[{}, { link: '</v1/tasks?page=2>; rel="next"' }, false],
])('a page that is not there is the end, unless it was promised: %j, %j', async (...given) => {
	const [more, headers, isWhole] = given;
	const client = scriptedClient((_, count) =>
		count === 1 ? answer(200, { data: [task(1)], ...more }, headers) : answer(404, {}),
	);
	expect(await readTaskList({ client, limit: 50 })).toMatchObject({ isWhole });
});

test('a list is whole behind its last page, but not on an empty page before it', async () => {
	const given = [[task(3)], [task(2)], [task(1)]];
	const isWhole = async (shown: unknown[][]) => {
		const client = scriptedClient((_, count) =>
			answer(200, { data: shown[count - 1] ?? [], total_pages: 3 }),
		);
		return (await readTaskList({ client, limit: 50 })).isWhole;
	};
	expect(await isWhole(given)).toBe(true);
	expect(await isWhole(given.slice(0, 1))).toBe(false);
});

test.each([
	[2, true],
	[1, false],
])('a whole list that is read to %d entries leaves nothing out: %j', async (limit, isWhole) => {
	const client = scriptedClient(() => answer(200, { data: range(1, 3), has_more: false }));
	expect(await readTaskList({ client, limit })).toMatchObject({ isWhole });
});

test.each<[string, object, IDataObject[], string[]]>([
	[
		'it does not say of all when they began',
		all,
		[task(1), task(3, { created_at: null }), task(2)],
		['t1', 't3', 't2'],
	],
	['a limit cuts what could be newer', { ...getAll, limit: 2 }, range(1, 4), ['t1', 't2']],
])('in the order of the service, where %s', async (_, parameters, listed, expected) => {
	expect(await idsOf({ parameters, answer: pages([listed]) })).toEqual(expected);
});

test.each([
	['a limit is kept, and no page beyond it is read', 100, { ...getAll, limit: 200 }, 200, 2],
	['a list without end is read up to its thousandth page', 1, all, 1_000, 1_000],
])('%s', async (_, size, parameters, tasks, times) => {
	const endless = ({ url }: { url: string }) => {
		const from = size * Number(queryOf(url).page);
		return { body: range(from, from + size) };
	};
	const { json, requests } = await runNode({ parameters, answer: endless });
	expect([json.length, requests.length]).toEqual([tasks, times]);
});

test('a task that stands on two pages comes once, and one without a usable ID never; a list that repeats itself ends', async () => {
	const overlapping = [[...range(2, 5), null, {}, { id: 'a/b' }], range(0, 3)];
	const ids = await idsOf({ parameters: all, answer: pages(overlapping) });
	expect(ids).toEqual(['t4', 't3', 't2', 't1', 't0']);
	const { json, requests } = await runNode({
		parameters: all,
		answer: () => ({ body: { data: range(0, 3), has_more: true } }),
	});
	expect([json.length, requests.length]).toEqual([3, 2]);
});

test('nothing in it opens a webhook or an account', async () => {
	const url = 'https://n8n.example/webhook-waiting/7?signature=token#x';
	const image_url = 'https://files.example/sk_SK-voices/a.png?size=1';
	const text = 'LANG=sk_SK.UTF-8';
	const urls = { receive_url: url, webhookUrl: url, image_url, text };
	const record = task(1, { id: 'task_123456', ...urls, made_by: 'key sk_0123456789abcdef' });
	const { json } = await runNode({ parameters: getAll, answer: pages([[record]]) });
	const bare = 'https://n8n.example/webhook-waiting/7?signature=***#x';
	const shown = { receive_url: bare, webhookUrl: bare, image_url, text };
	expect(json).toMatchObject([{ task_id: 'task_123456', ...shown, made_by: 'key sk_****cdef' }]);
});

test.each<[object, unknown[]]>([
	[{ status: 'Done' }, ['t1']],
	// In the zone of the workflow.
	[{ createdAfter: '1970-01-01T09:00:02.500' }, ['t3']],
	[{ createdAfter: 'soon' }, ["The filter 'Created After' is not a time"]],
	// Without a filter, a node behind would get all tasks.
	[{ status: ['done'] }, ["The field 'Status' is not text"]],
])('one that fits %j, wherever it stands', async (filters, expected) => {
	const answer = pages([[task(2), task(3), task(1, { status: 'done' })]]);
	const parameters = { ...getAll, limit: 1, filters };
	const { json } = await runNode({ parameters, answer, node: goOn });
	expect(json.map(({ task_id: taskId, error }) => taskId ?? error)).toEqual(expected);
});

test('a limit that is none is refused for its item', async () => {
	const { json, requests } = await runNode({ parameters: { ...getAll, limit: 0 }, node: goOn });
	const error = "'Limit' must be a whole number of at least 1";
	expect(json).toMatchObject([{ outcome: 'invalid', error }]);
	expect(requests).toEqual([]);
});
