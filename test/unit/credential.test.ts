/** Rule 3 at its root: what the credential hands the key to, and what its test says of an answer. SECURITY.md, "Threat model". */
import fc from 'fast-check';
import { anyCodePoint } from './codePoint';
import type { ICredentialTestFunctions, IHttpRequestOptions } from 'n8n-workflow';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { idProblem } from '../../nodes/MediaGeneration/base/url';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';

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
			...{ proxy: undefined, agentOptions: {}, auth: null },
		};
		const redirects = { followRedirect: true, followAllRedirects: true, maxRedirects: 21 };
		const uri = `${BASE}/v1/task/sound-effect`;
		const none = { Host: undefined, 'X-B': null, aUTHORIZATION: 'Bearer other' };
		const headers = { ...none, 'user-agent': '1' };
		const given = { ...httpRequestNode, uri, ...off, ...redirects, headers };
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
		const unknown =
			'beforeRedirect oauth reproxy agent agents httpAgent httpsAgent lookup socketPath localAddress transport adapter simplest'.split(
				' ',
			);
		const given = Object.fromEntries(unknown.map((name) => [name, () => undefined]));
		const request = await authenticated({ url: BASE, ...given });
		expect(Object.keys(request).filter((name) => name in given)).toEqual([]);
	});
});

test('and no task that can be asked for is refused for its ID', async () => {
	const id = fc.string({ unit: anyCodePoint, minLength: 1, maxLength: 6 });
	const ofSigns = fc.string({ unit: fc.constantFrom(...'. ;%/:a\u00a0'), maxLength: 5 });
	await fc.assert(
		fc.asyncProperty(fc.oneof(id, ofSigns), async (taskId) => {
			fc.pre(idProblem(taskId) === undefined);
			const url = `${BASE}/v1/task/${encodeURIComponent(taskId)}`;
			expect(await authenticated({ url })).toMatchObject({ url });
		}),
	);
});

