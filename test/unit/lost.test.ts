/** A creation whose answer never came: the one task that is surely it is taken, and whatever else could be it is named. */
import type { CreationRequest } from '../../nodes/MediaGeneration/answers/request';
import type { Reply } from '../../nodes/MediaGeneration/answers/reply';
import {
	expectTask,
	findLost,
	withCandidates,
	type Sought,
} from '../../nodes/MediaGeneration/task/lost';
import { NO_LIST } from '../model/list';
import { runNode, unclear } from '../model/node';
import { answer, scriptedClient } from '../support/replies';
import { VirtualClock } from '../support/virtualClock';

const START = 1_700_000_000_000;
const request = (text = 'rain'): CreationRequest => ({
	...{ kind: 'sound-effect', path: '/v1/task/sound-effect' },
	body: { text },
});
/** A task of another round of a loop. */
const NOTED = 'noted';
const iso = (ms: number) => new Date(START + ms).toISOString();
/** A listed task that was made so many ms after the request. */
const taskOf = (id: string, at = 500, more: object = {}) => {
	return { id, text: 'rain', type: 'sound_effect', status: 'doing', created_at: iso(at), ...more };
};
type Listed = ReturnType<typeof taskOf>;

interface Given {
	aheadMs?: number;
	/** Whether answers have a Date header. */
	dated?: boolean;
	/** The answer to a request, where it is not the list. */
	instead?: (
		path: string,
		count: number,
		clock: VirtualClock,
	) => Reply | Promise<Reply> | undefined;
}

/** A service with this list. The times are by its clock, which is ahead of ours. */
function setting(tasks: Listed[], { aheadMs = 0, dated = true, instead }: Given = {}) {
	const clock = new VirtualClock(START);
	const readAt: number[] = [];
	const ledger = { taskIds: [NOTED] };
	const client = scriptedClient(({ path }, count) => {
		readAt.push(clock.now() - START);
		const other = instead?.(path, count, clock);
		if (other !== undefined) return other;
		const page = Number(/page=(\d+)/.exec(path)?.[1]);
		const data = tasks.slice(100 * (page - 1), 100 * page);
		const headers = dated ? { date: new Date(clock.now() + aheadMs).toUTCString() } : {};
		return answer(200, { data, has_more: tasks.length > 100 * page }, headers);
	});
	const search = async (given: Partial<Sought> = {}, { signal } = new AbortController()) =>
		await clock.run(
			findLost(
				{ client, ledger, now: clock.now, sleep: clock.sleep, runEnded: signal },
				{ request: request(), sentAt: START, isEarlier: true, ...given },
			),
		);
	/** The ID that is found, or those that could be it. */
	const found = async (given: Partial<Sought> = {}) => {
		const finding = await search(given);
		return finding.kind === 'created'
			? finding.taskId
			: finding.candidates.map(({ taskId }) => taskId);
	};
	return { client, search, found, readAt };
}

const other = { text: 'wind' };
const HOUR = 3_600_000;
test.each<[string, Listed[], unknown, Given?]>([
	['the one that repeats the text', [taskOf('a'), taskOf('b', 500, other)], 'a'],
	['not one that is older', [taskOf('a', -2_000), taskOf('b')], 'b'],
	[
		'by a clock that is ahead',
		[taskOf('a', HOUR - 2_000), taskOf('b', HOUR)],
		'b',
		{ aheadMs: HOUR },
	],
	['one of two', [taskOf('a'), taskOf('b')], ['a', 'b']],
	['not one that is noted', [taskOf(NOTED), taskOf('b')], 'b'],
	['one without a text', [taskOf('a', 500, { text: undefined })], ['a']],
	['beside one without a text', [taskOf('a', 500, { text: null }), taskOf('b')], 'b'],
	['one without a time', [taskOf('a', 500, { created_at: undefined })], ['a']],
	['one whose time is a day', [taskOf('a', 0, { created_at: iso(0).slice(0, 10) })], ['a']],
	['one whose time is a minute', [taskOf('a', 0, { created_at: '2023-11-14T22:13:00Z' })], ['a']],
	['by a service that does not say its time', [taskOf('a', -HOUR)], ['a'], { dated: false }],
	['which says nothing of what is a day older', [taskOf('a', -25 * HOUR)], [], { dated: false }],
	[
		'one beside an equal one without a time',
		[taskOf('a'), taskOf('b', 0, { created_at: '' })],
		['a', 'b'],
	],
])('taken or named: %s', async (_, tasks, ...[expected, given]) => {
	expect(await setting(tasks, given).found()).toEqual(expected);
});

