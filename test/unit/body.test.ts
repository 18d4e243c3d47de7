/** What is read of a post, which anybody can send. docs/trigger.md, "What it answers". */
import type { IWebhookFunctions } from 'n8n-workflow';
import { postedTo } from '../../nodes/MediaGeneration/trigger/webhook';
import { fakeN8n } from '../support/n8n';

interface Given {
	/** What n8n has read of it already. */
	raw?: string | undefined;
	/** What comes when n8n is asked to read it; undefined where it can't be asked. */
	readable?: string | Error;
	/** Whether the service is asked for more than the ID and the status. */
	isHint?: boolean;
}

async function read({ raw, readable, isHint }: Given) {
	const request = {
		rawBody: raw === undefined ? undefined : Buffer.from(raw),
		async readRawBody() {
			if (readable instanceof Error) throw readable;
			request.rawBody = Buffer.from(await Promise.resolve(readable ?? ''));
		},
	};
	const getRequestObject = () => (readable === undefined ? { rawBody: request.rawBody } : request);
	const { context } = fakeN8n<IWebhookFunctions>({ own: { getRequestObject } });
	return await postedTo(context, isHint);
}

const nested = (depth: number): unknown =>
	JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as unknown;

test.each<[string, object, string | undefined]>([
	['as docs/service.md states it', { id: 't1', status: 'done' }, 'done'],
	['no status yet', { id: 't1' }, undefined],
	['a task with data of its own', { id: 't1', status: 'done', data: { id: 't2' } }, 'done'],
	['an event about it', { id: 'e', status: 'sent', data: { id: 't1', status: 'done' } }, 'done'],
	[
		'an event about task_id',
		{ id: 'e', status: 'ok', task: { task_id: 't1', status: 'new' } },
		'running',
	],
	['an event that has failed', { status: 'error', data: { id: 't1', status: 'doing' } }, 'running'],
	['whatever its size', { id: 't1', text: '声'.repeat(3_000_000), x: nested(900) }, undefined],
	['many values', { id: 't1', x: Array(50_000).fill(0) }, undefined],
])('%s', async (_name, body, state) => {
	const { taskId, task } = await read({ raw: JSON.stringify(body) });
	expect([taskId, task?.state]).toEqual(['t1', state]);
});

test.each<[string, unknown, RegExp]>([
	['nothing', undefined, /not a JSON object/],
	['a list', [{ id: 't1' }], /not a JSON object/],
	['an ID in the prototype only', JSON.parse('{"__proto__":{"id":"t1"}}'), /no task id/],
	['an ID that is an object', { id: { $ne: null } }, /no task id/],
	['very many values', { id: 't1', x: Array(250_001).fill(0) }, /more than 250000 values/],
	['a path', { id: 'abc/full' }, /the task id contains the character \//],
	['a long ID', { id: 'x'.repeat(4_001) }, /the task id is longer than 4000 characters/],
])('%s is refused', async (_name, body, reason) => {
	const refusal = { status: 400, message: expect.stringMatching(reason) as string };
	await expect(read({ raw: JSON.stringify(body) })).rejects.toMatchObject(refusal);
});

test.each<[string, unknown, RegExp]>([
	['many values', { id: 't1', x: Array(20_001).fill(0) }, /more than 20000 values/],
	['deep nesting', { id: 't1', x: nested(30) }, /nested deeper than 30/],
	['a body beyond 1 MB', { id: 't1', x: ' '.repeat(1_000_000) }, /more than 1 MB/],
	['one of fewer letters', { id: 't1', x: '声'.repeat(360_000) }, /more than 1 MB/],
])('%s is refused where the post is believed', async (_name, body, reason) => {
	const refusal = { status: 400, message: expect.stringMatching(reason) as string };
	const raw = JSON.stringify(body);
	await expect(read({ raw, isHint: false })).rejects.toMatchObject(refusal);
	expect((await read({ raw })).taskId).toBe('t1');
});

test.each<[string, Given, string]>([
	['a long number', { raw: '{"id":12345678901234567890}' }, '12345678901234567890'],
	['what follows a byte order mark', { raw: '\uFEFF{"id":"b"}' }, 'b'],
	['what n8n reads only when it is asked to', { readable: '{"id":"b"}' }, 'b'],
	['what n8n has read, once', { raw: '{"id":"b"}', readable: '' }, 'b'],
])('%s is read as it is', async (_name, given, taskId) => {
	expect((await read(given)).taskId).toBe(taskId);
});

test.each<[string, Given]>([
	['is a form', { raw: 'id=t1' }],
	['n8n can not read', { readable: new Error('gone') }],
	['n8n has not read, and can not be asked for', {}],
])('a body that %s is none', async (_name, given) => {
	await expect(read(given)).rejects.toThrow('the body is not a JSON object');
});
