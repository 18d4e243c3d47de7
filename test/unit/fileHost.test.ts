/** The door to file hosts: which hosts are private, where it goes, where it does not, and that it closes what it opens. */
import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { fileOpener } from '../../nodes/MediaGeneration/transport/fileHost';
import { isPrivateHost } from '../../nodes/MediaGeneration/transport/hosts';
import { fakeN8n, type Answered } from '../support/n8n';

const BASE_URL = 'https://api.example';
const FILE_URL = 'https://files.example/a';

/** What is answered to each request; a body, unless it says otherwise. */
type Host = (options: IHttpRequestOptions, count: number) => Answered | Promise<Answered>;

function door(answer: Host = () => ({}), from: { baseUrl?: string } = { baseUrl: BASE_URL }) {
	const { context, asked: requests } = fakeN8n({
		http: async (...request) => ({ body: Readable.from(['x']), ...(await answer(...request)) }),
	});
	const open = fileOpener({ context, ...from });
	const aborted = () =>
		requests.map(({ abortSignal }) => (abortSignal as AbortSignal | undefined)?.aborted === true);
	return { requests, open, aborted };
}

test.each([
	...['stand-in', 'a.localhost', 'my.machine.local', 'localhost.localdomain', 'a.internal'],
	...['nas.lan', 'nas.home.arpa', 'localhost..', '127.0.0.1.', '0.0.0.0', '10.0.0.1', '127.9.9.9'],
	...['100.64.0.1', '100.110.0.1', '100.127.255.255', '168.63.129.16', '169.254.1.1', '172.16.0.1'],
	...['172.31.0.1', '192.0.0.1', '192.88.99.1', '192.168.1.5', '198.18.0.1', '198.19.0.1'],
	...['224.0.0.1', '229.0.0.1', '230.0.0.1', '240.0.0.1', '255.255.255.255'],
	...['[::1]', '[fe80::1]', '[fd00::1]', '[ff02::1]', '[::ffff:c0a8:105]', '[64:ff9b::a00:1]'],
	...['[2001::1]', '[2002:a00:1:5::9]', '[2002:808:808::1]'],
])('%s is private', (host) => {
	expect(isPrivateHost(new URL(`http://${host}`))).toBe(true);
});

test.each([
	...['example.com', 'my.local.example.com', '100.64.example.com', '8.10.0.1', '100.63.255.255'],
	...['100.128.0.1', '172.15.0.1', '172.32.0.1', '192.167.0.1', '198.20.0.1', '223.255.255.255'],
	...['[2606::fd00]', '[2001:db8::ffff:a00:1]', '[2001:4860:4860::8888]'],
])('%s is public', (host) => {
	expect(isPrivateHost(new URL(`http://${host}`))).toBe(false);
});

test('a file that is closed leaves no listener at the signal of its run', async () => {
	const { signal } = new AbortController();
	const opened = await door().open(FILE_URL, signal);
	expect(getEventListeners(signal, 'abort')).toHaveLength(1);
	if (opened.ok) opened.close();
	expect(getEventListeners(signal, 'abort')).toEqual([]);
});

