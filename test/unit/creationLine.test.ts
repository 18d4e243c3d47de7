/** Who may send a creation when, before an account that is full or limited. */
import { readCreation } from '../../nodes/MediaGeneration/answers/creation';
import { saidIn } from '../../nodes/MediaGeneration/answers/said';
import { lineOf, placeOf } from '../../nodes/MediaGeneration/task/creationLine';
import { Account } from '../../nodes/MediaGeneration/transport/account';
import type { Reply } from '../../nodes/MediaGeneration/answers/reply';
import { answer, RAIN } from '../support/replies';
import { VirtualClock } from '../support/virtualClock';

const FULL = answer(429, { code: 'active_task_limit' });
const LIMITED = answer(429, { message: 'rate limit' });
const CREATED = answer(200, { task_id: 't' });
const after = (reply: typeof FULL, seconds: number) => ({
	...reply,
	headers: { 'retry-after': String(seconds) },
});

/** The line of an account that was full at the start, and what was asked after how many ms: "a 2000". */
async function closed(first: Reply = FULL) {
	const clock = new VirtualClock();
	const start = clock.now();
	const account = new Account();
	const line = lineOf(account);
	const asked: string[] = [];
	const { signal } = new AbortController();
	/** Asks until it gets another answer than a refusal because it is full, or its time has run out. */
	const asks = async (
		name: string,
		replies: Array<Reply | (() => Reply)>,
		{
			waitMs = 60_000,
			boundsFull = false,
			over = signal,
			stays = false,
			answerMs = 0,
			voice = 'v',
			of = {},
		} = {},
	) => {
		const limits = { deadline: clock.now() + waitMs, boundsFull };
		const request = { kind: 'speech', path: '/', body: { voice_id: voice }, ...of };
		const place = placeOf(request, limits);
		for (const reply of replies) {
			const mayGo = await line.turn(place, clock, over);
			asked.push(`${name}${mayGo ? '' : ' late'} ${clock.now() - start}`);
			if (!mayGo) break;
			await clock.sleep(answerMs);
			const creation = readCreation(typeof reply === 'function' ? reply() : reply, RAIN);
			line.answered(place, creation, clock.now());
			if (creation.kind === 'created') break;
		}
		if (stays) return;
		line.leave(place);
	};
	await clock.run(asks('first', [first], { stays: true }));
	asked.pop();
	const ends = (ms: number, count = 1) => {
		clock.at(start + ms, () => {
			for (let id = 0; id < count; id += 1) {
				account.made.add(`${ms} ${id}`);
				account.made.noteEnd(`${ms} ${id}`);
			}
		});
	};
	return { clock, start, account, line, asked, asks, ends };
}

test('one asks, after a pause that doubles from 2 to 15 s; the others wait', async () => {
	const { clock, asked, asks } = await closed();
	await clock.run(asks('a', [...Array<Reply>(5).fill(FULL), CREATED]));
	expect(asked).toEqual(['a 2000', 'a 6000', 'a 14000', 'a 29000', 'a 44000', 'a 59000']);
});

test('one that finds a slot lets the next one ask at once, in their order; who is refused comes last', async () => {
	const { clock, asked, asks } = await closed();
	const all = [asks('a', [CREATED]), asks('b', [CREATED]), asks('c', [FULL, CREATED])];
	await clock.run(Promise.all([...all, asks('d', [CREATED])]));
	expect(asked).toEqual(['a 2000', 'b 2000', 'c 2000', 'd 4000', 'c 4000']);
});

