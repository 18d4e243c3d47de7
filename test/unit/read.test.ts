import { maskSecret, maskSecrets } from '../../nodes/MediaGeneration/actions/account';
import { deepMerge } from '../../nodes/MediaGeneration/actions/jsonObjects';
import { taskIdProblem } from '../../nodes/MediaGeneration/actions/taskIds';

describe('deepMerge', () => {
	test.each<[string, Record<string, unknown>, Record<string, unknown>, unknown]>([
		['goes into depth', { m: { a: 1, b: 2 } }, { m: { b: 3, c: 4 } }, { m: { a: 1, b: 3, c: 4 } }],
		['replaces lists as a whole', { a: [1, 2] }, { a: [3] }, { a: [3] }],
		['an object replaces a value', { a: 1 }, { a: { b: 1 } }, { a: { b: 1 } }],
		['a value replaces an object', { a: { b: 1 } }, { a: null }, { a: null }],
		['names of the prototype are names', {}, { constructor: { a: 1 } }, { constructor: { a: 1 } }],
	])('%s', (_name, base, extra, expected) => {
		expect(deepMerge(base, extra)).toEqual(expected);
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

test.each(['a', '7f9c2ba4', 'gen/42', '7%2F9', 'a b', 'a?b#c', 'a,b', 'Ü', 'x'.repeat(4_000)])(
	'the task ID %j can be used',
	(taskId) => {
		expect(taskIdProblem(taskId)).toBeUndefined();
	},
);

test.each<[string, RegExp]>([
	['.', /has the part "."/],
	['..', /has the part ".."/],
	['a/../b', /has the part ".."/],
	['a\nb', /control character/],
	['a\udc00', /an unpaired surrogate/],
	['x'.repeat(4_001), /longer than 4000/],
])('the task ID %j is refused', (taskId, words) => {
	expect(taskIdProblem(taskId)).toMatch(words);
});

describe('secrets of API keys', () => {
	const SECRET = 'sk_0123456789abcdef';
	test.each([
		[SECRET, 'sk_****cdef'],
		['sk_01234567890', 'sk_****'],
		['sk_012345678901', 'sk_****8901'],
		['01234567890', '****'],
		['012345678901', '****8901'],
		['no-prefix-but-long', '****long'],
	])('%s becomes %s', (secret, masked) => {
		expect(maskSecret(secret)).toBe(masked);
	});

	const LONG = 'abcdefghijklmnop';
	const MASKED = '****mnop';
	const ofTasks = { task_limit: 20, on: 'task_123456' };
	const ofNone = { monkey: LONG, token_type: LONG, apiKeyId: LONG, api_key_id: LONG };

	test.each<[string, unknown, unknown]>([
		['by prefix', { name: 'main', key: SECRET }, { name: 'main', key: 'sk_****cdef' }],
		['in the middle of a text', { note: `use ${SECRET} now` }, { note: 'use sk_****cdef now' }],
		['by name', { api_key: LONG, token: 'short' }, { api_key: MASKED, token: '****' }],
		['not by a name that only has such a word in it', ofNone, ofNone],
		['that only looks masked', { key: `${SECRET},sk_****1234` }, { key: 'sk_****1234' }],
		['of which only the middle is masked', { key: 'sk_****01234567' }, { key: 'sk_****4567' }],
		['by names that end so', { access_token: LONG }, { access_token: MASKED }],
		['in camel case', { clientSecret: LONG }, { clientSecret: MASKED }],
		['of passwords', { password: LONG }, { password: MASKED }],
		['in a list under such a name', { token: [LONG] }, { token: [MASKED] }],
		['in depth', { a: [{ b: SECRET }] }, { a: [{ b: 'sk_****cdef' }] }],
		['in names', { [SECRET]: { active: true } }, { 'sk_****cdef': { active: true } }],
		['not within a word', ofTasks, ofTasks],
		['masked already', { key: 'sk_ab****yz' }, { key: 'sk_ab****yz' }],
		['what is none', { id: 5, active: true, name: 'key' }, { id: 5, active: true, name: 'key' }],
	])('%s', (_name, record, expected) => {
		expect(maskSecrets(record)).toEqual(expected);
	});
});
