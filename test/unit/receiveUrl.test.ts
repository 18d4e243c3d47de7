import {
	callbackUrlProblem,
	prepareReceiveUrl,
} from '../../nodes/MediaGeneration/trigger/receiveUrl';
import { FailureError } from '../../nodes/MediaGeneration/base/failures';
import {
	checkSignature,
	SIGNED_FOR_MS,
	type Arrival,
} from '../../nodes/MediaGeneration/trigger/signature';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const CREDENTIALS = {
	baseUrl: 'https://api.example',
	apiKey: 'sk_x',
	callbackSecret: 'a long enough secret',
};
const HOOK = 'https://n8n.example/webhook/1a2b/callback';

function build(url = HOOK, reference?: string, callbackSecret = CREDENTIALS.callbackSecret): URL {
	return new URL(
		prepareReceiveUrl(url, { ...CREDENTIALS, callbackSecret }, { reference, now: NOW }),
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
/** @param arrival where the call has come in, if that is another place than the URL says */
const check = (
	url: URL,
	{ secret = CREDENTIALS.callbackSecret, ...arrival }: Partial<Arrival> & { secret?: string } = {},
) => {
	const place = {
		path: url.pathname,
		ownUrl: `https://${url.host}/x`,
		claimedHosts: [],
		at: NOW,
		...arrival,
	};
	return checkSignature(secret, place, queryOf(url));
};

describe('a signed URL', () => {
	test.each<[string, string, string | undefined, string | undefined]>([
		['plain', HOOK, undefined, undefined],
		['with a reference', HOOK, 'order 7 & more?', 'order 7 & more?'],
		['with a reference in other letters', HOOK, 'Grüße 🎧', 'Grüße 🎧'],
		['with half a letter', HOOK, 'a\ud800', 'a\ufffd'],
		['with a port and a trailing slash', 'https://n8n.example:8443/webhook/1/callback/', 'x', 'x'],
		['with a malformed escape', 'https://n8n.example/webhook/a%zz/callback', 'x', 'x'],
		['with parameters of its own', `${HOOK}?tenant=7&reference=mine`, undefined, 'mine'],
		['with a reference that stands twice', `${HOOK}?reference=a&reference=b`, undefined, 'a'],
		['that was signed before', build().href, 'again', 'again'],
	])('%s is accepted', (_name, hook, reference, expected) => {
		expect(check(build(hook, reference))).toEqual({ ok: true, signed: true, reference: expected });
	});

	test('no two are alike', () => {
		expect(build().href).not.toBe(build().href);
	});

	test('other parameters survive', () => {
		const url = build(`${HOOK}?tenant=7&list=a&list=b`, 'r');
		expect(url.searchParams.get('tenant')).toBe('7');
		expect(url.searchParams.getAll('list')).toEqual(['a', 'b']);
	});

	const set = (name: string, change: (value: string) => string) => (url: URL) =>
		url.searchParams.set(name, change(url.searchParams.get(name) ?? ''));
	const without = (name: string) => (url: URL) => url.searchParams.delete(name);
	test.each<[string, (url: URL) => void, RegExp]>([
		['the signature', set('signature', () => '0'.repeat(64)), /is wrong/],
		['a shorter signature', set('signature', (value) => value.slice(1)), /is wrong/],
		['expires', set('expires', () => '99999999999'), /is wrong/],
		['nonce', set('nonce', () => 'other'), /is wrong/],
		['reference', set('reference', () => 'other'), /is wrong/],
		['no expires', without('expires'), /not signed/],
		['no signature', without('signature'), /not signed/],
		['no word of that', without('signed_for'), /not signed/],
		['another trigger', (url) => (url.pathname = '/webhook/other/callback'), /another trigger/],
		['the whole path', (url) => (url.pathname = '/'), /another trigger/],
		['the end of the path', (url) => (url.pathname = '/lback'), /another trigger/],
		['the test URL', (url) => (url.pathname = '/webhook-test/1a2b/callback'), /another trigger/],
		['another host', (url) => (url.host = 'n8n.other'), /another host.*set N8N_WEBHOOK_URL/],
		['another port', (url) => (url.port = '8443'), /another host/],
		[
			'values moved from one to the other',
			(url) => {
				set('nonce', (value) => `${value}re`)(url);
				set('reference', () => 'f')(url);
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

	test('it expires', () => {
		const url = build();
		const weekMs = 7 * 86_400_000;
		expect(SIGNED_FOR_MS).toBe(weekMs);
		expect(check(url, { at: NOW + weekMs }).ok).toBe(true);
		expect(check(url, { at: NOW + weekMs + 1_000 })).toEqual({
			ok: false,
			reason: 'the callback URL has expired',
		});
	});

	test.each([
		['https://example.com/n8n/webhook/1a2b/callback', '/webhook/1a2b/callback'],
		['https://example.com/a/b/webhook/1a2b/callback/', '/b/webhook/1a2b/callback'],
		['https://example.com/webhook/1a2b/callback//', '/webhook/1a2b/callback'],
		['https://example.com/webhook/a%20b/callback', '/webhook/a b/callback'],
	])('%s survives a proxy that makes it %s', (hook, path) => {
		expect(check(build(hook), { path }).ok).toBe(true);
	});

	const OWN = 'http://localhost:5678/x';
	test.each<[string, string | undefined, string[], boolean]>([
		['the address that n8n knows', 'https://n8n.example/x', [], true],
		['another public address than n8n knows', 'https://b.example/x', ['n8n.example'], false],
		['n8n thinks it is private, the call claims a public one', OWN, ['n8n.example'], false],
		['n8n thinks it is private, nobody says more', OWN, ['localhost:5678'], false],
		['n8n knows nothing, the call claims it', undefined, ['10.0.0.1', 'n8n.example'], false],
		['nobody knows anything', undefined, [], false],
		['what n8n says is not a URL', 'nonsense', ['n8n.example'], false],
	])('its host is checked: %s', (_name, ownUrl, claimedHosts, ok) => {
		expect(check(build(), { ownUrl, claimedHosts }).ok).toBe(ok);
	});
});

describe('without a secret', () => {
	test('nothing is signed and the reference is taken as it is', () => {
		const url = build(HOOK, 'r', '');
		expect([...url.searchParams.keys()]).toEqual(['reference']);
		expect(check(url, { secret: '' })).toEqual({ ok: true, signed: false, reference: 'r' });
	});
	test('a list is not a reference, and a long one is cut', () => {
		const place = { path: '/x', ownUrl: undefined, claimedHosts: [], at: NOW };
		expect(checkSignature('', place, { reference: ['a', 'b'] })).toMatchObject({
			reference: undefined,
		});
		expect(checkSignature('', place, { reference: 'x'.repeat(900) })).toMatchObject({
			reference: 'x'.repeat(500),
		});
	});
});

test.each<[string, RegExp]>([
	['', /is not a URL/],
	['ftp://n8n.example/x', /http and https addresses only/],
	['https://user:pass@n8n.example/x', /user name or password/],
	['https://:pass@n8n.example/x', /user name or password/],
	['http://localhost:5678/webhook/1', /can't reach localhost.*WEBHOOK_URL/],
	['http://192.168.1.4/webhook/1', /can't reach 192\.168\.1\.4/],
	['http://n8n:5678/webhook/1', /can't reach n8n/],
])('%j is refused in words', (url, words) => {
	expect(callbackUrlProblem(url, CREDENTIALS.baseUrl)).toMatch(words);
	expect(() => build(url)).toThrow(words);
});

test('a private callback URL is fine for a private service', () => {
	expect(
		callbackUrlProblem('http://localhost:5678/webhook/1', 'http://127.0.0.1:5701'),
	).toBeUndefined();
});

test.each<[string, string, string, RegExp]>([
	['a URL that can not be called', 'nonsense', '', /Correct the field Callback URL\. Nothing was/],
	['a reference that is too long', HOOK, 'x'.repeat(501), /Use a short reference/],
])('%s: what to do is said', (_name, url, reference, advice) => {
	let thrown: unknown;
	try {
		build(url, reference);
	} catch (error) {
		thrown = error;
	}
	expect(thrown).toBeInstanceOf(FailureError);
	expect((thrown as FailureError).failure).toMatchObject({ outcome: 'invalid' });
	expect((thrown as FailureError).failure.description).toMatch(advice);
});
