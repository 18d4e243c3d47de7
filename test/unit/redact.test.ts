import { redactDeep, redactor } from '../../nodes/MediaGeneration/service/redact';

const redact = redactor({ apiKey: 'sk_top-secret', callbackSecret: 'hush-hush' });

test('texts lose the key and the callback secret, wherever they stand', () => {
	expect(redact('a sk_top-secret b sk_top-secret, hush-hush')).toBe('a sk_*** b sk_***, ***');
	expect(redact('sk_another')).toBe('sk_another');
});

test('an empty or tiny callback secret replaces nothing', () => {
	expect(redactor({ apiKey: 'sk_x', callbackSecret: '' })('abc')).toBe('abc');
	expect(redactor({ apiKey: 'sk_x', callbackSecret: 'a' })('abc')).toBe('abc');
});

test('what was escaped shows after parsing, and goes then', () => {
	const parsed = JSON.parse(
		'{"\\u0073k_top-secret":["\\u0073k_top-secret",{"a":"x \\u0073k_top-secret"}],"n":1,"z":null}',
	) as unknown;
	expect(redactDeep(parsed, redact)).toEqual({
		'sk_***': ['sk_***', { a: 'x sk_***' }],
		n: 1,
		z: null,
	});
});

test('other values stay as they are', () => {
	for (const value of [undefined, null, 5, true, 'x', [], {}])
		expect(redactDeep(value, redact)).toEqual(value);
});

test('a name such as __proto__ stays a name', () => {
	const parsed = JSON.parse('{"__proto__":{"a":"sk_top-secret"}}') as object;
	redactDeep(parsed, redact);
	expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
	expect(JSON.stringify(parsed)).toBe('{"__proto__":{"a":"sk_***"}}');
});

test('endless nesting ends', () => {
	const deep = JSON.parse(`${'['.repeat(100_000)}"sk_top-secret"${']'.repeat(100_000)}`) as unknown;
	let inner = redactDeep(deep, redact);
	while (Array.isArray(inner)) inner = inner[0] as unknown;
	expect(inner).toBe('sk_***');
});
