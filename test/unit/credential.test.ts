/** Rule 3 at its root: what the credential hands the key to, and what its test says of an answer. README, "Credential" and "Security". */
import type { IHttpRequestOptions } from 'n8n-workflow';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';

const KEY = 'sk_0123456789abcdef';
const BASE = 'https://api.example';
const credential = new MediaGenerationApi();

/** The request as the credential makes it. `uri` is what n8n's older helper has instead of `url`. */
async function authenticated(
	request: Omit<Partial<IHttpRequestOptions>, 'url'> & { url?: unknown; uri?: unknown },
	fields: Record<string, string> = {},
) {
	return (await credential.authenticate(
		{ apiKey: KEY, baseUrl: BASE, callbackSecret: '', keyHeader: 'authorization', ...fields },
		request as IHttpRequestOptions,
	)) as unknown as Record<string, unknown>;
}

describe('the key goes into its header', () => {
	test.each([
		['authorization', { Authorization: `Bearer ${KEY}` }],
		['xi-api-key', { 'xi-api-key': KEY }],
		['', { Authorization: `Bearer ${KEY}` }],
	])('"%s", and the other headers stay', async (keyHeader, header) => {
		const url = `${BASE}/v1/credits`;
		const headers = { Accept: 'application/json', 'X-Request-Id': '1' };
		const request = await authenticated({ url, headers, method: 'GET' }, { keyHeader });
		expect(request.headers).toEqual({ ...headers, ...header });
		expect(request).toMatchObject({ url, method: 'GET' });
	});

	test.each([
		['authorization', 'AUTHORIZATION'],
		['xi-api-key', 'Xi-Api-Key'],
	])('in the place of another %s, in whatever case', async (keyHeader, name) => {
		const headers = { [name]: 'another' };
		const request = await authenticated({ url: `${BASE}/v1/credits`, headers }, { keyHeader });
		expect(JSON.stringify(request)).not.toContain('another');
		expect(Object.keys(request.headers as object)).toHaveLength(1);
	});

	test('and no redirect is followed with it, by either of the helpers of n8n', async () => {
		const follows = { followRedirect: true, followAllRedirects: true };
		expect(await authenticated({ url: `${BASE}/v1/credits`, ...follows })).toMatchObject({
			disableFollowRedirect: true,
			followRedirect: false,
			followAllRedirects: false,
		});
	});
});

describe('the rest of the request', () => {
	/** As n8n 2.41's HTTP Request node hands it over, with each of its options that is harmless. */
	const httpRequestNode = {
		method: 'POST',
		gzip: true,
		resolveWithFullResponse: true,
		allowedDomains: 'api.example',
		timeout: 300_000,
		simple: false,
		qs: { a: '1' },
		arrayFormat: 'brackets',
		qsStringifyOptions: { arrayFormat: 'brackets' },
		useQuerystring: true,
		body: { text: 'a' },
		form: { text: 'a' },
		formData: { text: 'a' },
		json: false,
		encoding: null,
		useStream: true,
		abortSignal: new AbortController().signal,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
	};

	test('passes as the HTTP Request node makes it, with what is switched off', async () => {
		const off = {
			...{ rejectUnauthorized: true, skipSslCertificateValidation: false },
			...{ proxy: undefined, agentOptions: {}, auth: null, lookup: false, socketPath: '' },
		};
		const redirects = { followRedirect: true, followAllRedirects: true, maxRedirects: 21 };
		const uri = `${BASE}/v1/task/sound-effect`;
		const none = { Host: undefined, 'X-B': null, aUTHORIZATION: 'Bearer other' };
		const given = {
			...httpRequestNode,
			uri,
			...off,
			...redirects,
			headers: { ...none, 'user-agent': '1' },
		};
		const request = await authenticated(given as never);
		expect(request).toEqual({
			...httpRequestNode,
			uri,
			headers: { 'user-agent': '1', Authorization: `Bearer ${KEY}` },
			disableFollowRedirect: true,
			followRedirect: false,
			followAllRedirects: false,
			maxRedirects: 0,
			sendCredentialsOnCrossOriginRedirect: false,
		});
	});

	test('is dropped where nobody knows what it does', async () => {
		const unknown = ['beforeRedirect', 'oauth', 'authority', 'reproxy', 'lookups', 'myAdapter'];
		const given = Object.fromEntries(unknown.map((name) => [name, () => undefined]));
		const request = await authenticated({ url: BASE, ...given });
		expect(Object.keys(request).filter((name) => name in given)).toEqual([]);
	});
});