test('one that is found goes out as if its answer had come, and is noted for a further try', async () => {
	const { json, sent } = await runNode({
		parameters: { resource: 'speech', operation: 'generateByVoiceId', voiceId: 'v', text: 'Hi' },
		creations: [unclear],
		list: { ...NO_LIST, kind: 'data' },
		files: ['HTTP 403'],
		node: { tries: 2 },
	});
	expect(json).toMatchObject([{ task_id: sent[0]?.task?.id, status: 'done' }]);
	expect(sent).toHaveLength(1);
});

test('where nobody knows when a request was sent, no task is surely its', async () => {
	expect(await setting([taskOf('a')]).found({ sentAt: undefined })).toEqual(['a']);
});

test('the clock of another process may be ahead by less than a minute', async () => {
	const { found } = setting([taskOf('a', -58_000), taskOf('b', -62_000)]);
	expect(await found({ endedBefore: START + 1 })).toEqual(['a']);
	expect(await found()).toEqual([]);
});

test('a task that is found is taken once, with its whole time from then on', async () => {
	const { search, found, client } = setting([taskOf('a', HOUR + 500)], { aheadMs: HOUR });
	const created = {
		taskId: 'a',
		createdAt: START + 15_000,
		answer: { task_id: 'a', text: 'rain' },
	};
	expect(await search({ sentAt: START - 1_000 })).toMatchObject({ kind: 'created', ...created });
	expect(client.account.made.has('a')).toBe(true);
	expect(await found()).toEqual([]);
});

test('a task that another process made is not taken for one that the list shows later', async () => {
	const later: Listed[] = [];
	const { found } = setting(later, {
		instead: (_, count) => {
			if (count < 3) later.splice(0, 2, taskOf('a'));
			else later.splice(0, 2, taskOf('a'), taskOf('b'));
			return undefined;
		},
	});
	expect(await found({ isEarlier: false })).toEqual(['a', 'b']);
});

test.each<[string, (count: number, stop: AbortController) => Reply | undefined]>([
	['the list can not be read again by then', (count) => (count > 2 ? answer(503) : undefined)],
	['the search ends before that', (count, stop) => void (count > 1 && stop.abort())],
])('nor if %s', async (_, then) => {
	const stop = new AbortController();
	const { search, client } = setting([taskOf('a')], {
		instead: (_path, count) => then(count, stop),
	});
	const finding = await search({ isEarlier: false }, stop);
	expect(finding).toMatchObject({ kind: 'unfound', candidates: [{ taskId: 'a' }] });
	expect(client.account.made.has('a')).toBe(false);
});

test('a task of this process is nobody else’s; nor is one that an equal request could have made', async () => {
	const known = setting([taskOf('a')]);
	known.client.account.made.add('a', START);
	expect(await known.found()).toEqual([]);
	// The execution may have been stopped while this process lived on, or be another one.
	expect(await known.found({ endedBefore: START + 1 })).toEqual(['a']);
	expect(await known.found({ endedBefore: START })).toEqual([]);
	const { client, found } = setting([taskOf('a')]);
	const all = [1, 2, 3].map(() => request());
	const ends = all.map((each) => expectTask(client.account, each));
	expectTask(client.account, request('wind'));
	for (const end of ends.slice(1)) {
		expect(await found({ request: all[0] })).toEqual(['a']);
		end();
	}
	expect(await found({ request: all[0] })).toBe('a');
});

