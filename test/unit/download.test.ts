import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { openDownload, type DownloadDeps } from '../../nodes/MediaGeneration/delivery/download';
import {
	redirectTarget,
	type NotOpened,
	type OpenFile,
} from '../../nodes/MediaGeneration/service/fileHost';
import { VirtualClock } from './virtualClock';

const URL_OF_FILE = 'https://files.example/a.mp3';
const FILE = Buffer.concat([
	Buffer.from('ID3'),
	Buffer.from(Array.from({ length: 40_000 }, (_, index) => (index * 31) % 251)),
]);
const digest = (buffer: Buffer) => createHash('sha256').update(buffer).digest('hex');

interface Served {
	status?: number;
	headers?: Record<string, string>;
	body?: Buffer;
	/** Bytes after which the connection breaks, or stands still. */
	breakAfter?: number;
	stallAfter?: number;
}

async function* chunksOf({ body = FILE, breakAfter, stallAfter }: Served): AsyncGenerator<Buffer> {
	const end = Math.min(breakAfter ?? Infinity, stallAfter ?? Infinity, body.length);
	for (let at = 0; at < end; at += 1_000)
		yield await Promise.resolve(body.subarray(at, Math.min(at + 1_000, end)));
	if (breakAfter !== undefined) throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
	if (stallAfter !== undefined) await new Promise(() => undefined);
}

function host(serve: (headers: Record<string, string>, count: number) => Served | NotOpened) {
	const clock = new VirtualClock();
	const requests: Array<Record<string, string>> = [];
	const deps: DownloadDeps = {
		async open(url, headers): Promise<OpenFile | NotOpened> {
			requests.push(headers);
			const served = serve(headers, requests.length);
			if ('ok' in served) return served;
			const { status = 200, body = FILE } = served;
			return await Promise.resolve({
				ok: true,
				status,
				url,
				headers: {
					'content-length': String(body.length),
					etag: '"v1"',
					'content-type': 'audio/mpeg',
					...served.headers,
				},
				body: Readable.from(chunksOf(served), { objectMode: false }),
			});
		},
		now: clock.now,
		sleep: clock.sleep,
	};
	const download = async (maxBytes = 1e9, kind: 'audio' | 'transcript' | 'file' = 'audio') => {
		const opened = await openDownload(URL_OF_FILE, kind, maxBytes, deps);
		const parts: Buffer[] = [];
		for await (const chunk of opened.chunks) parts.push(chunk);
		return { ...opened, bytes: Buffer.concat(parts) };
	};
	return {
		clock,
		requests,
		run: async (...args: Parameters<typeof download>) => await clock.run(download(...args)),
	};
}
const rangeStart = (headers: Record<string, string>) =>
	Number(/bytes=(\d+)-/.exec(headers.Range ?? '')?.[1] ?? 0);
const partial = (start: number, extra: Served = {}): Served => ({
	status: 206,
	body: FILE.subarray(start),
	...extra,
	headers: {
		'content-range': `bytes ${start}-${FILE.length - 1}/${FILE.length}`,
		...extra.headers,
	},
});

test('a whole file in one request, with its type', async () => {
	const { run, requests } = host(() => ({}));
	const download = await run();
	const { bytes, type } = download;
	expect(digest(bytes)).toBe(digest(FILE));
	expect(type).toEqual({ mimeType: 'audio/mpeg', extension: 'mp3' });
	expect(download.received()).toBe(FILE.length);
	expect(requests).toEqual([{}]);
});

