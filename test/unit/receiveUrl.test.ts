import {
	callbackUrlProblem,
	checkSignature,
	isTestUrl,
	prepareReceiveUrl,
	SIGNED_FOR_MS,
	signedPath,
} from '../../nodes/MediaGeneration/callback/receiveUrl';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const CREDENTIALS = {
	baseUrl: 'https://api.example',
	apiKey: 'sk_x',
	callbackSecret: 'a long secret',
};
const HOOK = 'https://n8n.example/webhook/1a2b/callback';

function build(
	url = HOOK,
	reference?: string,
	callbackSecret = CREDENTIALS.callbackSecret,
	signed = true,
): URL {
	return new URL(
		prepareReceiveUrl(url, { ...CREDENTIALS, callbackSecret }, { reference, signed, now: NOW }),
	);
}
/** The query as n8n reads it: a name that stands twice becomes a list. */
function queryOf({ searchParams }: URL): Record<string, unknown> {
	return Object.fromEntries(
		[...searchParams.keys()].map((name) => {
			const values = searchParams.getAll(name);
			return [name, values.length > 1 ? values : values[0]];
		}),
	);
}
const check = (url: URL, now = NOW, secret = CREDENTIALS.callbackSecret) =>
	checkSignature(secret, url.pathname, queryOf(url), now);

describe('a signed URL', () => {
	test.each<[string, string, string | undefined]>([
		['plain', HOOK, undefined],
		['with a reference', HOOK, 'order 7 & more?'],
		['with a reference in other letters', HOOK, 'Grüße 🎧'],
		['with half a letter', HOOK, 'a\ud800'],
		['with a port and a trailing slash', 'https://n8n.example:8443/webhook/1/callback/', 'x'],
		['with escapes in its path', 'https://n8n.example/webhook/a%20b/callback', 'x'],
		['with a malformed escape', 'https://n8n.example/webhook/a%zz/callback', 'x'],
		['with parameters of its own', `${HOOK}?tenant=7&reference=mine`, undefined],
		['with a reference that stands twice', `${HOOK}?reference=a&reference=b`, undefined],
		['that was signed before', build().href, 'again'],
	])('%s is accepted', (_name, hook, reference) => {
		const url = build(hook, reference);
		const expected =
			reference === 'a\ud800'
				? 'a\ufffd'
				: (reference ?? new URL(hook).searchParams.get('reference') ?? undefined);
		expect(check(url)).toEqual({ ok: true, reference: expected });
	});

	test('no two are alike', () => {
		expect(build().href).not.toBe(build().href);
	});

	test('other parameters survive', () => {
		const url = build(`${HOOK}?tenant=7&list=a&list=b`, 'r');
		expect(url.searchParams.get('tenant')).toBe('7');
		expect(url.searchParams.getAll('list')).toEqual(['a', 'b']);
	});

	test.each<[string, (url: URL) => void, RegExp]>([
		['the signature', (url) => url.searchParams.set('signature', '0'.repeat(64)), /is wrong/],
		[
			'a shorter signature',
			(url) =>
				url.searchParams.set('signature', (url.searchParams.get('signature') ?? '').slice(1)),
			/is wrong/,
		],
		['a longer signature', (url) => url.searchParams.append('signature', '00'), /not signed/],
		[
			'an upper-case signature',
			(url) =>
				url.searchParams.set('signature', (url.searchParams.get('signature') ?? '').toUpperCase()),
			/is wrong/,
		],
		['expires', (url) => url.searchParams.set('expires', '99999999999'), /is wrong/],
		['nonce', (url) => url.searchParams.set('nonce', 'other'), /is wrong/],
		['reference', (url) => url.searchParams.set('reference', 'other'), /is wrong/],
		['no reference', (url) => url.searchParams.delete('reference'), /is wrong/],
		['no expires', (url) => url.searchParams.delete('expires'), /not signed/],
		['no nonce', (url) => url.searchParams.delete('nonce'), /not signed/],
		['no signature', (url) => url.searchParams.delete('signature'), /not signed/],
		['another trigger', (url) => (url.pathname = '/webhook/other/callback'), /is wrong/],
		[
			'the test URL of the trigger',
			(url) => (url.pathname = url.pathname.replace('webhook', 'webhook-test')),
			/is wrong/,
		],
		[
			'values moved from one to the other',
			(url) => {
				url.searchParams.set('nonce', `${url.searchParams.get('nonce') ?? ''}re`);
				url.searchParams.set('reference', 'f');
			},
			/is wrong/,
		],
	])('tampered with (%s) is refused', (_name, tamper, reason) => {
		const url = build(HOOK, 'ref');
		tamper(url);
		const checked = check(url);
		expect(checked.ok).toBe(false);
		expect(!checked.ok && checked.reason).toMatch(reason);
	});

	test('another secret refuses it', () => {
		expect(check(build(), NOW, 'another secret')).toEqual({
			ok: false,
			reason: 'the signature of the callback URL is wrong',
		});
	});

	test('it expires', () => {
		const url = build();
		expect(check(url, NOW + SIGNED_FOR_MS - 1_000).ok).toBe(true);
		expect(check(url, NOW + SIGNED_FOR_MS + 1_000)).toEqual({
			ok: false,
			reason: 'the callback URL has expired',
		});
	});

	test('it survives a reverse proxy that strips a prefix', () => {
		const url = build('https://example.com/n8n/webhook/1a2b/callback');
		url.pathname = '/webhook/1a2b/callback';
		expect(check(url).ok).toBe(true);
	});
});