test('nor one that another request with the same text could have made: a list does not repeat everything', async () => {
	const { client, found } = setting([taskOf('a', 500, { type: 'tts' })]);
	const voices = ['x', 'y'].map((voice_id): CreationRequest => ({
		...{ kind: 'speech-v1', path: `/v1/text-to-speech/${voice_id}` },
		...{ pathFields: { voice_id }, body: { text: 'rain' } },
	}));
	const [end] = voices.map((each) => expectTask(client.account, each));
	expect(await found({ request: voices[1] })).toEqual(['a']);
	end?.();
	expect(await found({ request: voices[1] })).toBe('a');
});

test.each<[string, string | undefined, unknown]>([
	['agrees', 'rain on a roof', 'a'],
	['is another', 'rain on a road', []],
	['can not be read', undefined, ['a']],
])('a text that the list has cut off is read in full: it %s', async (_, text, expected) => {
	const cut = taskOf('a', 500, { text: 'rain on', text_length: 14, text_truncated: true });
	const full = answer(text === undefined ? 500 : 200, { id: 'a', text, text_truncated: false });
	const { found } = setting([cut], {
		instead: (path) => (path.endsWith('/full') ? full : undefined),
	});
	expect(await found({ request: request('rain on a roof') })).toEqual(expected);
});

test('what is read after the list, for a minute, makes no task newer than it is', async () => {
	const cut = taskOf('b', 500, { text: 'rai', text_truncated: true });
	const { found } = setting([taskOf('a', -30_000), cut], {
		instead: (path, _count, clock) =>
			path.endsWith('/full') ? clock.sleep(60_000).then(() => answer(500)) : undefined,
	});
	expect(await found({ endedBefore: START + 1 })).toEqual(['a', 'b']);
});

test('ten are named at most, the likely ones first', async () => {
	const many = Array.from({ length: 12 }, (_, at) =>
		taskOf(`${at + 1}`, 500, at < 5 ? { text: undefined } : {}),
	);
	expect(await setting(many).found()).toEqual([...'6789', '10', '11', '12', ...'123']);
});

test('ten texts that the list has cut off are read in full at most', async () => {
	const cut = { text: 'ra', text_truncated: true };
	const { client, search } = setting(
		Array.from({ length: 12 }, (_, at) => taskOf(`${at}`, 500, cut)),
	);
	await search();
	const paths = client.requests.map(({ path }) => path).filter((path) => path.endsWith('/full'));
	expect(new Set(paths).size).toBe(10);
});

const busy = answer(503, { code: 'server_busy' });
const none = answer(404, {});
const EMPTY = answer(200, { data: [], has_more: false }, { date: iso(0) });
test.each<[string, Reply[], boolean, number[], string | undefined]>([
	[
		'read until its task would be there, what is old',
		[],
		true,
		[0, 2_500, 7_000, 15_000],
		undefined,
	],
	['four times within 20 s, what is new', [], false, [300, 2_500, 7_000, 15_000], undefined],
	['never read', [busy, busy, busy, busy], true, [0, 2_500, 7_000, 15_000], 'HTTP 503'],
	['missing for a moment', [none], true, [0, 2_500, 7_000, 15_000], undefined],
	['missing', [none, none], false, [300, 2_500], 'publishes no list'],
	['no list at all', [answer(200, { id: 'x' })], false, [300, 2_500, 7_000, 15_000], undefined],
])('the list is %s', async (_, replies, isEarlier, expected, why) => {
	const { search, readAt } = setting([], { instead: (_path, count) => replies[count - 1] });
	const finding = await search({ isEarlier });
	expect(readAt).toEqual(expected);
	expect(finding).toMatchObject({ kind: 'unfound', candidates: [] });
	const { unread } = finding as { unread?: { message: string } };
	if (why === undefined) expect(unread).toBeUndefined();
	else expect(unread?.message).toContain(why);
});

