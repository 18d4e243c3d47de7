import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sharedContext, type TestContext } from './harness/context';
import { testWorkflow } from './harness/workflow';
import { prepareReceiveUrl } from '../../nodes/MediaGeneration/trigger/receiveUrl';
import { fetch } from './harness/http';
import { type Answer, callbackSecret, passedOn, post, Workbench } from './trigger/workbench';

/** What somebody could post that n8n handles before the node or beside it; who is believed is shown by engine/trigger. */
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

	it('answers others while 200 calls name one running task with a large answer', async () => {
		const { service, n8n } = context;
		const open = await bench.receiver('attack-crowd', await bench.credential(''));
		const texts = Array.from({ length: 60_000 }, (_, index) => `text ${index} of the answer`);
		const id = await service.order({
			stand_in: { ms: 3_600_000, no_callback: true, task: { texts } },
		});
		const calls = Array.from(
			{ length: 200 },
			async () => await post(open.url, { id, status: 'done' }),
		);
		let isOver = false;
		const all = Promise.all(calls).finally(() => (isOver = true));
		while (!isOver) {
			const { status } = await fetch(`${n8n.baseUrl}/healthz`);
			assert.equal(status, 200);
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
		for (const { status } of await all)
			assert.ok([200, 503].includes(status), `answered ${status}`);
		// How long it is silent the benchmarks "strangers" and "seams" measure.
		assert.deepEqual(await open.runs(), []);
	});

	const signed = (url: string, reference?: string) =>
		prepareReceiveUrl(url, { ...context.service, callbackSecret }, { reference, now: Date.now() });

	it('refuses a URL that was signed for a public host, whatever the call claims', async () => {
		const receiver = await bench.receiver('attack-host', await bench.credential(callbackSecret));
		const body = context.service.payload(await bench.task());
		const { pathname } = new URL(receiver.url);
		const { search } = new URL(signed(`https://evil.example${pathname}`));
		const headers = { 'x-forwarded-host': 'evil.example' };
		refused(await post(receiver.url + search, body, { headers }), 401, /signed for another host/);
		assert.deepEqual(await receiver.runs(), []);
	});

	it('saves no signature that the service repeats, in whatever place or form', async () => {
		const { service, rest } = context;
		const receiver = await bench.receiver('attack-echo', await bench.credential(callbackSecret));
		const url = signed(receiver.url, 'kept');
		const signature = new URL(url).searchParams.get('signature') ?? '';
		const base64 = Buffer.from(`see ${url}`).toString('base64');
		const task = { request_id: signature, [signature]: 1, base64, receive_url: url };
		const answer = await post(url, service.payload(await bench.task({ task })));
		assert.equal(answer.status, 200);
		const [run] = await receiver.ran(1);
		assert.ok(run);
		const { json } = passedOn(run);
		assert.equal(json.reference_verified, true);
		assert.equal(json.request_id, '***');
		const saved = JSON.stringify([run, await rest.execution(run.id)]);
		for (const form of [signature, Buffer.from(signature).toString('base64').slice(4, -8)])
			assert.ok(!saved.includes(form), 'a signature is in what n8n saved');
	});

	it('runs for three references of a stranger at most', async () => {
		const open = await bench.receiver('attack-reference', await bench.credential(''));
		const body = context.service.payload(await bench.task());
		for (let index = 0; index < 6; index += 1) {
			const { body: said } = await post(`${open.url}?reference=PAID-${index}`, body);
			assert.equal('ignored' in said, index >= 3, JSON.stringify(said));
		}
		for (const run of await open.ran(3)) {
			const { reference, reference_verified } = passedOn(run).json;
			assert.match(String(reference), /^PAID-/);
			assert.equal(reference_verified, false);
		}
	});

	it('shows an address with markup as a text', async () => {
		const { rest, service, credential } = context;
		const file = `${service.baseUrl}/<a href="https://evil.example/">click</a>\u001b[2J`;
		const taskId = await bench.task({ task: { metadata: { output_uri: file } } });
		const workflow = testWorkflow('later', { credential });
		workflow.nodes = workflow.nodes.filter(({ name }) => name === 'Start' || name === 'Wait');
		for (const node of workflow.nodes) if (node.name === 'Wait') node.parameters.taskId = taskId;
		workflow.connections = { Start: { main: [[{ node: 'Wait', type: 'main', index: 0 }]] } };
		const execution = await rest.run(await rest.createWorkflow(workflow), 'Start');
		const { message, description } = execution.resultData.error as {
			message: string;
			description?: string;
		};
		assert.match(message, /could not be downloaded/);
		assert.match(String(description), /open the addresses: http\S+%3Ca%20href/);
		assert.doesNotMatch(message + String(description), /<a |\p{Cc}/u);
	});
});