describe('cut in the middle', () => {
	test('it is continued where it broke, for as long as something new comes', async () => {
		const { run, requests } = host((headers) => {
			const start = rangeStart(headers);
			return start === 0
				? { breakAfter: 5_000 }
				: partial(start, start < 35_000 ? { breakAfter: 5_000 } : {});
		});
		expect(digest((await run()).bytes)).toBe(digest(FILE));
		expect(requests[1]).toEqual({ Range: 'bytes=5000-', 'If-Range': '"v1"' });
		expect(requests.length).toBeGreaterThan(6);
	});

	test('an end that comes too early is a cut as well', async () => {
		const { run } = host((headers) =>
			rangeStart(headers) === 0
				? {
						stallAfter: undefined,
						headers: { 'content-length': String(FILE.length) },
						body: FILE.subarray(0, 7_000),
					}
				: partial(7_000),
		);
		expect(digest((await run()).bytes)).toBe(digest(FILE));
	});

	test('a host without ranges sends all again; what is there is passed over', async () => {
		const { run } = host((_, count) => (count === 1 ? { breakAfter: 12_345 } : {}));
		expect(digest((await run()).bytes)).toBe(digest(FILE));
	});

	test('a weak validator is not used to continue', async () => {
		const { run, requests } = host((headers, count) =>
			count === 1
				? { breakAfter: 5_000, headers: { etag: 'W/"v1"' } }
				: partial(rangeStart(headers), { headers: { etag: 'W/"v1"' } }),
		);
		await run();
		expect(requests[1]).toEqual({ Range: 'bytes=5000-' });
	});

	test.each<[string, Served]>([
		['another validator', partial(5_000, { headers: { etag: '"v2"' } })],
		['all again, another validator', { headers: { etag: '"v2"' } }],
		[
			'another length in a part',
			partial(5_000, { headers: { 'content-range': 'bytes 5000-6000/6001' } }),
		],
		['all again, another length', { body: FILE.subarray(0, 9_000) }],
	])('a file that changed is given up: %s', async (_name, second) => {
		const { run, requests } = host((_, count) => (count === 1 ? { breakAfter: 5_000 } : second));
		await expect(run()).rejects.toThrow('the file changed while it was downloaded');
		expect(requests).toHaveLength(2);
	});

	test('a part from a wrong place is given up', async () => {
		const { run } = host((_, count) => (count === 1 ? { breakAfter: 5_000 } : partial(4_000)));
		await expect(run()).rejects.toThrow('continued at a wrong place');
	});

	test('five tries in a row that bring nothing are enough', async () => {
		const { run, requests } = host(() => ({ breakAfter: 0 }));
		await expect(run()).rejects.toThrow('aborted');
		expect(requests).toHaveLength(5);
	});
});

describe('size', () => {
	test('too large by its header: not one byte is read', async () => {
		const { run, requests } = host(() => ({}));
		await expect(run(30_000)).rejects.toThrow(
			'the file is larger than allowed: 0 MB, and Max File Size is 0 MB',
		);
		expect(requests).toHaveLength(1);
	});

	test('too large by its bytes, where the header says nothing', async () => {
		const { run, requests } = host(() => ({ headers: { 'content-length': '' } }));
		await expect(run(30_000)).rejects.toThrow('larger than allowed: more, and Max File Size');
		expect(requests).toHaveLength(1);
	});

	test('exactly as large as allowed', async () => {
		expect((await host(() => ({})).run(FILE.length)).bytes).toHaveLength(FILE.length);
	});

	test('an empty file is none, after more tries', async () => {
		const { run, requests } = host(() => ({ body: Buffer.alloc(0) }));
		await expect(run()).rejects.toThrow('the file is empty');
		expect(requests.length).toBeGreaterThan(1);
	});
});

