/** One file in at most four tries: whole or not at all, in bounded time, and nothing left open. */
import fc from 'fast-check';
import type { NotOpened } from '../../nodes/MediaGeneration/transport/fileHost';
import { toneWav } from '../service/media/tone';
import { digest, FILE, host, type Served } from './scriptedHost';

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

const CUT = 100_000;
const UNMEASURED = { 'content-length': '' };
const UNSTATED = { ...UNMEASURED, 'transfer-encoding': 'chunked' };
/** Another file of the same length and the same first bytes. */
const OTHER = Buffer.concat([FILE.subarray(0, 50_000), Buffer.alloc(FILE.length - 50_000, 7)]);

test('whatever hosts do, a file comes whole or not at all', async () => {
	const habits = fc.array(
		fc.record({
			does: fc.constantFrom('serves', 'serves', 'cuts', 'stalls', 'errs', 'changes', 'pages'),
			at: fc.integer({ min: 0, max: FILE.length - 1 }),
			headers: fc.constantFrom<Record<string, string>>({}, UNMEASURED),
		}),
		{ minLength: 1, maxLength: 5 },
	);
	let whole = 0;
	const property = fc.asyncProperty(habits, async (all) => {
		const { run, stillOpen, clock } = host((count) => {
			const { does, at, headers } = all[(count - 1) % all.length] ?? { does: 'errs', at: 0 };
			if (does === 'errs') return { status: at % 2 === 0 ? 503 : 404 };
			if (does === 'pages') return { body: Buffer.from('<!DOCTYPE html><html>Wait</html>') };
			const served = { headers, chunkBytes: 20_000 };
			if (does === 'changes') return { ...served, body: OTHER };
			if (does === 'stalls') return { ...served, stallAfter: at };
			return does === 'cuts' ? { ...served, breakAfter: at } : served;
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

test.each([
	['without a word', { body: Buffer.alloc(0) }, 'a.srt', 'transcript'],
	['and its length of 0', { body: Buffer.alloc(0), headers: UNSTATED }, 'a.json', 'transcript'],
] as const)('a transcript %s is a file', async (_name, served, name, kind) => {
	const { run, requests } = serving(() => served);
	const { bytes, type } = await run({ url: `https://files.example/${name}`, kind });
	expect([bytes.length, requests.length, `a.${type.extension}`]).toEqual([0, 1, name]);
});

const afterwards = (seconds: string) => ({ status: 503, headers: { 'retry-after': seconds } });
test.each<[string, Served, pauseMs: number]>([
	['404', { status: 404 }, 1_000],
	// As stores without a list say.
	['403 in XML', { status: 403, headers: { 'content-type': 'application/xml' } }, 1_000],
	...[408, 425, 429, 500, 502, 503].map((status): [string, Served, number] => {
		return [`${status}`, { status }, 400];
	}),
	['503 that names a pause', afterwards('9'), 9_000],
	['503 that names a pause of more than half a minute', afterwards('90'), 30_000],
	['standing still for a minute', { stallAfter: CUT }, 60_400],
	['less than 64 kB in a minute after the first', { chunkBytes: 5_000, gapMs: 5_000 }, 120_400],
])('another try helps after %s', async (_name, served, pauseMs) => {
	const { run, requests, clock } = serving((count) => (count === 1 ? served : {}));
	const before = clock.now();
	expect(digest((await run({ maxBytes: FILE.length })).bytes)).toBe(digest(FILE));
	expect([requests.length, clock.now() - before]).toEqual([2, pauseMs]);
});

test.each<[string, Served, string, pausesMs: number]>([
	['four tries are enough', { breakAfter: CUT }, 'the connection was reset', 400 + 800 + 1_600],
	['a file that is not there yet', { status: 404 }, 'HTTP 404', 1_000 + 4_000 + 15_000],
])('%s, with growing pauses between them', async (_name, served, words, pausesMs) => {
	const { run, requests, clock } = serving(() => served);
	const before = clock.now();
	await expect(run()).rejects.toThrow(words);
	expect([requests.length, clock.now() - before]).toEqual([4, pausesMs]);
});

test.each([UNMEASURED, { ...UNMEASURED, 'transfer-encoding': 'identity' }])(
	'an end that nobody announced is believed the second time: %j',
	async (headers) => {
		const cut = { body: FILE.subarray(0, CUT), headers };
		const { run, requests } = serving((count) => (count === 1 ? cut : { headers }));
		expect(digest((await run()).bytes)).toBe(digest(FILE));
		expect(requests).toHaveLength(3);
	},
);

/** Four thousand bytes of samples, of which the header says something else. */
function wavOf(stated: number, samples = 4_000): Buffer {
	const wav = toneWav('Hello', { sampleRate: 16_000 }).subarray(0, 44 + samples);
	wav.writeUInt32LE(stated, 40);
	return wav;
}

test.each<[string, Buffer, Record<string, string>, problem: string]>([
	['whole', wavOf(4_000), UNSTATED, ''],
	['cut', wavOf(4_000, 2_000), UNSTATED, 'the sound broke off after 2000 of 4000 bytes'],
	['cut, of a host that just closes', wavOf(4_000, 2_000), UNMEASURED, 'the sound broke off'],
	['as long as its host says', wavOf(4_000, 2_000), {}, ''],
	['whose header counts itself', wavOf(4_044), UNSTATED, ''],
	...[0, 0x7fff_f000, 0x7fff_ffff, 0xffff_ffff].map(
		(size): [string, Buffer, Record<string, string>, string] => {
			return [`streamed, of ${size.toString(16)} bytes`, wavOf(size), UNSTATED, ''];
		},
	),
])('a WAV file %s', async (_name, body, headers, problem) => {
	const { run, requests } = serving(() => ({ body, headers }));
	if (problem === '') expect((await run()).bytes).toEqual(body);
	else await expect(run()).rejects.toThrow(problem);
	expect(requests).toHaveLength(problem === '' ? 1 : 4);
});

describe('a length that was stated once', () => {
	const shorter = { body: FILE.subarray(0, 150_000), headers: UNSTATED };

	test.each([CUT, 5_000])(
		'binds the tries after it: a shorter file is not whole, where the first answer broke off after %d bytes',
		async (breakAfter) => {
			const { run, requests } = serving((count) => (count === 1 ? { breakAfter } : shorter));
			const words = `the file broke off after 150000 of ${FILE.length} bytes`;
			await expect(run()).rejects.toThrow(words);
			expect(requests).toHaveLength(4);
		},
	);

	test('counts until another is stated, and that of an error page never does', async () => {
		const page = { body: Buffer.from('<html>') };
		const [cut, whole] = [{ breakAfter: CUT }, { headers: UNSTATED }];
		const run = async (...served: Served[]) => {
			const made = serving((count) => served[count - 1] ?? served.at(-1) ?? {});
			return [(await made.run()).bytes.length, made.requests.length];
		};
		expect(await run(cut, page, shorter, whole)).toEqual([FILE.length, 4]);
		expect(await run(page, whole)).toEqual([FILE.length, 2]);
		expect(await run(cut, { body: shorter.body })).toEqual([150_000, 2]);
		expect(await run(cut, { body: shorter.body, breakAfter: CUT }, shorter)).toEqual([150_000, 3]);
	});
});

test.each<[string, Record<string, string>]>([
	['decompressed is longer than its length says', { 'content-length': '5000' }],
	['decompressed is shorter, if it did not shrink', { 'content-length': `${FILE.length + 60}` }],
	['did not have to decompress', { 'content-encoding': 'aws-chunked' }],
])('a body that n8n has %s', async (_name, headers) => {
	const { run, requests } = serving(() => ({ headers }));
	expect(digest((await run()).bytes)).toBe(digest(FILE));
	expect(requests).toHaveLength(1);
});

const [br, long] = ['br', `br, ${'x'.repeat(100)}`].map((encoding) => ({
	headers: { 'content-encoding': encoding },
	body: Buffer.alloc(9_000, 0x8b),
}));
const CODED = "the file host sent it in an encoding that n8n can't undo:";
const LARGE = /^the file is larger than allowed: 'Max/;
const down = { ok: false, reason: 'ECONNREFUSED', transient: true } as const;
const unknown = { ok: false, reason: 'ENOTFOUND', transient: false } as const;
const page = { body: Buffer.from(`<html>${' '.repeat(20_000)}`) };
test.each<[string, Served | NotOpened, maxBytes: number, words: Error | RegExp | string, number]>([
	['left compressed', br ?? {}, 1e9, new Error(`${CODED} br`), 1],
	['with a long name of that', long ?? {}, 1e9, new Error(`${CODED} br, ${'x'.repeat(56)}`), 1],
	['too large by its header', {}, 30_000, ": 0.3 MB, and 'Max File Size' is 0.03 MB", 1],
	['too large at once', { headers: UNSTATED }, 1_000, LARGE, 1],
	['too large in the middle', { headers: UNSTATED }, 150_000, LARGE, 1],
	['empty', { body: Buffer.alloc(0) }, 1e9, 'the file is empty', 4],
	...[206, 304, 403, 410, 416].map((status): [string, Served, number, string, number] => {
		return [`HTTP ${status}`, { status }, 1e9, `the file host answered HTTP ${status}`, 1];
	}),
	['of a host that is down', down, 1e9, 'ECONNREFUSED', 4],
	['of no known host', unknown, 1e9, 'ENOTFOUND', 1],
	['of a host that stops', { stallAfter: 10_000 }, 1e9, 'the file host stopped sending', 4],
	['of a host that drips', { chunkBytes: 1, gapMs: 10_000 }, 1e9, 'less than 64 kB in a minute', 4],
	['a long page', page, 1e9, /a web page/, 4],
])(
	'%s: refused in words, after tries that may help',
	async (_name, served, maxBytes, words, tries) => {
		const { run, requests } = serving(() => served);
		await expect(run({ maxBytes })).rejects.toThrow(words);
		expect(requests).toHaveLength(tries);
	},
);

describe('time', () => {
	test.each([
		['64 kB in each minute are enough', { chunkBytes: 64_000, gapMs: 59_000 }, 1],
		['and the first minute may have less', { chunkBytes: 40_000, gapMs: 31_000 }, 1],
	])('%s', async (_name, served, count) => {
		const { run, requests } = serving(() => served);
		expect(digest((await run()).bytes)).toBe(digest(FILE));
		expect(requests).toHaveLength(count);
	});

	test('what the store takes is no silence of the host, nor hides one', async () => {
		const made = serving((count) => (count === 1 ? { stallAfter: CUT } : {}));
		made.store.pauseMs = 1_000_000;
		const before = made.clock.now();
		expect(digest((await made.run()).bytes)).toBe(digest(FILE));
		expect(made.requests).toHaveLength(2);
		expect(made.clock.now() - before).toBeLessThanOrEqual(2_000_000 + 120_400);
	});

	test.each([0, 5_000])(
		'Stop ends a download that stands still, at once (the store takes %d ms)',
		async (pauseMs) => {
			const made = serving(() => ({ stallAfter: CUT }));
			made.store.pauseMs = pauseMs;
			const stop = new AbortController();
			made.deps.signal = stop.signal;
			made.clock.at(made.clock.now() + 5_000, () => stop.abort());
			const before = made.clock.now();
			await expect(made.run()).rejects.toThrow('the download was stopped');
			expect(made.clock.now() - before).toBe(5_000);
			expect(made.requests).toHaveLength(1);
		},
	);
});

test('a store that fails before it reads leaves nothing running', async () => {
	const made = serving(() => ({}));
	made.store.trouble.writes = [true];
	await expect(made.run()).rejects.toThrow('n8n could not store it: no space left on device');
	expect(made.requests).toHaveLength(1);
	expect(made.store.streams.map(({ destroyed }) => destroyed)).toEqual([true]);
});