const REFUSED = 'in a private network, and the service is not';
const INTRANET = 'http://10.0.0.2';
test.each<[string, string | undefined, asked: string]>([
	['https://10.0.0.1/a', BASE_URL, ''],
	['http://minio/a', undefined, ''],
	['http://files.example../a', INTRANET, ''],
	[`http://${'a.'.repeat(130)}example/a`, INTRANET, ''],
	...['kubernetes.default.svc', 'redis.prod', 'vault.service.consul.', 'db.corp', 'fritz.box.'].map(
		(name): [string, string, string] => [`https://${name}/a`, BASE_URL, ''],
	),
	...[
		'169.254.169.254',
		'[fe80::1]',
		'metadata.google.internal.',
		'168.63.129.16',
		'100.100.100.200',
		'[::ffff:100.100.100.200]',
		'[64:ff9b::168.63.129.16]',
		'instance-data.ec2.internal',
		'[fd20:ce::254]',
	].map((name): [string, string, string] => [`http://${name}/a`, INTRANET, '']),
	['http://10.0.0.1/a', 'http://192.168.1.5:3000/api', 'http://10.0.0.1/a'],
	[FILE_URL, 'http://127.0.0.1:1', FILE_URL],
	['https://files.home.example/a', BASE_URL, 'https://files.home.example/a'],
	['http://files.example/a', BASE_URL, FILE_URL],
	['http://files.example/a', INTRANET, 'http://files.example/a'],
	['http://files.example:8080/a', undefined, 'https://files.example:8080/a'],
])('%s of a service at %s is asked for at "%s"', async (url, baseUrl, asked) => {
	const { open, requests } = door(undefined, baseUrl === undefined ? {} : { baseUrl });
	const opened = await open(url, undefined);
	expect(requests.map((request) => request.url)).toEqual(asked === '' ? [] : [asked]);
	expect(opened).toMatchObject(asked === '' ? { ok: false, transient: false } : { ok: true });
	// Addresses of a machine's own metadata are refused to every service.
	if (!opened.ok && baseUrl !== INTRANET) expect(opened.reason).toContain(REFUSED);
});

describe('a redirect', () => {
	test.each([
		[FILE_URL, BASE_URL, 'https'],
		[FILE_URL, INTRANET, 'https'],
		['http://files.example/a', INTRANET, 'http'],
	])('of %s, for a service at %s, goes on by %s', async (url, baseUrl, scheme) => {
		const location = 'http://files.example/b';
		const answers = [{ statusCode: 302, headers: { location } }, { statusCode: 200 }];
		const { open, requests } = door((_, count) => answers[count - 1] ?? {}, { baseUrl });
		await open(url, undefined);
		expect(requests.map((request) => request.url)).toEqual([url, `${scheme}://files.example/b`]);
	});

	test.each([
		['https://169.254.169.254/latest', /\(169\.254\.169\.254\)/],
		['file:///etc/passwd', /redirects to file:/],
		[undefined, /without a usable address/],
	])('to %j ends it, for good and in words', async (location, words) => {
		const { open, requests, aborted } = door(() => ({ statusCode: 302, headers: { location } }));
		const opened = await open(FILE_URL, undefined);
		const reason = expect.stringMatching(words) as string;
		expect(opened).toEqual({ ok: false, transient: false, reason });
		expect(requests).toHaveLength(1);
		expect(aborted()).toEqual([true]);
	});
});

describe('what is opened is closed', () => {
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
		const reason = 'it redirects more than 5 times';
		expect(await open(FILE_URL, undefined)).toMatchObject({ reason });
		expect(aborted()).toEqual(Array.from({ length: 6 }, () => true));
	});

	test('by the signal of whoever asked', async () => {
		const { open, aborted } = door();
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
		const { open, aborted } = door();
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

	test.each<[string, { code: string; syscall: string }, string, boolean]>([
		['refused', { code: 'ECONNREFUSED', syscall: 'connect' }, 'refused', true],
		['reset', { code: 'ECONNRESET', syscall: 'read' }, 'reset', true],
		['of no known host', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }, 'not known', false],
	])(
		'a connection that is %s: why, and whether another try may help',
		async (_, fields, words, transient) => {
			const failed = Object.assign(new Error(fields.code), fields);
			const { open } = door(async () => await Promise.reject(failed));
			const reason = expect.stringContaining(words) as string;
			expect(await open(FILE_URL, undefined)).toEqual({ ok: false, transient, reason });
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
	const reason = 'it did not answer within 60 s';
	expect(await opening).toEqual({ ok: false, reason, transient: true });
	expect(aborted()).toEqual([true]);
	timeout.mockRestore();
});
