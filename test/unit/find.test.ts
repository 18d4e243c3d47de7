/** A creation whose answer never came is found again in the service's list of tasks, and no other task is taken for it. */
import { Creations, withCandidates, type Search } from '../../nodes/MediaGeneration/task/find';
import type { CreationRequest } from '../../nodes/MediaGeneration/actions/operation';
import type { Reply } from '../../nodes/MediaGeneration/transport/client';
import { answer, scriptedClient } from '../support/replies';
import { VirtualClock } from '../support/virtualClock';

const request = (text = 'rain', more: Partial<CreationRequest> = {}): CreationRequest => ({
	kind: 'sound-effect',
	type: 'sound_effect',
	path: '/v1/task/sound-effect',
	body: { text },
	...more,
});

interface Listed {
	id: string;
	text: string;
	/** Ms after the start, by the service's clock. */
	at?: number;
	/** Ms after the start, by ours, from which on the list has it. */
	from?: number;
	type?: string;
}

/** A service whose list has these tasks, and whose clock is so far ahead. */
function setting(tasks: Listed[], { aheadMs = 0, dated = true, takesMs = 0 } = {}) {
	const clock = new VirtualClock(1_700_000_000_000);
	const start = clock.now();
	const since = () => clock.now() - start;
	const list = (page: number): Reply => {
		const listed = tasks
			.filter(({ from = 0 }) => from <= since())
			.map(({ id, text, at = 0, type = 'sound_effect' }) => ({
				id,
				text,
				status: 'doing',
				type,
				created_at: new Date(start + aheadMs + at).toISOString(),
			}));
		const headers = dated ? { date: new Date(clock.now() + aheadMs).toUTCString() } : {};
		const data = listed.slice(100 * (page - 1), 100 * page);
		return answer(200, { data, has_more: listed.length > 100 * page }, headers);
	};
	let answers: (page: number, path: string) => Reply = list;
	const readAt: number[] = [];
	const client = scriptedClient(async ({ path }) => {
		readAt.push(since());
		await clock.sleep(takesMs);
		return answers(Number(/page=(\d+)/.exec(path)?.[1]), path);
	});
	const creations = client.account.state(Creations);
	const find = async (given: Partial<Search> = {}) =>
		await creations.find({
			isOld: false,
			fewer: false,
			over: new AbortController().signal,
			client,
			now: clock.now,
			sleep: clock.sleep,
			request: request(),
			sentAt: start,
			...given,
		});
	const found = async (...searches: Array<Partial<Search>>) => {
		const findings = await clock.run(Promise.all(searches.map(async (one) => await find(one))));
		return findings.map((one) =>
			one.kind === 'found' ? one.created.taskId : one.candidates.map(({ taskId }) => taskId),
		);
	};
	return {
		clock,
		start,
		client,
		creations,
		found,
		find,
		readAt,
		list,
		setList: (next: typeof answers) => (answers = next),
	};
}

