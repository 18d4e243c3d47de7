import { Readable } from 'node:stream';
import { readJson, readText } from '../../nodes/MediaGeneration/base/bounded';
import { ANSWER, type Bound } from '../../nodes/MediaGeneration/base/bounds';

const SMALL: Bound = { bytes: 100, depth: 3, values: 8 };
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

const DEEP = 'that is nested deeper than 3 levels';
const LARGE = 'of more than 0 MB';
test.each<[string, string, { body?: unknown; unread?: string }]>([
	['an object', '{"a":[1,"b",null,true]}', { body: { a: [1, 'b', null, true] } }],
	['too deep', nested(4), { unread: DEEP }],
	['too deep to be parsed or copied', nested(20_000), { unread: LARGE }],
	['with as many values as allowed', '[1,2,3,4,5,6,7,8]', { body: [1, 2, 3, 4, 5, 6, 7, 8] }],
	['with too many', '[1,2,3,4,5,6,7,8,9]', { unread: 'with more than 8 values' }],
	['with lists side by side, as deep as allowed', '[[],[[]]]', { body: [[], [[]]] }],
	['as large as allowed', `${' '.repeat(99)}1`, { body: 1 }],
	['too large', `"${'x'.repeat(99)}"`, { unread: LARGE }],
	['that is none', '<html>', {}],
	['that is cut', '{"a":', {}],
])('a JSON text %s: %j', (_name, json, expected) => {
	expect(readJson(json, SMALL)).toStrictEqual({ body: undefined, ...expected });
});

test('an answer has at most 100 levels', () => {
	expect([100, 101].map((levels) => readJson(nested(levels)).unread)).toEqual([
		undefined,
		'that is nested deeper than 100 levels',
	]);
});

test.each<[string, unknown]>([
	['1234567890123456789', '1234567890123456789'],
	['{"task_id":12345678901234567890}', { task_id: '12345678901234567890' }],
	['[9007199254740993,1]', ['9007199254740993', 1]],
	['0.12345678901234567', 0.12345678901234567],
	['12345678901234567.5', 12345678901234567.5],
	['1e12345678901234567', Infinity],
	['"12345678901234567890"', '12345678901234567890'],
	[
		'["a\\"12345678901234567890\\\\",12345678901234567890]',
		['a"12345678901234567890\\', '12345678901234567890'],
	],
	['[1234567890123456,-1234567890123456789]', [1_234_567_890_123_456, -1_234_567_890_123_456_800]],
])('%s loses no digit of an ID', (json, value) => {
	expect(readJson(json)).toEqual({ body: value });
});

describe('a body', () => {
	test.each<[string, unknown, string]>([
		['a stream', Readable.from([Buffer.from('{"a"'), Buffer.from(':1}')]), '{"a":1}'],
		['a character in two pieces', Readable.from([Buffer.from([0xc3]), Buffer.from([0xa9])]), 'é'],
		['bytes with a byte order mark', Buffer.from('\uFEFF{}'), '{}'],
		['bytes with such a mark inside', Buffer.from('a\uFEFF{}'), 'a\uFEFF{}'],
		['bytes up to the bound', Buffer.from('0123456789'), '0123456789'],
		['a text up to the bound', '0123456789', '0123456789'],
		['nothing', undefined, ''],
		['an object', { a: 1 }, ''],
	])('that is %s is read', async (_name, body, text) => {
		expect(await readText(body, 10)).toEqual({ text, isComplete: true });
	});

	test('that never ends is read up to the bound, and destroyed', async () => {
		const endless = new Readable({
			read() {
				this.push('0123');
			},
		});
		const read = await readText(endless, 10);
		expect(read).toEqual({ text: '0123012301', isComplete: false });
		expect(endless.destroyed).toBe(true);
		expect(readJson(read.text, ANSWER, read.isComplete).unread).toBe('of more than 32 MB');
	});

	test.each<[string, unknown]>([
		['text', 'x'.repeat(11)],
		['bytes', Buffer.from('x'.repeat(11))],
		['a stream', Readable.from([Buffer.from('x'.repeat(10)), Buffer.from('x')])],
	])('of too much %s is cut', async (_name, body) => {
		expect(await readText(body, 10)).toEqual({ text: 'x'.repeat(10), isComplete: false });
	});

	test('that breaks is an error', async () => {
		const broken = new Readable({
			read() {
				this.destroy(new Error('reset'));
			},
		});
		await expect(readText(broken)).rejects.toThrow('reset');
	});
});