describe('a queue that is full by itself', () => {
	const forGood = Array<Reply>(400).fill(FULL);
	const LONG = { waitMs: 3_600_000 };
	const inPath = (voice_id: string) => ({ body: {}, pathFields: { voice_id } });

	test.each<[string, full: object, other: object]>([
		['voice', { body: { voice_id: 'v' } }, { body: { voice_id: 'w' } }],
		['voice in a path', inPath('v'), inPath('w')],
		['model', {}, { body: { voice_id: 'v', model_id: 'm' } }],
		['kind', {}, { kind: 'voice-changer' }],
	])('holds up no other %s', async (_name, full, of) => {
		const { clock, asked, asks } = await closed();
		const stuck = asks('stuck', forGood, { ...LONG, of: full });
		const others = [1, 2, 3].map(async (n) => await asks(`other ${n}`, [CREATED], { of }));
		await clock.run(Promise.all(others));
		expect(asked).toEqual(['other 1 0', 'other 2 0', 'other 3 0']);
		await clock.advance(103_000);
		await clock.run(asks('late', [CREATED], { of }));
		expect(asked.at(-1)).toBe('late 103000');
		expect(asked.length).toBeLessThan(14);
		void stuck;
	});

	test('waits as in the example of closedAccount.ts', async () => {
		const { clock, asked, asks } = await closed();
		void asks('A', [CREATED]);
		await clock.advance(1_000);
		void asks('B', [FULL, CREATED], { voice: 'w' });
		await clock.advance(1_000);
		void asks('C', [FULL, CREATED], { voice: 'x' });
		await clock.advance(10_000);
		expect(asked).toEqual(['B 1000', 'C 3000', 'A 7000', 'B 7000', 'C 7000']);
	});

	test('of one voice whose queue asks for a pause holds up no other voice', async () => {
		const slow = after(FULL, 50);
		const { clock, account, asked, asks } = await closed(slow);
		if (slow.answered) account.noteThrottling('create', saidIn(slow, []), clock.now());
		void asks('stuck', forGood, LONG);
		await clock.run(asks('other', [CREATED], { voice: 'w' }));
		expect(asked).toEqual(['other 0']);
		await clock.advance(60_000);
		expect(asked[1]).toBe('stuck 50000');
	});

	test.each([2, 30])('of %d voices holds up the others for a pause or two', async (voices) => {
		const { clock, asked, asks } = await closed();
		for (let n = 0; n < voices; n += 1)
			void asks(`stuck ${n}`, forGood, { ...LONG, voice: `${n}` });
		await clock.advance(600_000);
		const from = asked.length;
		await clock.run(asks('other', [CREATED], { voice: 'w' }));
		expect(asked.length - from).toBeLessThanOrEqual(2);
	});

	test('gets its turn while many of another voice find room', async () => {
		const { clock, asked, asks } = await closed();
		for (const voice of ['1', '2'])
			void asks(`full ${voice}`, [FULL, FULL, CREATED], { ...LONG, voice });
		await clock.advance(10_000);
		const other = async () => await asks('w', [CREATED], { voice: 'w' });
		await clock.run(Promise.all(Array.from({ length: 20 }, other)));
		expect(asked.slice(4, 7)).toEqual(['w 14000', 'full 1 14000', 'full 2 14000']);
	});

	test('by the words of a text that is always refused holds up the same voice for one pause', async () => {
		const { clock, asked, asks } = await closed();
		void asks('bad', forGood, LONG);
		await clock.advance(100_000);
		await clock.run(asks('honest', [CREATED]));
		expect(asked.find((line) => line.startsWith('honest'))).toMatch(/ 1[01]\d{4}$/);
	});
});

test.each([1, 5, 150])(
	'a crowd of 150 at an account of 20 asks at most 1.15 times a task, of %d voices',
	async (voices) => {
		const { clock, account, asked, asks } = await closed();
		let active = 20;
		const occupy = (id: string, ms: number) => {
			account.made.add(id);
			clock.at(clock.now() + ms, () => {
				active -= 1;
				account.made.noteEnd(id);
			});
		};
		for (let n = 0; n < 20; n += 1) occupy(`first ${n}`, 1_000 + 100 * n);
		const reply = (id: string): Reply => {
			if (active >= 20) return FULL;
			active += 1;
			occupy(id, 12_000 + 100 * active);
			return CREATED;
		};
		const all = Array.from({ length: 150 }, async (_, n) => {
			const replies = Array<() => Reply>(400).fill(() => reply(`c${n}`));
			await asks(`c${n}`, replies, { waitMs: 3_600_000, voice: `${n % voices}` });
		});
		await clock.run(Promise.all(all));
		expect(asked.length).toBeLessThanOrEqual(1.15 * 150);
		expect(asked.filter((line) => line.includes('late'))).toEqual([]);
	},
);

test('after a probe that found room, the pause is short again; after one for an end of this process it is not', async () => {
	const one = await closed();
	const both = [one.asks('a', [FULL, CREATED]), one.asks('b', [FULL, FULL, CREATED])];
	await one.clock.run(Promise.all(both));
	expect(one.asked.slice(2)).toEqual(['a 14000', 'b 14000', 'b 16000']);
	const other = await closed();
	other.ends(7_000);
	const own = [other.asks('a', [FULL, CREATED]), other.asks('b', [FULL, FULL, CREATED])];
	await other.clock.run(Promise.all(own));
	expect(other.asked.slice(2)).toEqual(['a 7000', 'b 14000', 'b 29000']);
});

test.each<[string, Reply, string[]]>([
	['a longer one', after(FULL, 20), ['a 20000', 'a 24000']],
	['but not one of none', after(FULL, 0), ['a 2000', 'a 6000']],
	['five minutes of a longer one', after(FULL, 1_764_300_000), ['a 300000', 'a 304000']],
])('Retry-After stands for the pause: %s', async (_, first, expected) => {
	const { clock, account, asked, asks } = await closed(first);
	if (first.answered) account.noteThrottling('create', saidIn(first, []), clock.now());
	await clock.run(asks('a', [FULL, CREATED]));
	expect(asked).toEqual(expected);
});