describe('found', () => {
	// The service says its time without the fraction of a second.
	test.each([
		['at once', { at: 800 }, 300],
		['late', { at: 1_000, from: 2_000 }, 1_500],
	])('%s, goes on as if its answer had come', async (_, task, ms) => {
		const { clock, find, start } = setting([{ id: 'a', text: ' rain', ...task }], {
			aheadMs: 3_600_000,
		});
		expect(await clock.run(find())).toMatchObject({
			kind: 'found',
			created: { taskId: 'a', createdAt: start + ms, answer: { task_id: 'a', text: ' rain' } },
		});
	});

	test('by the type that the service has named', async () => {
		const { client, found } = setting([{ id: 'a', text: 'rain', at: 500, type: 'sfx' }]);
		client.account.types.set('sound-effect', 'sfx');
		expect(await found({ request: request('rain', { type: undefined }) })).toEqual(['a']);
	});

	test('late, by four readings within 20 s', async () => {
		const late = setting([{ id: 'a', text: 'rain', at: 100, from: 14_000 }]);
		expect(await late.found({})).toEqual(['a']);
		expect(late.readAt).toHaveLength(4);
		const never = setting([{ id: 'a', text: 'rain', at: 100, from: 20_000 }]);
		expect(await never.found({})).toEqual([[]]);
		expect(never.readAt).toHaveLength(4);
		expect(Math.max(...never.readAt)).toBeLessThan(20_000);
	});

	test('twelve at once share their readings, and equal ones take one task each', async () => {
		const texts = Array.from({ length: 12 }, (_, index) => (index < 2 ? 'same' : `text ${index}`));
		const tasks = texts.map((text, index) => ({ id: `t${index}`, text, at: 500 + index }));
		const { found, readAt } = setting(tasks, { takesMs: 400 });
		const ids = await found(...texts.map((text) => ({ request: request(text) })));
		expect(ids).toEqual(tasks.map(({ id }) => id));
		expect(readAt).toHaveLength(1);
	});

	/** Newest first, one each second. */
	const other = (index: number) => ({ id: `${index}`, text: 'other', at: -1_000 * index });
	const others = Array.from({ length: 450 }, (_, index) => other(index));
	test.each<[string, Parameters<typeof setting>[1], unknown[]]>([
		['', {}, ['a', 'b']],
		[' of a fast clock', { aheadMs: 3_600_000 }, ['a', 'b']],
		[' of a slow clock', { aheadMs: -3_600_000 }, ['a', 'b']],
		[' without a clock', { dated: false }, [['a'], ['b']]],
	])('on a later page%s, and none is read beyond what is older', async (_, around, expected) => {
		const early = { id: 'b', text: 'wind', at: -249_500 };
		const late = { id: 'a', text: 'rain', at: 500 };
		const list = [late, ...others.slice(0, 250), early, ...others.slice(250)];
		const { start, found, readAt } = setting(list, around);
		const wind = { request: request('wind'), sentAt: start - 250_000 };
		const searches = [{ isOld: true }, { ...wind, isOld: true }];
		expect(await found(...searches)).toEqual(expected);
		expect(readAt).toHaveLength(4);
	});

	test('behind a page of the same second', async () => {
		const page = others.slice(0, 100).map((other) => ({ ...other, at: -1_000 }));
		const { start, found } = setting([...page, { id: 'a', text: 'rain', at: -1_000 }]);
		expect(await found({ sentAt: start - 100 })).toEqual(['a']);
	});
});

describe('not taken', () => {
	const rain = (id = 'a'): Listed => ({ id, text: 'rain', at: 500 });
	test('by a service that does not say its time', async () => {
		expect(await setting([rain()], { dated: false }).found({})).toEqual([['a']]);
	});

	test('more than there are unclear creations: ten are named as likely, and it is not read again', async () => {
		const many = Array.from({ length: 12 }, (_, index) => rain(`a${index}`));
		const { clock, find, readAt } = setting(many);
		const candidates = many.slice(0, 10).map(({ id }) => ({ taskId: id }));
		expect(await clock.run(find())).toMatchObject({ isLikely: true, candidates });
		expect(readAt).toHaveLength(1);
	});

	test('by one whose twin begins to look while the list is read', async () => {
		const { clock, find, start } = setting([rain()], { takesMs: 400 });
		clock.at(start + 500, () => void find());
		expect(await clock.run(find())).toMatchObject({ kind: 'unfound' });
	});

	test.each([
		['the task', true, []],
		['no task', false, 'a'],
	])('what an equal creation may have made, until it is known: %s', async (_, made, expected) => {
		const { clock, start, creations, found, client } = setting([rain()]);
		const answered = creations.sent({ request: request(), sentAt: start });
		clock.at(start + 3_000, () => {
			if (made) client.account.known.set('a', true);
			answered();
		});
		expect(await found({})).toEqual([expected]);
	});
});

test('a task that one has found is not named to the next', async () => {
	const { clock, find } = setting([{ id: 'a', text: 'rain', at: 500 }]);
	const once = { fewer: true, isOld: true };
	const unfound = { kind: 'unfound', candidates: [], isLikely: false };
	const findings = await clock.run(Promise.all([find(once), find(once)]));
	expect(findings).toMatchObject([{ created: { taskId: 'a' } }, unfound]);
});

