/** One file over as many requests as it takes: whole or not at all, in bounded time, and nothing left open. */
import fc from 'fast-check';
import { Tries } from '../../nodes/MediaGeneration/files/tries';
import { Download } from '../../nodes/MediaGeneration/files/download';
import { digest, FILE, honest, host, partial, rangeStart, type Served } from './scriptedHost';

const hosts: Array<ReturnType<typeof host>> = [];
const serving: typeof host = (serve) => {
	const made = host(serve);
	hosts.push(made);
	return made;
};
afterEach(() => {
	// However a download ended: no answer is left open, and nobody sleeps.
	expect(hosts.map(({ stillOpen, clock }) => [stillOpen(), clock.sleeping])).toEqual(
		hosts.map(() => [0, 0]),
	);
	hosts.length = 0;
});

const WANTED = { url: 'https://files.example/a.mp3', kind: 'audio', maxBytes: 1e9 } as const;
const CUT = 100_000;
const UNSURE = { etag: '' };
const UNMEASURED = { 'content-length': '' };
/** Another file of the same length and the same first bytes. */
const OTHER = Buffer.concat([FILE.subarray(0, 50_000), Buffer.alloc(FILE.length - 50_000, 7)]);

test('whatever hosts do, a file comes whole or not at all', async () => {
	const habits = fc.array(
		fc.record({
			does: fc.constantFrom(
				'serves',
				'serves',
				'cuts',
				'stalls',
				'errs',
				'lies',
				'changes',
				'pages',
			),
			at: fc.integer({ min: 0, max: FILE.length - 1 }),
			headers: fc.constantFrom<Record<string, string>>({}, UNSURE, UNMEASURED),
		}),
		{ minLength: 1, maxLength: 6 },
	);
	let whole = 0;
	const property = fc.asyncProperty(habits, async (all) => {
		const { run, stillOpen, clock } = host((asked, count) => {
			const { does, at, headers } = all[(count - 1) % all.length] ?? { does: 'errs', at: 0 };
			if (does === 'errs') return { status: at % 2 === 0 ? 503 : 404 };
			if (does === 'pages') return { body: Buffer.from('<!DOCTYPE html><html>Wait</html>') };
			if (does === 'changes') return { body: OTHER, headers: { etag: '"v2"', ...headers } };
			if (does === 'lies') return partial(at, { headers });
			const cut =
				does === 'cuts' ? { breakAfter: at } : does === 'stalls' ? { stallAfter: at } : {};
			return honest(asked, { ...cut, headers });
		});
		const bytes = await run().then(
			(file) => file.bytes,
			() => undefined,
		);
		whole += bytes === undefined ? 0 : 1;
		expect([undefined, digest(FILE), digest(OTHER)]).toContain(bytes && digest(bytes));
		expect([stillOpen(), clock.sleeping]).toEqual([0, 0]);
	});
	await fc.assert(property, { numRuns: 100 });
	// Giving up is not a way to pass.
	expect(whole).toBeGreaterThan(30);
});

test('a whole file in one request, with its type', async () => {
	const { run, requests, agents } = serving(() => ({}));
	const download = await run({ maxBytes: FILE.length });
	expect(digest(download.bytes)).toBe(digest(FILE));
	expect(download.type).toEqual({ mimeType: 'audio/mpeg', extension: 'mp3' });
	expect(download.received).toBe(FILE.length);
	expect(requests).toEqual([{}]);
	expect([...agents]).toEqual([expect.stringMatching(/^Mozilla\/5\.0 /)]);
});