describe('under the Base URL it is sent', () => {
	test.each<[string, string, object]>([
		['a path under it', BASE, { url: `${BASE}/v1/credits?a=b` }],
		['the same, as the older helper names it', BASE, { uri: `${BASE}/v1/credits` }],
		['a path, and where it begins', BASE, { baseURL: BASE, url: '/v1/credits' }],
		['a Base URL with a path', `${BASE}/proxy`, { url: `${BASE}/proxy/v1` }],
		['an ID with a slash', `${BASE}/proxy`, { url: `${BASE}/proxy/v1/task/gen%2F42` }],
		['an ID with a percent sign', `${BASE}/proxy`, { url: `${BASE}/proxy/v1/task/7%252F9` }],
		['plain http in a private network', 'http://10.0.0.5', { url: 'http://10.0.0.5/v1' }],
		['a beginning that ends with slashes', BASE, { baseURL: `${BASE}//`, url: '/v1/credits' }],
		...['HEAD', 'put', 'Patch', 'DELETE', 'OPTIONS'].map((method): [string, string, object] => [
			method,
			BASE,
			{ url: BASE, method },
		]),
	])('%s', async (_name, baseUrl, request) => {
		const sent = await authenticated(request, { baseUrl });
		expect(sent.headers).toMatchObject({ Authorization: `Bearer ${KEY}` });
		expect(sent.url ?? sent.uri).not.toMatch(/[^:]\/\//);
	});
});

describe('and nowhere else, in words that do not hold it', () => {
	const refused = async (request: object, fields: Record<string, string> = {}) => {
		const error: unknown = await authenticated(request, fields).catch((thrown: unknown) => thrown);
		expect(error).toBeInstanceOf(Error);
		const { message } = error as Error;
		expect(message).not.toContain(KEY);
		return message;
	};

	test.each<[string, object, string]>([
		['another host', { url: 'https://evil.example/v1' }, 'https://evil.example/v1'],
		['another port', { url: 'https://api.example:8443/v1' }, 'https://api.example:8443/v1'],
		['another scheme', { url: 'http://api.example/v1' }, 'http://api.example/v1'],
		['a user name that would replace the key', { url: 'https://a@api.example/' }, 'api.example/'],
		['a password that would', { url: 'https://:b@api.example/' }, 'api.example/'],
		['a host behind a user name', { url: 'https://api.example@evil.example/' }, 'evil.example/'],
		['another beginning', { baseURL: 'https://evil.example', url: '/v1' }, 'https://evil.example'],
		[
			'a whole address in spite of a beginning',
			{ baseURL: BASE, url: 'https://evil.example/' },
			'evil',
		],
	])('%s', async (_name, request, named) => {
		const message = await refused(request);
		expect(message).toMatch(/^The API key was not added to the request: it goes to /);
		expect(message).toContain(named);
		expect(message).toMatch(
			/the key is sent to https:\/\/api\.example\/ only\. Use an address under the Base URL\.$/,
		);
	});

	test.each(['/proxyx/v1', '/other', '/', '/proxy/../v1', '/proxy/%2e%2e/v1', '/proxy\\..\\v1'])(
		'%s beside the path of the Base URL',
		async (path) => {
			const message = await refused({ url: BASE + path }, { baseUrl: `${BASE}/t1` });
			expect(message).toContain(`sent to ${BASE}/t1 only`);
		},
	);

	/** Each digit of an escape is escaped again: some servers decode until nothing is left to decode. */
	const escapedAgain = (path: string) =>
		path.replace(/[\da-f]/g, (digit) => `%${digit.charCodeAt(0).toString(16)}`);
	const fiveTimes = Array(5).fill(0).reduce(escapedAgain, '%6e');

	test.each([
		...['..%2ft2', '..%5ct2', '..;/t2', '%252e%252e/t2', '%c0%ae%c0%ae/t2', 'a%00b'],
		...['%u002e%u002e/t2', '%25u002e%25u002e/t2', '．．/t2', '%EF%BC%8E%EF%BC%8E/t2'],
		...['%25EF%25BC%258E./t2', '‥/t2', '..／t2', '․․⧵'.replace('⧵', '＼')],
		...['%e0%80%ae./t2', '%f0%80%80%ae./t2', 'a%e2%81%84../t2', 'a∕..%e2%88%96t2'],
		...['..%3f/t2', '..%23/t2', '..%20/t2', '.%e2%80%8b./t2'],
		fiveTimes,
	])('%s, by which some servers leave the path of the Base URL', async (path) => {
		const message = await refused({ url: `${BASE}/t1/${path}` }, { baseUrl: `${BASE}/t1` });
		expect(message).toMatch(
			/its path (has|contains|is encoded) .*, by which it could leave the Base URL/,
		);
	});

	test.each<[string, object, RegExp]>([
		['a proxy', { proxy: 'http://evil.example' }, /a proxy, which could read it/],
		['a proxy as an object', { proxy: { host: 'evil.example', port: 80 } }, /a proxy/],
		['an unchecked certificate', { rejectUnauthorized: false }, /ignores SSL issues/],
		['the same of the newer helper', { skipSslCertificateValidation: true }, /ignores SSL issues/],
		['certificates', { agentOptions: { ca: 'x' } }, /connection options/],
		...['agent', 'agents', 'httpAgent', 'httpsAgent'].map((name): [string, object, RegExp] => [
			name,
			{ [name]: { proxy: 1 } },
			/an agent of its own/,
		]),
		['a socket', { socketPath: '/run/x.sock' }, /a socket of its own/],
		['a name look-up', { lookup: () => undefined }, /a name look-up/],
		['a password', { auth: { username: 'a', password: 'b' } }, /user name and password/],
		['TRACE, which reflects it', { method: 'TRACE' }, /its HTTP method is not supported/],
		['a method that is none', { method: {} }, /its HTTP method is not supported/],
		['a local address', { localAddress: '10.0.0.1' }, /a local address of its own/],
		['a transport', { transport: { a: 1 } }, /a transport of its own/],
		['an adapter', { adapter: 'x' }, /a transport of its own/],
		['a padded Host header', { headers: { ' hOsT ': 'evil.example' } }, /the header " hOsT "/],
		['headers for all methods', { headers: { common: { Host: 'e' } } }, /the header "common"/],
		...[{ a: 'e' }, 'a\r\nHost: e', ['a', 'b\nHost: e'], 'a\0'].map(
			(accept): [string, object, RegExp] => [
				`the header ${JSON.stringify(accept)}`,
				{ headers: { accept } },
				/"accept" is not a line of text/,
			],
		),
		['a name of two lines', { headers: { 'a\r\nHost': 'e' } }, /the header "a Host"/],
	])('a request with %s', async (_name, fields, words) => {
		for (const address of [{ url: `${BASE}/v1` }, { uri: `${BASE}/v1` }]) {
			const message = await refused({ ...address, ...fields });
			expect(message).toMatch(/^The API key was not added to the request: its? /);
			expect(message).toMatch(words);
		}
	});

	test.each([
		...[
			'Host',
			':authority',
			'Forwarded',
			'Transfer-Encoding',
			'Upgrade',
			'X-Host',
			'X-Host-Override',
		],
		...['Host', 'Server', 'Scheme', 'For'].map((x) => `X-Forwarded-${x}`),
		...['X-Original-URL', 'X-Rewrite-URL', 'X-HTTP-Method-Override', 'Connection', 'Cookie'],
		...['xi-api-key', 'Proxy-Authorization', 'TE', 'X-Accept', 'Accept-', 'Range-2'],
	])('a request with the header %s, which nobody needs there', async (name) => {
		expect(await refused({ url: `${BASE}/v1`, headers: { [name]: 'evil.example' } })).toContain(
			`it has the header "${name}". Only headers such as Accept,`,
		);
	});

	test('but with the headers that users set', async () => {
		const names =
			'Accept, accept-charset, Accept-Encoding, Accept-Language, Content-Type, Content-Language, Content-Encoding, User-Agent, Idempotency-Key, X-Idempotency-Key, X-Request-Id, X-Correlation-ID, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, If-Range, Range, Cache-Control, Pragma, Prefer, traceparent, tracestate';
		const headers = Object.fromEntries(names.split(', ').map((name) => [name, '1']));
		const request = await authenticated({ url: BASE, headers });
		expect(request.headers).toEqual({ ...headers, Authorization: `Bearer ${KEY}` });
	});

	test('and without a length, after which a server could read a second request', async () => {
		const headers = { 'content-length': 5, 'Content-Length ': '5' };
		const request = await authenticated({ url: BASE, headers, body: { text: 'a text' } });
		expect(request.headers).toEqual({ Authorization: `Bearer ${KEY}` });
	});

	test.each<[string, object]>([
		['no address', {}],
		['an address that is none of text', { url: 7, uri: { href: BASE } }],
	])('%s', async (_name, request) => {
		expect(await refused(request)).toMatch(
			/^The API key was not added to the request: it names no address\. Use an address under/,
		);
	});

	test('two addresses, of which either could be meant', async () => {
		expect(await refused({ url: `${BASE}/v1`, uri: 'https://evil.example' })).toMatch(
			/^The API key was not added to the request: it names two addresses\. Use an address under/,
		);
	});

	test.each<[string, object]>([
		['a path without a beginning', { url: '/v1/credits' }],
		['a host without a scheme, in spite of a beginning', { baseURL: BASE, url: '//evil.example/' }],
		['another protocol', { url: 'ftp://api.example/v1' }],
		['an address inside of a text', { url: ` ${BASE}/v1` }],
	])('%s', async (_name, request) => {
		expect(await refused(request)).toMatch(
			/^The API key was not added to the request: its address is not a URL\. Use an address under/,
		);
	});

	test.each<[string, Record<string, string>, RegExp]>([
		['plain http in public', { baseUrl: 'http://api.example' }, /http/],
		['a key of something else', { apiKey: 'pk_123456789' }, /sk_/],
		['a Callback Secret that can be guessed', { callbackSecret: 'short' }, /Callback Secret/i],
	])('a credential with %s', async (_name, fields, message) => {
		expect(await refused({ url: `${BASE}/v1` }, fields)).toMatch(message);
	});
});

describe('"Test" reads the credit balance', () => {
	const { request, rules = [] } = credential.test;

	test('at the Base URL, without changing anything', () => {
		expect(request).toMatchObject({ url: '/v1/credits', method: 'GET' });
		expect(request.baseURL).toContain('$credentials.baseUrl');
	});

	test.each([
		[301, /redirects to another address/],
		[308, /redirects to/],
		[401, /does not accept this API key/],
		[404, /no such service at the Base URL/],
		[429, /accepts no requests with this key at the moment. Its daily limit may be reached/],
	])('a status %d is said in words', (status, message) => {
		const rule = rules.find(
			({ type, properties }) => type === 'responseCode' && properties.value === status,
		);
		expect(rule?.properties.message).toMatch(message);
	});

	test.each<[string, string, unknown, RegExp]>([
		['a refusal inside 200', 'success', false, /refuses to show the credits/],
		['a web page', 'constructor.name', 'String', /does not lead to this service/],
		['nothing at all', 'constructor.name', undefined, /does not lead to this service/],
	])('%s is no success', (_name, key, value, message) => {
		const rule = rules.find(
			({ type, properties }) =>
				type === 'responseSuccessBody' && properties.key === key && properties.value === value,
		);
		expect(rule?.properties.message).toMatch(message);
	});
});