describe('under the Base URL it is sent', () => {
	test.each<[string, string, object]>([
		['a path under it', BASE, { url: `${BASE}/v1/credits?a=b` }],
		['the same, as the older helper names it', BASE, { uri: `${BASE}/v1/credits` }],
		['a path, and where it begins', BASE, { baseURL: BASE, url: '/v1/credits' }],
		['a Base URL with a path', `${BASE}/proxy`, { url: `${BASE}/proxy/v1` }],
		['one with an escape', `${BASE}/a%2Fb`, { url: `${BASE}/a%2Fb/v1` }],
		['plain http in a private network', 'http://10.0.0.5', { url: 'http://10.0.0.5/v1' }],
		['a beginning that ends with slashes', BASE, { baseURL: `${BASE}//`, url: '/v1/credits' }],
		['a step that leads back', `${BASE}/t1`, { url: `${BASE}/t2/../t1/v1` }],
		...['HEAD', 'put', 'Patch', 'DELETE', 'OPTIONS'].map((method): [string, string, object] => [
			method,
			BASE,
			{ url: BASE, method },
		]),
	])('%s', async (_name, baseUrl, request) => {
		const sent = await authenticated(request, { baseUrl });
		expect(sent.headers).toMatchObject({ Authorization: `Bearer ${KEY}` });
		// As it was checked, so that nobody reads it in another way.
		const address = String(sent.url ?? sent.uri);
		expect(address).toBe(new URL(address).href);
		expect(address.startsWith(baseUrl)).toBe(true);
		expect(address).not.toMatch(/[^:]\/\//);
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

	const REFUSED = 'The API key was not added to the request: ';

	test.each<[string, object, string]>([
		['another host', { url: 'https://evil.example/v1' }, 'goes to https://evil.example/v1'],
		['another port', { url: 'https://api.example:8443/v1' }, 'goes to https://api.example:8443/v1'],
		['another scheme', { url: 'http://api.example/v1' }, 'goes to http://api.example/v1'],
		['a user name that would replace the key', { url: 'https://a@api.example/' }, 'a user name'],
		['a password that would', { url: 'https://:b@api.example/' }, 'a user name'],
		['a host behind a user name', { url: 'https://api.example@evil.example/' }, 'to https://evil.'],
		['another beginning', { baseURL: 'https://evil.example', url: '/v1' }, 'to https://evil.'],
		['another one inside a name', { baseURL: BASE, url: '.evil.example/' }, 'goes to https://api.'],
		['an address beside a beginning', { baseURL: BASE, url: 'https://evil.example/' }, 'to https'],
		['an address where n8n looks first', { url: 'https://evil.example/', uri: BASE }, 'to https'],
		['another protocol', { url: 'ftp://api.example/v1' }, 'goes to ftp:'],
		['a path without a beginning', { url: '/v1/credits' }, 'no complete address'],
		['no address', {}, 'no complete address'],
		['an address that is no text', { url: 7, uri: { href: BASE } }, 'no complete address'],
		['a proxy', { proxy: 'http://evil.example' }, 'the option "proxy"'],
		['a proxy as an object', { proxy: { host: 'evil.example', port: 80 } }, 'the option "proxy"'],
		['certificates', { agentOptions: { ca: 'x' } }, 'the option "agentOptions"'],
		['a password', { auth: { username: 'a', password: 'b' } }, 'the option "auth"'],
		['an unchecked certificate', { rejectUnauthorized: false }, 'ignores SSL issues'],
		['the same of the newer helper', { skipSslCertificateValidation: true }, 'ignores SSL issues'],
		['TRACE, which reflects it', { method: 'TRACE' }, 'its method is not'],
		['a method that is none', { method: {} }, 'its method is not'],
		['a padded Host header', { headers: { ' hOsT ': 'evil.example' } }, 'the header " hOsT "'],
		['headers for all methods', { headers: { common: { Host: 'e' } } }, 'the header "common"'],
		['a name of two lines', { headers: { 'a\r\nHost': 'e' } }, 'the header "a Host"'],
	])('%s', async (_name, fields, words) => {
		const given = 'url' in fields || 'uri' in fields || _name === 'no address';
		const addresses = given ? [{}] : [{ url: `${BASE}/v1` }, { uri: `${BASE}/v1` }];
		for (const address of addresses) {
			const message = await refused({ ...address, ...fields });
			expect(message.startsWith(REFUSED)).toBe(true);
			expect(message).toContain(words);
			expect(message).toContain(`addresses under ${BASE}/ only`);
		}
	});

	test.each([
		...['/proxyx/v1', '/other', '/', '/t1/../v1', '/t1/%2e%2e/v1', '/t1\\..\\v1', '/t1x'],
		...['/t1/..%2ft2', '/t1/..%5ct2', '/t1/..;/t2', '/t1/%252e%252e/t2', '/t1/..%2520/t2'],
		...['/t1/a%00b', '/t1/..%3f/t2', '/t1/..%23/t2', '/t1/%%32e%%32e/t2', '/t1/a%7Fb', '/t1/100%'],
		...['/t1/gen%2F42', '/t1/a%5cb', '/t1/a%2eb', '/t1/..%20/t2', '/t1/%20../t2', '/t1/..%3B/t2'],
		...['/t1/%c0%ae%c0%ae/t2', '/t1/..%C0%AFt2', '/t1/%c1%9c', '/t1/%e0%80%ae'],
		...['/t1/.;/t2', '/t1/a/..;a', '/t1/a/..%3Ba'],
	])('%s beside the path of the Base URL', async (path) => {
		const message = await refused({ url: BASE + path }, { baseUrl: `${BASE}/t1` });
		expect(message).toMatch(/: (it goes to |its path has )/);
		expect(message).toContain(`addresses under ${BASE}/t1 only`);
	});

	test.each([
		...['Host', ':authority', 'Forwarded', 'Transfer-Encoding', 'Upgrade', 'X-Host'],
		...['Host', 'Server', 'Scheme', 'For'].map((x) => `X-Forwarded-${x}`),
		...['X-Original-URL', 'X-Rewrite-URL', 'X-HTTP-Method-Override', 'Connection', 'Cookie'],
		...['xi-api-key', 'Proxy-Authorization', 'TE', 'X-Accept', 'Accept-', 'Range-2'],
	])('a request with the header %s, which nobody needs there', async (name) => {
		expect(await refused({ url: `${BASE}/v1`, headers: { [name]: 'evil.example' } })).toContain(
			`it has the header "${name}". The key is sent to addresses under`,
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

	test.each<[string, Record<string, string>, RegExp]>([
		['plain http in public', { baseUrl: 'http://api.example' }, /http/],
		['a Callback Secret that can be guessed', { callbackSecret: 'short' }, /Callback Secret/i],
	])('a credential with %s', async (_name, fields, message) => {
		expect(await refused({ url: `${BASE}/v1` }, fields)).toMatch(message);
	});
});

test.each([` ${KEY}\n`, `Bearer ${KEY}`, `"${KEY}"`, `'bearer  ${KEY}'`, `\ufeff${KEY}\u200b`])(
	'a key pasted as %j is sent as it is meant',
	async (apiKey) => {
		const request = await authenticated({ url: `${BASE}/v1` }, { apiKey });
		expect(request.headers).toEqual({ Authorization: `Bearer ${KEY}` });
	},
);

describe('"Test" reads the credit balance', () => {
	/** @param answer status and body, or what the helper throws */
	async function test(answer: [status: number, body: unknown] | Error, fields: object = {}) {
		const sent: unknown[] = [];
		const request = async (options: unknown) => {
			sent.push(options);
			if (answer instanceof Error) throw answer;
			const [statusCode, body] = answer;
			const text = typeof body === 'string' ? body : JSON.stringify(body);
			return await Promise.resolve({ statusCode, body: Buffer.from(text) });
		};
		const { credentialTest } = new MediaGeneration().methods;
		const context = { helpers: { request } } as unknown as ICredentialTestFunctions;
		const data = { apiKey: KEY, baseUrl: `${BASE}/`, callbackSecret: '', ...fields };
		const of = { id: '1', name: 'x', type: 'mediaGenerationApi', data };
		return { ...(await credentialTest.mediaGenerationApiTest.call(context, of)), sent };
	}

	it('a balance is a success', async () => {
		const { status, sent } = await test([200, { data: { balance: '7' } }]);
		expect(status).toBe('OK');
		const once = { method: 'GET', uri: `${BASE}/v1/credits`, followRedirect: false };
		expect(sent).toEqual([expect.objectContaining(once)]);
	});

	const PAGE = '<!DOCTYPE html><title>Just a moment...</title>';
	const permission = { message: 'The key is missing the permission user_read' };
	it.each<[string, [number, unknown], RegExp]>([
		['nothing', [200, ''], /not with a credit balance/],
		['an object of another service', [200, {}], /not with a credit balance.*without a version/],
		['an error in a success', [200, { error: 'no route' }], /balance.* The service says: no route/],
		['a refusal in a success', [200, { success: false, message: 'locked' }], /refuses.*: locked/],
		['a refusal by a code', [200, { code: 401, msg: 'no key', data: 0 }], /balance.*: no key/],
		['a page', [200, PAGE], /^A web page came instead of JSON \(HTTP 200\)/],
		['a page that refuses', [403, PAGE], /HTTP 403.*in front of.*nothing about the API/],
		['a redirect', [308, ''], /redirects to another address/],
		['401', [401, { message: 'bad key' }], /does not accept this API key.*Key Header.*: bad key/],
		['401 of a limited key', [401, { detail: permission }], /accepts this.*, but not.*user_read/],
		['403', [403, { error: `for ${KEY}` }], /accepts this API key, but not.*for sk_\*\*\*/],
		['404', [404, {}], /no such service at the Base URL.*a version such as \/v1\.$/],
		['429', [429, {}], /accepts no requests.*Its daily limit/],
		['500', [500, { message: '<b>down</b>' }], /answered with HTTP 500.*: ‹b›down‹\/b›/],
	])('%s is none, in words', async (_name, answer, words) => {
		const { status, message } = await test(answer);
		expect([status, message]).toEqual(['Error', expect.stringMatching(words)]);
		expect(message).not.toMatch(/[<>]|sk_0/);
	});

	it.each<[string, object, RegExp]>([
		['refuses', { code: 'ECONNREFUSED' }, /^No answer.*connection was refused\)\. Check the Base/],
		['is unknown', { code: 'ENOTFOUND' }, /^No answer came.*host name is not known/],
		['has its own certificate', { code: 'SELF_SIGNED_CERT_IN_CHAIN' }, /NODE_EXTRA_CA_CERTS/],
	])('a host that %s', async (_name, fields, words) => {
		const { status, message } = await test(Object.assign(new Error(`of ${KEY}`), fields));
		expect([status, message]).toEqual(['Error', expect.stringMatching(words)]);
		expect(message).not.toContain(KEY);
	});

	it('a credential that is not complete is not tried', async () => {
		const { status, message, sent } = await test([200, { credits: 1 }], {
			baseUrl: 'http://a.example',
		});
		expect([status, message]).toEqual(['Error', expect.stringMatching(/Allow HTTP/)]);
		expect(sent).toEqual([]);
	});
});