describe('cut in the middle', () => {
	test('it is continued a little before the offset where it broke, as long as enough new comes', async () => {
		const { run, requests, listeners } = serving((headers, count) =>
			honest(headers, { breakAfter: [0, CUT, CUT, CUT][count - 1] }),
		);
		expect(digest((await run()).bytes)).toBe(digest(FILE));
		expect(requests[2]).toEqual({ Range: `bytes=${CUT - 1_024}-`, 'If-Range': '"v1"' });
		expect(requests).toHaveLength(5);
		// One request leaves nothing for the next one.
		expect(listeners).toEqual([1, 1, 1, 1, 1]);
	});

	test.each([
		['a strong validator', { etag: 'W/"v1"' }],
		['a length', UNMEASURED],
	])('without %s no part is asked for', async (_name, headers) => {
		const { run, requests } = serving((_, count) => ({
			headers: { ...headers, 'transfer-encoding': 'chunked' },
			...(count === 1 ? { breakAfter: CUT } : {}),
		}));
		expect(digest((await run()).bytes)).toBe(digest(FILE));
		expect(requests).toEqual([{}, {}]);
	});

	test.each<[string, Served]>([
		['another validator and other bytes', { body: OTHER, headers: { etag: '"v2"' } }],
		['another length', { body: FILE.subarray(0, 90_000) }],
		['other bytes, same length, same validator', { body: OTHER }],
		['other bytes, no validators', { body: OTHER, headers: UNSURE }],
	])('a file that changed is fetched from nothing, never mixed: %s', async (_name, second) => {
		const { run } = serving((_, count) => (count === 1 ? { breakAfter: CUT } : second));
		expect(digest((await run()).bytes)).toBe(digest(second.body ?? FILE));
	});

	test('a part of another file is never mixed in, whatever its headers say', async () => {
		const { run } = serving((headers, count) =>
			count === 1
				? { breakAfter: CUT }
				: headers.Range === undefined
					? { body: OTHER }
					: { ...partial(rangeStart(headers)), body: OTHER.subarray(rangeStart(headers)) },
		);
		expect(digest((await run()).bytes)).toBe(digest(OTHER));
	});

	const start = CUT - 1_024;
	const [rest, nothing] = [FILE.subarray(start), Buffer.alloc(0)];
	const longer = { 'content-range': `bytes ${start}-${FILE.length - 1}/${FILE.length + 5}` };
	const unmeasured = { ...partial(start).headers, ...UNMEASURED };
	const fromTheStart = { ...partial(start), body: FILE, headers: unmeasured };
	test.each<[string, Served]>([
		['from a later place', partial(CUT + 1)],
		['from a much earlier place', partial(5)],
		['nothing new', partial(start, { breakAfter: 500 })],
		['a place, but not as a part', { ...partial(start), status: 200 }],
		['more than its place has', partial(start, { body: rest, headers: UNMEASURED }, 200_000)],
		['another validator', partial(start, { headers: { etag: '"v2"' } })],
		['another length', partial(start, { headers: longer })],
		['no place at all', { status: 206, body: rest, headers: { 'content-range': '' } }],
		['the right place by its header, the start by its bytes', fromTheStart],
		['no such range', { status: 416, body: nothing, headers: { 'content-range': 'bytes */7' } }],
		['no such range, without a word', { status: 416, body: nothing }],
	])(
		'a part that is not what was asked for: all again from the start: %s',
		async (_name, second) => {
			const { run, requests } = serving((_, count) =>
				count === 1 ? { breakAfter: CUT } : count === 2 ? second : {},
			);
			expect(digest((await run()).bytes)).toBe(digest(FILE));
			expect(requests).toHaveLength(3);
			expect(requests[2]).toEqual({});
		},
	);

	test('five tries in a row that bring nothing are enough, with growing pauses between them', async () => {
		const { run, requests, clock } = serving(() => ({ breakAfter: 0 }));
		const before = clock.now();
		await expect(run()).rejects.toThrow('aborted');
		expect(requests).toHaveLength(5);
		expect(clock.now() - before).toBe(400 + 800 + 1_600 + 3_200);
	});

	test('what brings enough begins to count again', async () => {
		const { run, requests } = serving((headers, count) =>
			count % 4 === 0
				? honest(headers, rangeStart(headers) < 250_000 ? { breakAfter: 30_000 } : {})
				: { ok: false, reason: 'ECONNREFUSED', transient: true },
		);
		// Three that bring nothing, again and again: never five in a row.
		expect(digest((await run()).bytes)).toBe(digest(FILE));
		expect(requests.length).toBeGreaterThan(20);
	});

	test('no file takes more than five hundred requests', async () => {
		const body = Buffer.alloc(12_000_000, 'ID3\x04');
		const { run, requests } = serving((headers) => {
			const from = rangeStart(headers);
			if (from === 0) return { body, breakAfter: CUT, chunkBytes: 50_000 };
			const part = body.subarray(from, from + 21_000);
			const range = `bytes ${from}-${from + part.length - 1}/${body.length}`;
			return { status: 206, body: part, chunkBytes: 50_000, headers: { 'content-range': range } };
		});
		await expect(run()).rejects.toThrow(/the file broke off after \d+ of 12000000 bytes/);
		const asked = requests.map(({ Range }) => (Range === undefined ? 'all' : 'a part'));
		expect(asked).toEqual(['all', ...Array<string>(499).fill('a part')]);
	});
});

