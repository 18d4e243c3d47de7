import type { IExecuteFunctions } from 'n8n-workflow';
import { ownAddress, prepareReceiveUrl } from '../../nodes/MediaGeneration/trigger/receiveUrl';
import { referenceIn, signatureProblem } from '../../nodes/MediaGeneration/trigger/signature';
import { fakeN8n } from '../support/n8n';
import { refusalOf } from './itemFields';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const CREDENTIALS = {
	baseUrl: 'https://api.example',
	apiKey: 'sk_x',
	callbackSecret: 'a long enough secret',
};
const { callbackSecret: SECRET } = CREDENTIALS;
const HERE = 'https://n8n.example';
const options = { here: HERE, now: NOW };
const ID = '5e1f0000-0000-4000-8000-000000000001';
const HOOK = `${HERE}/webhook/${ID}/callback`;

function build(url = HOOK, reference?: string, callbackSecret = SECRET): URL {
	const credentials = { ...CREDENTIALS, callbackSecret };
	return new URL(prepareReceiveUrl(url, credentials, { ...options, reference }));
}
const check = (url: URL, at = NOW) => signatureProblem(url, SECRET, at);

test.each([
	[`${HERE}/webhook-waiting/7?signature=x`, HERE],
	[`${HERE}/under/a/path/webhook-waiting/77`, `${HERE}/under/a/path`],
	[undefined, undefined],
])('n8n whose executions wake at %s is at %s', (resumeUrl, address) => {
	expect(ownAddress(fakeN8n<IExecuteFunctions>({ resumeUrl }).context)).toBe(address);
});

describe('a URL of this n8n is signed', () => {
	test.each<[string, string, string | undefined, string | undefined]>([
		['plain', HOOK, undefined, undefined],
		['with a reference in other letters', HOOK, 'Grüße 🎧', 'Grüße 🎧'],
		['with half a letter', HOOK, 'a\ud800', 'a\ufffd'],
		['a Test URL', `${HERE}/webhook-test/${ID}/callback`, 'x', 'x'],
		['with parameters of its own', `${HOOK}?tenant=7&reference=mine`, undefined, 'mine'],
		['with a reference that stands twice', `${HOOK}?reference=a&reference=b`, undefined, 'a'],
		['that was signed before', build().href, 'again', 'again'],
	])('%s', (_name, hook, reference, expected) => {
		const url = build(hook, reference);
		expect([check(url), referenceIn(url)]).toEqual([undefined, expected]);
		expect(build(hook, reference).href).not.toBe(url.href);
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
		['no reference', without('reference'), /is wrong/],
		['no expires', without('expires'), /is wrong/],
		['no signature', without('signature'), /not signed/],
		[
			'another trigger',
			(url) => (url.pathname = url.pathname.replace('0001/', '0002/')),
			/is wrong/,
		],
		['the end of the path', (url) => (url.pathname = '/callback'), /is wrong/],
		[
			'values moved from one to the other',
			(url) => {
				set('nonce', (value) => `${value}re`)(url);
				set('reference', () => 'f')(url);
			},
			/is wrong/,
		],
	])('tampered with (%s) it is refused', (_name, tamper, reason) => {
		const url = build(HOOK, 'ref');
		tamper(url);
		expect(check(url)).toMatch(reason);
	});

	test('for seven days', () => {
		const weekMs = 7 * 86_400_000;
		expect(check(build(), NOW + weekMs)).toBeUndefined();
		expect(check(build(), NOW + weekMs + 1_000)).toBe('the callback URL has expired');
	});

	test.each([`/n8n/webhook/${ID}/callback`, `/webhook/${ID}/callback//`])(
		'it survives a proxy that makes its path %s',
		(path) => {
			const url = build(HOOK);
			url.pathname = path;
			expect(check(url)).toBeUndefined();
		},
	);
});

test.each([
	['another host of as many letters', `https://n8x.example/webhook/${ID}/callback`],
	['another scheme', `http://n8n.example/webhook/${ID}/callback`],
	['another webhook of this n8n that ends like it', `${HERE}/webhook/x/${ID}/callback`],
	['a prefix that this n8n lacks', `${HERE}/x/webhook/${ID}/callback`],
	['an MCP endpoint of that path', `${HERE}/mcp/${ID}/callback`],
	['no ID of a trigger', `${HERE}/webhook/1a2b/callback`],
	['a slash behind it', `${HOOK}/`],
	['an escaped slash', `${HERE}/webhook/x%2F${ID}/callback`],
])("%s is no trigger's URL and gets no signature", (_name, hook) => {
	expect(build(hook).search).toBe('');
});

test('an n8n behind a path signs under that path alone', () => {
	const here = `${HERE}/n8n`;
	const made = (hook: string) =>
		prepareReceiveUrl(hook, CREDENTIALS, { here, now: NOW, reference: undefined });
	expect(check(new URL(made(`${here}/webhook/${ID}/callback`)))).toBeUndefined();
	expect(made(HOOK)).toBe(HOOK);
});

test('without a secret nothing is signed; a long reference is cut where it comes in', () => {
	expect([...build(HOOK, 'r', '').searchParams.keys()]).toEqual(['reference']);
	expect(referenceIn(new URL(`${HOOK}?reference=${'x'.repeat(900)}`))).toBe('x'.repeat(500));
});

test.each<[string, RegExp]>([
	['', /is not a URL/],
	['ftp://n8n.example/x', /http and https addresses only/],
	['https://:pass@n8n.example/x', /user name or password/],
	['https://user@n8n.example/x', /user name or password/],
	['http://localhost:5678/webhook/1', /can't reach localhost.*WEBHOOK_URL/],
	['http://n8n:5678/webhook/1', /can't reach n8n/],
])('%j is refused in words', (url, words) => {
	const { message, description } = refusalOf(() => build(url));
	expect(message).toMatch(words);
	expect(description).toBe("Correct the field 'Callback URL'. Nothing was created.");
});

test('a reference that is too long is refused', () => {
	const { message, description } = refusalOf(() => build(HOOK, 'x'.repeat(501)));
	expect(message).toMatch(/longer than 500 characters$/);
	expect(description).toMatch(/^Use a short reference/);
});
