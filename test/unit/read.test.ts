import { maskSecrets } from '../../nodes/MediaGeneration/actions/credits';
import { deepMerge } from '../../nodes/MediaGeneration/actions/jsonObjects';

describe('deepMerge', () => {
	test('goes into depth, and replaces everything but objects', () => {
		const base = { a: { b: 1, c: [1, 2] }, d: { e: 1 } };
		const extra = { a: { c: [3], f: {} }, d: null, constructor: { a: 1 } };
		const merged = { a: { b: 1, c: [3], f: {} }, d: null, constructor: { a: 1 } };
		expect(deepMerge(base, extra)).toEqual(merged);
	});

	test.each([
		'{"__proto__":{"polluted":1}}',
		'{"a":{"__proto__":{"polluted":1}}}',
		'{"constructor":{"prototype":{"polluted":1}}}',
	])('%s reaches no prototype', (json) => {
		const merged = deepMerge({ a: {} }, JSON.parse(json) as Record<string, unknown>);
		expect(({} as { polluted?: number }).polluted).toBeUndefined();
		expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
		expect((merged as { polluted?: number }).polluted).toBeUndefined();
	});
});

describe('secrets of API keys', () => {
	const SECRET = 'sk_0123456789abcdef';
	test.each([
		[SECRET, 'sk_****cdef'],
		['sk_01234567890', 'sk_****'],
		['sk_012345678901', 'sk_****8901'],
	])('%s becomes %s', (secret, masked) => {
		expect(maskSecrets({ key: secret })).toEqual({ key: masked });
	});

	const LONG = 'abcdefghijklmnop';
	const MASKED = '****mnop';
	const ofTasks = { task_limit: 20, on: 'task_123456' };
	const ofNone = { monkey: LONG, token_type: LONG, apiKeyId: LONG, api_key_id: LONG };

	test.each<[string, unknown, unknown]>([
		['in the middle of a text', { note: `use ${SECRET} now` }, { note: 'use sk_****cdef now' }],
		['by name', { api_key: LONG, token: 'short' }, { api_key: MASKED, token: '****' }],
		['not by a name that only has such a word in it', ofNone, ofNone],
		['that only looks masked', { key: `${SECRET},sk_****1234` }, { key: 'sk_****1234' }],
		['of which only the middle is masked', { key: 'sk_****01234567' }, { key: 'sk_****4567' }],
		['masked already', { key: 'sk_ab****yz' }, { key: 'sk_ab****yz' }],
		['by names that end so', { access_token: LONG }, { access_token: MASKED }],
		['in names', { [SECRET]: { active: true } }, { 'sk_****cdef': { active: true } }],
		['not within a word', ofTasks, ofTasks],
		['what is none', { id: 5, active: true, name: 'key' }, { id: 5, active: true, name: 'key' }],
	])('%s', (_name, record, expected) => {
		expect(maskSecrets(record)).toEqual(expected);
	});

	test('a word of many MB is read, too', () => {
		expect(maskSecrets({ note: `sk_${'a'.repeat(9_000_000)}` }).note).toMatch(/^sk_\*{4}a{5}/);
	});
});