test('a task that ends cuts no pause that the service asked for', async () => {
	const { clock, asked, asks, ends } = await closed(after(FULL, 20));
	ends(100);
	await clock.run(asks('a', [CREATED]));
	expect(asked).toEqual(['a 20000']);
});

test('each task of this process that ends lets one go at once, and no other', async () => {
	const { clock, asked, asks, ends } = await closed();
	ends(100, 2);
	ends(300);
	const all = ['a', 'b', 'c', 'd'].map(async (name) => await asks(name, [CREATED]));
	await clock.run(Promise.all(all));
	expect(asked).toEqual(['a 100', 'b 100', 'c 300', 'd 2000']);
});

test.each<[string, Reply]>([
	['is refused for itself', answer(400)],
	['can not be handled now', answer(503, { code: 'server_busy' })],
])('one that %s leaves its slot to the next', async (_, reply) => {
	const { clock, asked, asks, ends } = await closed();
	ends(100);
	await clock.run(Promise.all([asks('a', [reply]), asks('b', [CREATED])]));
	expect(asked).toEqual(['a 100', 'b 100']);
});

test('the turn of one that is stopped, or out of time, goes to the next', async () => {
	const { clock, start, asked, asks } = await closed();
	const stop = new AbortController();
	clock.at(start + 2_000, () => stop.abort());
	const stopped = asks('stopped', [CREATED], { over: stop.signal });
	const late = asks('late', [CREATED], { waitMs: 2_000, boundsFull: true });
	await clock.run(Promise.all([stopped, late, asks('next', [CREATED])]));
	expect(asked).toEqual(['stopped late 2000', 'late late 2000', 'next 2000']);
});

test('who waits for a full account that turns out to limit requests has its Timeout from then on', async () => {
	const { clock, asked, asks } = await closed();
	const a = asks('a', Array<Reply>(4).fill(LIMITED));
	const b = asks('b', [LIMITED, LIMITED, CREATED]);
	await clock.run(Promise.all([a, b, asks('c', [CREATED], { waitMs: 5_000 })]));
	expect(asked.slice(0, 4)).toEqual(['a 2000', 'b 6000', 'c late 7000', 'a 14000']);
});

test('a probe waits for the end of a pause that the service asked for otherwise', async () => {
	const { clock, start, account, asked, asks } = await closed();
	account.pause('create', start, 10_000);
	await clock.run(asks('a', [CREATED]));
	expect(asked).toEqual(['a 10000']);
});

test('who waits for an open account goes with the others, and their refusals make one pause', async () => {
	const { clock, start, account, asked, asks } = await closed(CREATED);
	account.pause('create', start, 10_000);
	await clock.run(Promise.all(['a', 'b'].map(async (name) => await asks(name, [FULL, CREATED]))));
	expect(asked).toEqual(['a 10000', 'b 10000', 'a 12000', 'b 12000']);
});

test('an account that is full again begins with a short pause, and tasks that ended before leave no slot', async () => {
	const { clock, account, asked, asks } = await closed();
	account.made.add('t');
	await clock.run(asks('a', [FULL, FULL, CREATED]));
	account.made.noteEnd('t');
	await clock.run(asks('b', [FULL, CREATED]));
	expect(asked).toEqual(['a 2000', 'a 6000', 'a 14000', 'b 14000', 'b 16000']);
});

test('once nobody waits any more, the account is open', async () => {
	const { clock, asked, asks } = await closed();
	await clock.run(asks('a', [FULL], { waitMs: 1_000, boundsFull: true }));
	await clock.run(Promise.all([asks('b', [CREATED]), asks('c', [CREATED])]));
	expect(asked).toEqual(['a late 1000', 'b 1000', 'c 1000']);
});

test('one that was still asking then, and is refused, begins with a short pause', async () => {
	const { clock, asked, asks } = await closed();
	const slow = asks('a', [FULL, FULL, CREATED], { answerMs: 1_000 });
	const late = asks('b', [CREATED], { waitMs: 2_500, boundsFull: true });
	await clock.run(Promise.all([slow, late]));
	expect(asked).toEqual(['a 2000', 'b late 2500', 'a 5000', 'a 10000']);
});

test('the log says once a minute for how many the account is full', async () => {
	const { clock, start, line, asks } = await closed();
	const words = 'the account is full; creations that wait:';
	expect(line.logLine(start)).toBe(`${words} 1`);
	const waits = [asks('a', Array<Reply>(9).fill(FULL)), asks('b', Array<Reply>(9).fill(FULL))];
	await clock.advance(1_999);
	expect(line.logLine(clock.now())).toBeUndefined();
	await clock.advance(58_001);
	expect(line.logLine(clock.now())).toBe(`${words} 3`);
	await clock.run(Promise.all(waits));
	const limited = await closed(LIMITED);
	const limits = 'the service limits requests; creations that wait: 1';
	expect(limited.line.logLine(start)).toBe(limits);
});