test('a list may show a task 15 s late: what a killed execution sent just before its Retry is found', async () => {
	const late = (ms: number): Given => ({
		instead: (_path, _count, clock) => (clock.now() < START + ms ? EMPTY : undefined),
	});
	const killed = { endedBefore: START };
	expect(await setting([taskOf('a')], late(14_000)).found(killed)).toBe('a');
	// Nobody knows yet what a list lacks that is younger.
	const stop = new AbortController();
	const stopped = setting([], { instead: () => (stop.abort(), EMPTY) });
	const unread = { message: expect.stringMatching(/not show it yet/) as string };
	expect(await stopped.search(killed, stop)).toMatchObject({ kind: 'unfound', unread });
	const old = setting([], {});
	await old.search({ sentAt: START - HOUR, endedBefore: START - 15_000 });
	expect(old.readAt).toEqual([0]);
});

test('a list says nothing of what lies beyond its readable pages; it is read no further than the request', async () => {
	const newer = Array.from({ length: 501 }, (_, at) => taskOf(`${at}`, 500, other));
	const { search, readAt } = setting(newer);
	expect(await search()).toMatchObject({
		unread: { message: expect.stringMatching(/not be all tasks/) as string },
	});
	expect(readAt.length).toBeGreaterThan(5);
	const older = Array.from({ length: 101 }, (_, at) => taskOf(`${at}`, -2_000 - at, other));
	const ended = setting(older);
	expect(await ended.search()).toMatchObject({ unread: undefined });
	// One page each time.
	expect(ended.readAt).toEqual([0, 2_500, 7_000, 15_000]);
	const oldestFirst = setting([...older.reverse(), taskOf('a')]);
	expect(await oldestFirst.found()).toBe('a');
	// Their order shows in none of them.
	const alike = older.map((each) => ({ ...each, created_at: iso(-HOUR) }));
	expect(await setting([...alike, taskOf('a')]).found()).toBe('a');
});

const records = (length: number) =>
	Array.from({ length }, (_, at): object => taskOf(`${at}`, 500, other));
test.each<[string, unknown[], object]>([
	['repeats another one', records(20), {}],
	['repeats another one, before the total', records(50), { page: 1, limit: 50, total: '500' }],
	['names its tasks in another way', [{ _id: 'a', text: 'rain' }], { has_more: false }],
])('nor does a page that %s', async (_, data, more) => {
	const { search } = setting([], { instead: () => answer(200, { data, ...more }) });
	const message = expect.stringMatching(/not be all tasks/) as string;
	expect(await search()).toMatchObject({ unread: { message } });
});

test('a run that is over is looked for no longer, and nothing is said of it', async () => {
	const over = new AbortController();
	const { search, readAt } = setting([], { instead: () => (over.abort(), busy) });
	expect(await search({}, over)).toMatchObject({ kind: 'unfound', unread: {} });
	expect(readAt).toEqual([0]);
});

test('the failure names the candidates with their times', () => {
	const failure = { outcome: 'unknown', message: 'No answer came', description: '' } as const;
	const one = { taskId: 'a', createdAt: undefined, moment: Date.UTC(2026, 0, 2), raw: {} };
	expect(withCandidates(failure, [])).toBe(failure);
	expect(withCandidates(failure, [one, { ...one, taskId: 'b', moment: undefined }])).toEqual({
		...failure,
		message:
			'No answer came; the service lists 2 tasks that could be it: a (2026-01-02T00:00:00.000Z), b',
		candidates: [
			{ task_id: 'a', created_at: '2026-01-02T00:00:00.000Z' },
			{ task_id: 'b', created_at: '' },
		],
	});
});