test('an end that nobody announced is believed the second time', async () => {
	const cut = { body: FILE.subarray(0, CUT), headers: UNMEASURED };
	const { run, requests } = serving((_, count) =>
		count === 1 ? cut : { headers: { ...UNMEASURED, etag: '' } },
	);
	expect(digest((await run()).bytes)).toBe(digest(FILE));
	expect(requests).toHaveLength(3);
});

describe('a length that was stated once', () => {
	const UNSTATED = { 'content-length': '', 'transfer-encoding': 'chunked', etag: '' };
	const shorter = { body: FILE.subarray(0, 150_000), headers: UNSTATED };

	test.each([CUT, 1_000])(
		'a restarted file that is shorter is not whole, where the first answer broke off after %d bytes',
		async (breakAfter) => {
			const { run, requests } = serving((_, count) =>
				count === 1 ? { breakAfter, headers: UNSURE } : shorter,
			);
			const words = `the file broke off after 150000 of ${FILE.length} bytes`;
			await expect(run()).rejects.toThrow(words);
			expect(requests).toHaveLength(5);
		},
	);

	test('counts until another is stated, and that of an error page never does', async () => {
		const page = { body: Buffer.from('<html>') };
		const [cut, whole] = [{ breakAfter: CUT, headers: UNSURE }, { headers: UNSTATED }];
		const run = async (...served: Served[]) => {
			const made = serving((_, count) => served[count - 1] ?? served.at(-1) ?? {});
			return [(await made.run()).bytes.length, made.requests.length];
		};
		expect(await run(cut, page, shorter, whole)).toEqual([FILE.length, 4]);
		expect(await run(page, whole)).toEqual([FILE.length, 2]);
		const recent = { body: FILE.subarray(0, 150_000), headers: { etag: '' } };
		expect(await run(cut, recent)).toEqual([150_000, 2]);
	});
});

describe('a body that n8n has decompressed: lengths and places are those of the compressed one', () => {
	const long = { 'content-length': '5000' };
	const slightlyLonger = { 'content-length': String(FILE.length + 120) };

	test.each<[string, Record<string, string>]>([
		['shorter when compressed', long],
		['slightly longer when compressed', slightlyLonger],
	])('%s: whole, once it has ended twice at the same place', async (_name, headers) => {
		const { run, requests } = serving(() => ({ headers }));
		expect(digest((await run()).bytes)).toBe(digest(FILE));
		expect(requests).toHaveLength(2);
	});

	test('in an encoding that n8n has left as it is: refused', async () => {
		const { run, requests } = serving(() => ({ headers: { 'content-encoding': 'br' } }));
		await expect(run()).rejects.toThrow("in an encoding that n8n can't undo: br");
		expect(requests).toHaveLength(1);
	});
});

describe('size', () => {
	test('too large by its header: not one byte is read', async () => {
		const { run, requests } = serving(() => ({}));
		await expect(run({ maxBytes: 30_000 })).rejects.toThrow(
			'the file is larger than allowed: 0.3 MB, and Max File Size is 0.03 MB',
		);
		expect(requests).toHaveLength(1);
	});

	test('an empty file is none, after more tries', async () => {
		const { run, requests } = serving(() => ({ body: Buffer.alloc(0) }));
		await expect(run()).rejects.toThrow('the file is empty');
		expect(requests.length).toBeGreaterThan(1);
	});
});

