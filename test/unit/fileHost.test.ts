/** The door to file hosts: where it goes, where it does not, and that it closes what it opens. */
import { Readable } from 'node:stream';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { fileOpener } from '../../nodes/MediaGeneration/transport/fileHost';
import { fakeN8n, type Answered } from '../support/n8n';

const BASE_URL = 'https://api.example';
const FILE_URL = 'https://files.example/a';

function door(
	answer: (options: IHttpRequestOptions, count: number) => Answered | Promise<Answered>,
	baseUrl: string | undefined = BASE_URL,
) {
	const { context, asked: requests } = fakeN8n({
		http: async (...request) => ({ body: Readable.from(['x']), ...(await answer(...request)) }),
	});
	const open = fileOpener({ context, baseUrl });
	const aborted = () =>
		requests.map(({ abortSignal }) => (abortSignal as AbortSignal | undefined)?.aborted === true);
	return { requests, open, aborted };
}

describe('private addresses', () => {
	test.each([
		['https://10.0.0.1/a', BASE_URL, 0],
		...'kubernetes.default.svc kubernetes.default redis.prod vault.service.consul db.corp a.intranet a.private a.home a.test fritz.box'
			.split(' ')
			.map((name): [string, string, number] => [`https://${name}/a`, BASE_URL, 0]),
		...'169.254.169.254 metadata.google.internal 168.63.129.16 [fe80::1] [fd00:ec2::254] [::ffff:169.254.169.254] [64:ff9b::a9fe:a9fe]'
			.split(' ')
			.map((name): [string, string, number] => [`http://${name}/a`, 'http://10.0.0.2', 0]),
		['http://10.0.0.1/a', 'http://192.168.1.5:3000/api', 1],
		[FILE_URL, 'http://127.0.0.1:1', 1],
	])('%s of a service at %s: %d requests', async (url, baseUrl, count) => {
		const { open, requests } = door(() => ({ statusCode: 200 }), baseUrl);
		expect(await open(url, undefined)).toMatchObject({ ok: count === 1 });
		expect(requests).toHaveLength(count);
	});

	test.each([
		['http://files.example/a', BASE_URL, FILE_URL],
		['http://files.example/a', 'http://10.0.0.2', 'http://files.example/a'],
		['http://files.example:8080/a', undefined, 'https://files.example:8080/a'],
	])('%s of a service at %s is asked for at %s', async (url, baseUrl, asked) => {
		const { context, asked: requests } = fakeN8n({
			http: () => ({ statusCode: 200, body: Readable.from(['x']) }),
		});
		const opened = await fileOpener({ context, ...(baseUrl && { baseUrl }) })(url, undefined);
		expect(opened.ok).toBe(true);
		expect(requests.map((request) => request.url)).toEqual([asked]);
	});

	test('a redirect never leaves https', async () => {
		const moved = { statusCode: 302, headers: { location: 'http://files.example/b' } };
		for (const baseUrl of [BASE_URL, 'http://10.0.0.2']) {
			const { open, requests } = door(
				(_, count) => (count === 1 ? moved : { statusCode: 200 }),
				baseUrl,
			);
			await open(FILE_URL, undefined);
			expect(requests.map(({ url }) => url)).toEqual([FILE_URL, 'https://files.example/b']);
		}
	});

	test('are refused where no service is known, for good and in words', async () => {
		const { context, asked } = fakeN8n();
		expect(await fileOpener({ context })('http://minio/a', undefined)).toEqual({
			ok: false,
			reason: 'its address (minio) is in a private network, and the service is not',
			transient: false,
		});
		expect(asked).toEqual([]);
	});

	test('are not reached by a redirect', async () => {
		const { open, requests, aborted } = door(() => ({
			statusCode: 302,
			headers: { location: 'https://169.254.169.254/latest' },
		}));
		const opened = await open(FILE_URL, undefined);
		expect(opened).toMatchObject({ ok: false, transient: false });
		expect(opened).toHaveProperty('reason', expect.stringContaining('(169.254.169.254)'));
		expect(requests.map(({ url }) => url)).toEqual([FILE_URL]);
		expect(aborted()).toEqual([true]);
	});
});

