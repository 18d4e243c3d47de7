import { changeTexts, redactDeep, redactor } from '../../nodes/MediaGeneration/service/redact';

const SECRETS = { apiKey: 'sk_top-secret', callbackSecret: 'estimated_credits' };
const redact = redactor(SECRETS);

test('texts lose the key and the callback secret, wherever they stand', () => {
	expect(redact('a sk_top-secret b sk_top-secret, estimated_credits')).toBe(
		'a sk_*** b sk_***, ***',
	);
	expect(redact('sk_another')).toBe('sk_another');
});

test('no callback secret replaces nothing', () => {
	expect(redactor({ apiKey: 'sk_x', callbackSecret: '' })('abc')).toBe('abc');
});

test('names of fields and IDs are not changed by the callback secret, which the service never had', () => {
	const ids = {
		id: 'a-estimated_credits',
		task_id: 'estimated_credits',
		taskId: 'estimated_credits',
	};
	const answer = {
		...ids,
		estimated_credits: 5,
		list: ['estimated_credits'],
		note: 'estimated_credits',
	};
	expect(redactDeep(structuredClone(answer), SECRETS)).toEqual({
		...answer,
		list: ['***'],
		note: '***',
	});
});

test.each(['paid', 'idea', 'task_ideas', 'taskIdea', 'note'])(
	'%s is a field like others, which the secret goes from',
	(name) => {
		expect(redactDeep({ [name]: 'estimated_credits' }, SECRETS)).toEqual({ [name]: '***' });
	},
);

test('what was cleaned is as plain as before: it can be changed, and removed', () => {
	const answer = redactDeep({ note: 'sk_top-secret' }, SECRETS) as Record<string, string>;
	expect(redactDeep(answer, { ...SECRETS, apiKey: 'sk_***' })).toEqual({ note: 'sk_***' });
	answer.note = 'changed';
	expect(answer).toEqual({ note: 'changed' });
	delete answer.note;
	expect(answer).toEqual({});
});

test('a text alone is cleaned, too', () => {
	expect(redactDeep('x sk_top-secret', SECRETS)).toBe('x sk_***');
});

test('texts can be changed and the names of their fields left', () => {
	const value = { a: 'x', list: ['x', null, { x: 'x' }] };
	expect(changeTexts(value, { text: () => 'y' })).toEqual({
		a: 'y',
		list: ['y', null, { x: 'y' }],
	});
});

test('the key goes from names of fields and from IDs too', () => {
	const answer = { 'x sk_top-secret': 1, id: 'sk_top-secret' };
	expect(redactDeep(answer, SECRETS)).toEqual({ 'x sk_***': 1, id: 'sk_***' });
});

test('what was escaped shows after parsing, and goes then', () => {
	const parsed = JSON.parse(
		'{"\\u0073k_top-secret":["\\u0073k_top-secret",{"a":"x \\u0073k_top-secret"}],"n":1,"z":null}',
	) as unknown;
	expect(redactDeep(parsed, SECRETS)).toEqual({
		'sk_***': ['sk_***', { a: 'x sk_***' }],
		n: 1,
		z: null,
	});
});

test('other values stay as they are', () => {
	for (const value of [undefined, null, 5, true, 'x', [], {}])
		expect(redactDeep(value, SECRETS)).toEqual(value);
});

test('a name such as __proto__ stays a name', () => {
	const parsed = JSON.parse('{"__proto__":{"a":"sk_top-secret"}}') as object;
	redactDeep(parsed, SECRETS);
	expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
	expect(JSON.stringify(parsed)).toBe('{"__proto__":{"a":"sk_***"}}');
});

test('endless nesting ends', () => {
	const deep = JSON.parse(`${'['.repeat(100_000)}"sk_top-secret"${']'.repeat(100_000)}`) as unknown;
	let inner = redactDeep(deep, SECRETS);
	while (Array.isArray(inner)) inner = inner[0] as unknown;
	expect(inner).toBe('sk_***');
});