describe('refusals', () => {
	test.each([206, 304, 403, 404, 410, 416])('HTTP %d for good', async (status) => {
		const { run, requests } = serving(() => ({ status }));
		await expect(run()).rejects.toThrow(`the file host answered HTTP ${status}`);
		expect(requests).toHaveLength(1);
	});

	test.each([408, 425, 429, 500, 502, 503])('HTTP %d in passing', async (status) => {
		const { run } = serving((_, count) => (count < 3 ? { status } : {}));
		expect(digest((await run()).bytes)).toBe(digest(FILE));
	});

	test.each([
		['is kept', '9', 9_000],
		['is kept for half a minute at most', '90', 30_000],
	])('Retry-After %s', async (_name, seconds, expectedMs) => {
		const { run, clock } = serving((_, count) =>
			count === 1 ? { status: 503, headers: { 'retry-after': seconds } } : {},
		);
		const before = clock.now();
		await run();
		expect(clock.now() - before).toBe(expectedMs);
	});

	test('a host that can not be reached: again if it may help, else not', async () => {
		const down = serving(() => ({ ok: false, reason: 'ECONNREFUSED', transient: true }));
		await expect(down.run()).rejects.toThrow('ECONNREFUSED');
		expect(down.requests).toHaveLength(5);
		const unknown = serving(() => ({ ok: false, reason: 'ENOTFOUND', transient: false }));
		await expect(unknown.run()).rejects.toThrow('ENOTFOUND');
		expect(unknown.requests).toHaveLength(1);
	});
});

describe('time', () => {
	test('a body that stands still is given up after a minute and continued', async () => {
		const { run, clock } = serving((headers) =>
			headers.Range === undefined ? { stallAfter: CUT } : honest(headers),
		);
		const before = clock.now();
		expect(digest((await run()).bytes)).toBe(digest(FILE));
		expect(clock.now() - before).toBeGreaterThanOrEqual(60_000);
		expect(clock.now() - before).toBeLessThan(62_000);
	});

	test('a byte each 59 seconds does not hold a download for days', async () => {
		const { run, clock } = serving(() => ({ chunkBytes: 1, gapMs: 59_000 }));
		const before = clock.now();
		await expect(run()).rejects.toThrow(
			/^the file host sends too slowly: \d+ bytes in 1[01] minutes$/,
		);
		// With the first byte after ten minutes, and without another try.
		expect(clock.now() - before).toBe(11 * 59_000);
	});

	test('a slow connection is allowed: 25 kB a second are enough for as long as it takes', async () => {
		const body = Buffer.concat([FILE.subarray(0, 3), Buffer.alloc(30_000_000)]);
		const { run, clock } = serving(() => ({ body, chunkBytes: 25_000, gapMs: 1_000 }));
		const before = clock.now();
		expect((await run()).bytes).toHaveLength(body.length);
		expect(clock.now() - before).toBeGreaterThan(19 * 60_000);
	});

	test('what the store takes neither counts as slowness of the host nor hides that it stands still', async () => {
		const made = serving((headers) =>
			headers.Range === undefined ? { stallAfter: CUT } : honest(headers),
		);
		const slowly = async () => {
			const begun = await new Download(WANTED, made.deps, new Tries(made.deps)).begin();
			if ('problem' in begun) throw new Error(begun.problem);
			let bytes = 0;
			for await (const chunk of begun.stream) {
				if (bytes === 0) await made.clock.sleep(1_000_000);
				bytes += (chunk as Buffer).length;
			}
			return bytes;
		};
		expect(await made.clock.run(slowly())).toBe(FILE.length);
	});

	test.each([false, true])(
		'Stop ends a download that stands still, at once (deaf: %j)',
		async (deaf) => {
			const made = serving(() => ({ stallAfter: CUT, deaf }));
			const stop = new AbortController();
			made.deps.signal = stop.signal;
			made.clock.at(made.clock.now() + 5_000, () => stop.abort());
			const before = made.clock.now();
			await expect(made.run()).rejects.toThrow();
			expect(made.clock.now() - before).toBe(5_000);
			expect(made.requests).toHaveLength(1);
		},
	);
});

describe('what a download that was given up says', () => {
	test('of a host that stops in the middle, each time', async () => {
		const asked = serving(() => ({ stallAfter: 10_000 })).run();
		await expect(asked).rejects.toThrow('the file host stopped sending');
	});

	const none = Buffer.alloc(0);
	test('of a host that goes on at another place, when nothing more is tried', async () => {
		const failing = (count: number): Served =>
			count === 1 ? { breakAfter: CUT } : { status: 503, body: none };
		const asked = serving((headers, count) =>
			count < 5 ? failing(count) : partial(rangeStart(headers) + 5, { breakAfter: 0 }),
		).run();
		await expect(asked).rejects.toThrow('the file host did not continue the file');
	});
});