describe('without a secret', () => {
	test('nothing is signed and the reference is taken as it is', () => {
		const url = build(HOOK, 'r', '');
		expect([...url.searchParams.keys()]).toEqual(['reference']);
		expect(check(url, NOW, '')).toEqual({ ok: true, reference: 'r' });
	});
	test('a list is no reference, and a long one is cut', () => {
		expect(checkSignature('', '/x', { reference: ['a', 'b'] }, NOW)).toEqual({
			ok: true,
			reference: undefined,
		});
		expect(checkSignature('', '/x', { reference: 'x'.repeat(900) }, NOW)).toEqual({
			ok: true,
			reference: 'x'.repeat(500),
		});
	});
});

test('a resume URL is not signed: it has a token of its own', () => {
	expect(
		build(
			'https://n8n.example/webhook-waiting/7?signature=token',
			undefined,
			'secret',
			false,
		).searchParams.get('signature'),
	).toBe('token');
});

test.each<[string, RegExp]>([
	['', /is not a URL/],
	['n8n.example/webhook', /is not a URL/],
	['ftp://n8n.example/x', /http and https addresses only/],
	['https://user:pass@n8n.example/x', /user name or password/],
	['http://localhost:5678/webhook/1', /can't reach localhost.*WEBHOOK_URL/],
	['http://192.168.1.4/webhook/1', /can't reach 192\.168\.1\.4/],
])('%p is refused in words', (url, words) => {
	expect(callbackUrlProblem(url, CREDENTIALS.baseUrl)).toMatch(words);
	expect(() => build(url)).toThrow(words);
});

test('a private callback URL is fine for a private service', () => {
	expect(
		callbackUrlProblem('http://localhost:5678/webhook/1', 'http://127.0.0.1:5701'),
	).toBeUndefined();
});

test('a reference can be too long', () => {
	expect(() => build(HOOK, 'x'.repeat(501))).toThrow(/longer than 500 characters/);
});

test('test URLs are known', () => {
	expect(isTestUrl('https://n8n.example/webhook-test/1/callback')).toBe(true);
	expect(isTestUrl(HOOK)).toBe(false);
	expect(isTestUrl('nonsense')).toBe(false);
});

test.each([
	['/webhook/a/callback/', '/webhook/a/callback'],
	['/prefix/webhook/a', '/webhook/a'],
	['/webhook/a%20b', '/webhook/a b'],
	['/%zz', '/%zz'],
	['/elsewhere', '/elsewhere'],
])('the signed path of %s is %s', (path, expected) => {
	expect(signedPath(path)).toBe(expected);
});
