/** What is read of a post, which anybody can send. docs/trigger.md, "What it answers". */
import type { IWebhookFunctions } from 'n8n-workflow';
import { postedTo, readPosted } from '../../nodes/MediaGeneration/trigger/webhook';

const nested = (depth: number): unknown =>
	JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as unknown;
const bytesOf = (body: unknown) => Buffer.from(JSON.stringify(body) ?? '');

test.each<[string, object, string]>([
	['as docs/service.md states it', { id: 't1', status: 'done' }, 't1'],
	['no status yet', { id: 't1' }, 't1'],
	['a task with data of its own', { id: 't1', status: 'done', data: { id: 't2' } }, 't1'],
	['nested as deeply as allowed', { id: 't1', x: nested(29) }, 't1'],
	['a field as long as allowed', { id: 't1', error: 'x'.repeat(100_000) }, 't1'],
])('%s', (_name, body, taskId) => {
	const state = 'status' in body || 'data' in body ? 'done' : undefined;
	const posted = readPosted(bytesOf(body));
	expect([posted.taskId, posted.task?.state]).toEqual([taskId, state]);
});

test.each<[string, unknown, RegExp]>([
	['nothing', undefined, /not a JSON object/],
	['a list', [{ id: 't1' }], /not a JSON object/],
	['an ID in the prototype only', JSON.parse('{"__proto__":{"id":"t1"}}'), /no task id/],
	['an ID that is an object', { id: { $ne: null } }, /no task id/],
	['a path', { id: '../credits' }, /malformed/],
	['a long ID', { id: 'x'.repeat(4_001) }, /malformed/],
	['a huge field', { id: 't1', error: 'x'.repeat(100_001) }, /a text of more than 100000/],
	['many values', { id: 't1', x: Array(20_001).fill(0) }, /more than 20000 values/],
	['deep nesting', { id: 't1', x: nested(30) }, /nested deeper than 30/],
	['a body beyond 1 MB', { id: 't1', x: ' '.repeat(1_000_000) }, /more than 1 MB/],
	['one of fewer letters', { id: 't1', x: Array(4).fill('声'.repeat(90_000)) }, /more than 1 MB/],
])('%s is refused', (_name, body, reason) => {
	const refusal = expect.objectContaining({
		status: 400,
		message: expect.stringMatching(reason) as string,
	}) as Error;
	expect(() => readPosted(bytesOf(body))).toThrow(refusal);
});

test.each<[string, string, string]>([
	['a long number', '{"id":12345678901234567890}', '12345678901234567890'],
	['a byte order mark', '\uFEFF{"id":"b"}', 'b'],
])('an ID behind %s is read as it is', (_name, raw, taskId) => {
	expect(readPosted(Buffer.from(raw)).taskId).toBe(taskId);
});

interface Given {
	/** What n8n has read of it already. */
	raw?: string;
	/** What comes when n8n is asked to read it; undefined where it can't be asked. */
	readable?: string | Error;
}

async function posted({ raw, readable }: Given) {
	const request = {
		rawBody: raw === undefined ? undefined : Buffer.from(raw),
		async readRawBody() {
			if (readable instanceof Error) throw readable;
			request.rawBody = Buffer.from(await Promise.resolve(readable ?? ''));
		},
	};
	const context = {
		getRequestObject: () => (readable === undefined ? { rawBody: request.rawBody } : request),
	} as unknown as IWebhookFunctions;
	return await postedTo(context).then(
		({ taskId }) => taskId,
		(error: Error) => error.message,
	);
}
const T1 = '{"id":"t1"}';
const none = 'the body is not a JSON object';

test.each<[string, Given, string]>([
	['of a type that it does not know: it is asked to read it', { readable: T1 }, 't1'],
	['read: it is not read again', { raw: T1, readable: '' }, 't1'],
	['that is a form', { raw: 'id=t1' }, none],
	['that it can not read', { readable: new Error('gone') }, none],
	['in a version that reads none', {}, none],
])("what n8n has of a request's body %s", async (_name, given, expected) => {
	expect(await posted(given)).toBe(expected);
});