describe('what is opened is closed', () => {
	test('by aborting its request, and its own only', async () => {
		const { open, aborted } = door(() => ({ statusCode: 200 }));
		const files = [await open(FILE_URL, undefined), await open(FILE_URL, undefined)];
		expect(aborted()).toEqual([false, false]);
		if (files[0]?.ok) files[0].close();
		expect(aborted()).toEqual([true, false]);
		if (files[1]?.ok) files[1].close();
		expect(aborted()).toEqual([true, true]);
	});

	test('a hop is closed before the next one is opened', async () => {
		const seen: boolean[][] = [];
		const made = door((_, count) => {
			seen.push(made.aborted());
			return count < 4 ? { statusCode: 302, headers: { location: '/next' } } : { statusCode: 200 };
		});
		const opened = await made.open(FILE_URL, undefined);
		expect(opened.ok).toBe(true);
		expect(seen.at(-1)).toEqual([true, true, true, false]);
	});

	test('redirects without end, to the first of several addresses, are given up, and all are closed', async () => {
		const location = ['/next', '/other'];
		const { open, aborted } = door(() => ({ statusCode: 307, headers: { location } }));
		expect(await open(FILE_URL, undefined)).toMatchObject({
			reason: 'it redirects more than 5 times',
		});
		expect(aborted()).toEqual(Array.from({ length: 6 }, () => true));
	});

	test('by the signal of whoever asked', async () => {
		const { open, aborted } = door(() => ({ statusCode: 200 }));
		const stop = new AbortController();
		const add = jest.spyOn(stop.signal, 'addEventListener');
		const time = new AbortController();
		const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(time.signal);
		const first = await open(FILE_URL, stop.signal);
		await open(FILE_URL, stop.signal);
		timeout.mockRestore();
		// The time for the headers does not count for the body.
		time.abort();
		if (first.ok) first.close();
		expect(aborted()).toEqual([true, false]);
		stop.abort();
		expect(aborted()).toEqual([true, true]);
		// However many files are opened: Node.js warns of signals with many listeners.
		expect(add).toHaveBeenCalledTimes(1);
	});

	test('a signal that has aborted opens nothing that stays', async () => {
		const { open, aborted } = door(() => ({ statusCode: 200 }));
		const opened = await open(FILE_URL, AbortSignal.abort());
		expect(aborted()).toEqual([true]);
		if (opened.ok) opened.close();
	});
});

describe('what is asked for', () => {
	test('is the bytes as they are, as a stream, whatever their status; no redirect is left to the helper', async () => {
		const { open, requests } = door(() => ({ statusCode: 404 }));
		const opened = await open(FILE_URL, undefined);
		expect(opened).toMatchObject({ ok: true, status: 404 });
		expect(requests).toMatchObject([
			{
				method: 'GET',
				url: FILE_URL,
				headers: {
					Accept: '*/*',
					'Accept-Encoding': 'identity',
					'User-Agent': expect.stringMatching(/^Mozilla\/5\.0 /) as string,
				},
				encoding: 'stream',
				returnFullResponse: true,
				ignoreHttpStatusErrors: true,
				disableFollowRedirect: true,
			},
		]);
		expect(JSON.stringify(requests)).not.toMatch(/authorization/i);
	});

	test.each([
		['file:///etc/passwd', /redirects to file:/],
		[undefined, /without a usable address/],
	])('a redirect to %j ends it, for good and in words', async (location, words) => {
		const { open, requests, aborted } = door(() => ({ statusCode: 302, headers: { location } }));
		const opened = await open(FILE_URL, undefined);
		expect(opened).toMatchObject({ ok: false, transient: false });
		expect(!opened.ok && opened.reason).toMatch(words);
		expect(requests).toHaveLength(1);
		expect(aborted()).toEqual([true]);
	});

	test.each<[string, object, string, boolean]>([
		['refused', { code: 'ECONNREFUSED', syscall: 'connect' }, 'refused', true],
		['reset', { code: 'ECONNRESET', syscall: 'read' }, 'reset', true],
		['of no known host', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }, 'not known', false],
	])(
		'a connection that is %s: why, and whether another try may help',
		async (_, fields, words, transient) => {
			const { open } = door(async () => {
				const { code } = fields as { code: string };
				return await Promise.reject(Object.assign(new Error(code), fields));
			});
			const opened = await open(FILE_URL, undefined);
			expect(opened).toMatchObject({ ok: false, transient });
			expect(!opened.ok && opened.reason).toContain(words);
		},
	);
});

test('headers that take longer than a minute are given up, however they drip', async () => {
	const time = new AbortController();
	const timeout = jest.spyOn(AbortSignal, 'timeout').mockReturnValue(time.signal);
	const { open, aborted } = door(
		async ({ abortSignal }) =>
			await new Promise((_, reject) => {
				(abortSignal as AbortSignal).addEventListener('abort', () => reject(new Error('canceled')));
			}),
	);
	const opening = open(FILE_URL, undefined);
	expect(timeout).toHaveBeenCalledWith(60_000);
	time.abort();
	expect(await opening).toEqual({
		ok: false,
		reason: 'it did not answer within 60 s',
		transient: true,
	});
	expect(aborted()).toEqual([true]);
	timeout.mockRestore();
});
