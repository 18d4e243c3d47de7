import type { IWebhookFunctions } from 'n8n-workflow';
import { postedTo, readPostedBody } from '../../nodes/MediaGeneration/callback/body';

const nested = (depth: number): unknown =>
	JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as unknown;

test.each<[string, object, string]>([
	['as docs/service.md states it', { id: 't1', status: 'done' }, 't1'],
	['task_id', { task_id: 't1', status: 'done' }, 't1'],
	['wrapped', { success: true, data: { id: 't1', status: 'done' } }, 't1'],
	['a number', { id: 12, status: 'done' }, '12'],
	['no status yet', { id: 't1' }, 't1'],
	[
		'prototype keys',
		JSON.parse('{"id":"t1","__proto__":{"status":"done"},"constructor":1}') as object,
		't1',
	],
	['a task with data of its own', { id: 't1', status: 'done', data: { id: 't2' } }, 't1'],
	['nested as deeply as allowed', { id: 't1', x: nested(29) }, 't1'],
	['a field as long as allowed', { id: 't1', error: 'x'.repeat(100_000) }, 't1'],
])('%s', (_name, body, taskId) => {
	expect(readPostedBody(Buffer.from(JSON.stringify(body)), {})).toEqual({ ok: true, taskId, body });
	expect(readPostedBody(undefined, body)).toEqual({ ok: true, taskId, body });
});

test.each<[string, unknown, RegExp]>([
	['nothing', undefined, /not a JSON object/],
	['null', null, /not a JSON object/],
	['text', 'id=t1', /not a JSON object/],
	['a list', [{ id: 't1' }], /not a JSON object/],
	['an empty object', {}, /no task id/],
	['an ID in the prototype only', JSON.parse('{"__proto__":{"id":"t1"}}'), /no task id/],
	['an empty ID', { id: '' }, /no task id/],
	['an ID that is an object', { id: { $ne: null } }, /no task id/],
	['an ID that is a list', { id: ['t1'] }, /no task id/],
	['an ID that is true', { id: true }, /no task id/],
	['a path', { id: '../credits' }, /malformed/],
	['dots', { id: '..' }, /malformed/],
	['a line break', { id: 't1\r\nHost: evil' }, /malformed/],
	['a null byte', { id: 't1\0' }, /malformed/],
	['half a letter', { id: 't\ud800' }, /malformed/],
	['a long ID', { id: 'x'.repeat(4_001) }, /malformed/],
	['a huge field', { id: 't1', error: 'x'.repeat(100_001) }, /a text of more than 100000/],
	['a huge name', { id: 't1', ['x'.repeat(100_001)]: 1 }, /a text of more than 100000/],
	['many values', { id: 't1', x: Array(20_001).fill(0) }, /more than 20000 values/],
	['deep nesting', { id: 't1', x: nested(30) }, /nested deeper than 30/],
	['endless nesting', { id: 't1', x: nested(2_000) }, /nested deeper than 30/],
])('%s is refused', (_name, body, reason) => {
	const posted = readPostedBody(Buffer.from(JSON.stringify(body) ?? ''), undefined);
	expect(posted.ok).toBe(false);
	expect(!posted.ok && posted.reason).toMatch(reason);
});

test('a body that is too large is not even looked at', () => {
	const reason = 'the body is too large';
	expect(readPostedBody(Buffer.alloc(1_000_001), { id: 't1' })).toEqual({ ok: false, reason });
	const padded = Buffer.from(`{"id":"t1"${' '.repeat(999_989)}}`);
	expect([padded.length, readPostedBody(padded, {}).ok]).toEqual([1_000_000, true]);
});

test.each<[string, unknown, string, unknown]>([
	['parsed already', { id: 'a' }, '{"id":"a"}', { id: 'a' }],
	[
		'with an ID that n8n has rounded',
		{ id: 1e21 },
		'{"id":12345678901234567890}',
		{ id: '12345678901234567890' },
	],
	['named as text', '{"id":"b"}', '{"id":"b"}', { id: 'b' }],
	['with a byte order mark', {}, '\uFEFF{"id":"b"}', { id: 'b' }],
	['that is a form', { id: 'b' }, 'id=b', { id: 'b' }],
])('a body %s', (_name, parsed, raw, body) => {
	expect(readPostedBody(Buffer.from(raw), parsed)).toMatchObject({ ok: true, body });
});

test('a form that nothing can be made of is refused', () => {
	const circle: Record<string, unknown> = { id: 'b' };
	circle.self = circle;
	expect(readPostedBody(Buffer.from('id=b'), circle).ok).toBe(false);
});

describe("what n8n has of a request's body", () => {
	interface Given {
		parsed: unknown;
		/** What n8n has read of it already. */
		raw?: string;
		/** What comes when n8n is asked to read it; undefined where it can't be asked. */
		readable?: string | Error;
	}

	async function posted({ parsed, raw, readable }: Given) {
		let reads = 0;
		const request = {
			rawBody: raw === undefined ? undefined : Buffer.from(raw),
			async readRawBody() {
				reads += 1;
				if (readable instanceof Error) throw readable;
				request.rawBody = Buffer.from(await Promise.resolve(readable ?? ''));
			},
		};
		const context = {
			getRequestObject: () => (readable === undefined ? { rawBody: request.rawBody } : request),
			getBodyData: () => parsed,
		} as unknown as IWebhookFunctions;
		return { found: await postedTo(context), reads };
	}
	const T1 = '{"id":"t1"}';
	const ok = { ok: true, taskId: 't1' };
	const refused = { ok: false, reason: 'the body is not a JSON object' };

	test.each<[string, Given, object, number]>([
		[
			'of a type that it does not know: it is asked to read it',
			{ parsed: undefined, readable: T1 },
			ok,
			1,
		],
		['parsed: nothing else is read', { parsed: { id: 't1' }, readable: '{"id":"t2"}' }, ok, 0],
		['read, but not parsed: it is not read again', { parsed: {}, raw: T1, readable: '' }, ok, 0],
		[
			'that it can not read: it counts as missing',
			{ parsed: undefined, readable: new Error('gone') },
			refused,
			1,
		],
		['in a version that reads none: it counts as missing', { parsed: undefined }, refused, 0],
	])('%s', async (_name, given, expected, times) => {
		const { found, reads } = await posted(given);
		expect(found).toMatchObject(expected);
		expect(reads).toBe(times);
	});

	test('its length counts, whatever n8n has made of it', async () => {
		const { found } = await posted({ parsed: { id: 't1' }, raw: ' '.repeat(1_000_001) });
		expect(found).toEqual({ ok: false, reason: 'the body is too large' });
	});
});