const busy = answer(503, { code: 'server_busy' });
const none = answer(404, { error: 'Not found' });
test.each<[string, Reply[], object]>([
	['read, without it', [answer(200, { data: [] })], { unread: undefined }],
	['none, as is said twice', [none, none], { unread: undefined }],
	['none, as is said once', [none, busy, busy, busy], { unread: { httpStatus: 503 } }],
	['busy', [busy, busy, busy, busy], { unread: { httpStatus: 503 } }],
])(
	'what says that an old creation made nothing: a list that is %s',
	async (_, replies, expected) => {
		const { clock, find, setList } = setting([]);
		const left = [...replies];
		setList(() => left.shift() ?? busy);
		expect(await clock.run(find({ isOld: true }))).toMatchObject({ kind: 'unfound', ...expected });
		expect(left).toEqual([]);
	},
);

test('a list says nothing of what lies beyond its readable pages', async () => {
	const newer = Array.from({ length: 501 }, (_, index) => ({ id: `${index}`, text: 'x', at: 500 }));
	const { clock, find } = setting(newer);
	const unread = { message: expect.stringMatching(/too many tasks since then/) as string };
	expect(await clock.run(find({ isOld: true }))).toMatchObject({ unread });
});

test('nor do older tasks on the first page of one that begins with the oldest', async () => {
	const old = Array.from({ length: 100 }, (_, index) => ({
		...{ id: `${index}`, text: 'x' },
		at: -200_000 + 1_000 * index,
	}));
	const { found } = setting([...old, { id: 'a', text: 'rain', at: 500 }]);
	expect(await found({ isOld: true })).toEqual(['a']);
});

test.each<[string, string | undefined, unknown]>([
	['agrees', 'rain on a roof', 'a'],
	['is another', 'rain on a road', []],
	['can not be read', undefined, ['a']],
])('of a text that the list has cut, the whole %s', async (_, text, expected) => {
	const { client, found, setList, list } = setting([{ id: 'a', text: 'rain on', at: 500 }]);
	const whole = text === undefined ? busy : answer(200, { id: 'a', text, text_truncated: false });
	setList((number, path) => {
		if (path.endsWith('/full')) return whole;
		const reply = list(number);
		const { data } = (reply as { body: { data: object[] } }).body;
		const cut = { text_length: 14, text_truncated: true };
		return {
			...(reply as object),
			body: { data: data.map((one) => ({ ...one, ...cut })) },
		} as Reply;
	});
	expect(await found({ request: request('rain on a roof') })).toEqual([expected]);
	expect(client.requests.some(({ path }) => path === '/v1/task/a/full')).toBe(true);
});

test('a run that is over is not looked for', async () => {
	const stop = new AbortController();
	const { clock, find, readAt } = setting([{ id: 'a', text: 'rain', at: 0, from: 5_000 }]);
	const search = find({ over: stop.signal });
	await clock.advance(1_000);
	stop.abort();
	expect(await search).toMatchObject({ kind: 'unfound', candidates: [] });
	expect(await clock.run(find({ over: stop.signal }))).toEqual(await search);
	expect(readAt).toHaveLength(1);
});

test('the failure names the candidates with their times', () => {
	const failure = { outcome: 'unknown', message: 'No answer came', description: '' } as const;
	const one = { taskId: 'a', createdAt: Date.UTC(2026, 0, 2), raw: {} };
	const undated = { taskId: 'b', createdAt: undefined, raw: {} };
	const unread = { taskId: 'c', createdAt: undefined, raw: { created_at: 'last week' } };
	expect(withCandidates(failure, [one])).toMatchObject({
		message:
			'No answer came; the service lists a task that could be it: a (2026-01-02T00:00:00.000Z)',
		candidates: [{ task_id: 'a', created_at: '2026-01-02T00:00:00.000Z' }],
	});
	expect(withCandidates(failure, [undated, unread])).toMatchObject({
		message: 'No answer came; the service lists 2 tasks that could be it: b (), c (last week)',
		candidates: [{ created_at: '' }, { created_at: 'last week' }],
	});
	expect(withCandidates(failure, [])).toBe(failure);
});
