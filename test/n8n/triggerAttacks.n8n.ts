import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sharedContext, type TestContext } from './harness/context';
import { type Answer, post, Workbench } from './trigger/workbench';

/** What somebody could post that n8n handles before the node; who is believed is shown by unit/receive. */
describe('attacks on the trigger', () => {
	let context: TestContext;
	let bench: Workbench;

	before(async () => {
		context = await sharedContext();
		bench = new Workbench(context);
	});
	after(async () => await bench.close());

	function refused(answer: Answer, status: number, words: RegExp): void {
		assert.equal(answer.status, status, JSON.stringify(answer.body));
		assert.match(String(answer.body.error ?? answer.body.message), words);
	}

	it('is spared what n8n refuses by itself', async () => {
		const open = await bench.receiver('attack-open', await bench.credential(''));
		const body = context.service.payload(await bench.task());
		// n8n parses JSON and looks for the method before it calls the node: its own words, and nothing runs either.
		refused(await post(open.url, '{"id": "cut off'), 422, /Failed to parse request body/);
		for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
			refused(await post(open.url, body, { method }), 404, /not registered for/);
		const enormous = JSON.stringify({ ...body, padding: 'x'.repeat(17 * 1024 * 1024) });
		// n8n may hang up before it has read all of it.
		const answer = await post(open.url, enormous).catch(() => undefined);
		assert.ok(answer === undefined || answer.status >= 400, `n8n answered ${answer?.status}`);
		assert.deepEqual(await open.runs(), []);
	});

	it('reads JSON that is not called JSON and refuses what can not be read', async () => {
		const receiver = await bench.receiver('named', await bench.credential(''));
		for (const type of ['text/plain', 'application/octet-stream']) {
			const another = context.service.payload(await bench.task());
			const answer = await post(receiver.url, JSON.stringify(another), { type });
			assert.deepEqual(answer, { status: 200, body: { received: true } });
		}
		const form = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n';
		const type = 'multipart/form-data; boundary=x';
		refused(await post(receiver.url, form, { type }), 400, /the body has no task id/);
		const notZipped = await post(receiver.url, 'no gzip at all', {
			type: 'application/octet-stream',
			headers: { 'content-encoding': 'gzip' },
		});
		refused(notZipped, 400, /the body is not a JSON object/);
		await receiver.ran(2);
	});
});