describe('what is no result', () => {
	test.each<[string, 'audio' | 'transcript' | 'file', string, RegExp]>([
		['a web page', 'audio', '<!DOCTYPE html><title>Error</title>', /web page instead of the file/],
		['a web page for a transcript', 'transcript', '<html>', /web page/],
		['JSON for audio', 'audio', '{"message":"expired"}', /JSON message instead/],
		[
			'an error object for a transcript',
			'transcript',
			'{"error":"expired"}',
			/error message instead/,
		],
		['a refusal for a file', 'file', ' {"success": false}', /error message instead/],
	])('%s', async (_name, kind, body, reason) => {
		const { run, requests } = host(() => ({ body: Buffer.from(body) }));
		await expect(run(1e9, kind)).rejects.toThrow(reason);
		expect(requests).toHaveLength(3);
	});

	test('an error page that goes away is forgotten', async () => {
		const { run } = host((_, count) => (count === 1 ? { body: Buffer.from('<html>') } : {}));
		expect(digest((await run()).bytes)).toBe(digest(FILE));
	});

	test('a transcript in JSON is one', async () => {
		const { run } = host(() => ({
			body: Buffer.from('[{"word":"a"}]'),
			headers: { 'content-type': 'application/json' },
		}));
		expect((await run(1e9, 'transcript')).type).toEqual({
			mimeType: 'application/json',
			extension: 'json',
		});
	});
});

describe('refusals', () => {
	test('403: once more as a browser, without delay', async () => {
		const { run, requests, clock } = host((headers) =>
			headers['User-Agent'] === undefined ? { status: 403 } : {},
		);
		const before = clock.now();
		await run();
		expect(requests).toHaveLength(2);
		expect(requests[1]?.['User-Agent']).toMatch(/^Mozilla/);
		expect(clock.now()).toBe(before);
	});

	test.each([403, 404, 410, 416])('HTTP %d for good', async (status) => {
		const { run, requests } = host(() => ({ status }));
		await expect(run()).rejects.toThrow(`the file host answered HTTP ${status}`);
		expect(requests).toHaveLength(status === 403 ? 2 : 1);
	});

	test.each([408, 425, 429, 500, 502, 503])('HTTP %d in passing', async (status) => {
		const { run } = host((_, count) => (count < 3 ? { status } : {}));
		expect(digest((await run()).bytes)).toBe(digest(FILE));
	});

	test('Retry-After is kept', async () => {
		const { run, clock } = host((_, count) =>
			count === 1 ? { status: 503, headers: { 'retry-after': '9' } } : {},
		);
		const before = clock.now();
		await run();
		expect(clock.now() - before).toBe(9_000);
	});

	test('a host that can not be reached: again if it may help, else not', async () => {
		const down = host(() => ({ ok: false, reason: 'ECONNREFUSED', transient: true }));
		await expect(down.run()).rejects.toThrow('ECONNREFUSED');
		expect(down.requests).toHaveLength(5);
		const unknown = host(() => ({ ok: false, reason: 'ENOTFOUND', transient: false }));
		await expect(unknown.run()).rejects.toThrow('ENOTFOUND');
		expect(unknown.requests).toHaveLength(1);
	});
});

test('a body that stands still is given up after a minute and continued', async () => {
	const { run, clock } = host((headers) =>
		rangeStart(headers) === 0 ? { stallAfter: 20_000 } : partial(rangeStart(headers)),
	);
	const before = clock.now();
	expect(digest((await run()).bytes)).toBe(digest(FILE));
	expect(clock.now() - before).toBeGreaterThanOrEqual(60_000);
	expect(clock.now() - before).toBeLessThan(62_000);
});

test.each<[string | undefined, string, string | RegExp]>([
	['/b.mp3', 'https://a.example/x/y', 'https://a.example/b.mp3'],
	['https://b.example/z', 'https://a.example/', 'https://b.example/z'],
	['https://b.example/z', 'http://a.example/', 'https://b.example/z'],
	['http://b.example/z', 'http://a.example/', 'http://b.example/z'],
	['http://b.example/z', 'https://a.example/', /from https to http/],
	['file:///etc/passwd', 'https://a.example/', /redirects to file:/],
	['data:text/plain,x', 'https://a.example/', /redirects to data:/],
	['https://', 'https://a.example/', /without a usable address/],
	[undefined, 'https://a.example/', /without a usable address/],
])('a redirect to %p from %s', (location, from, expected) => {
	const target = redirectTarget(location, from);
	if (typeof expected === 'string') expect(target instanceof URL && target.href).toBe(expected);
	else expect(target).toMatch(expected);
});
