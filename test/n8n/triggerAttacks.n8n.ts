import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { prepareReceiveUrl } from '../../nodes/MediaGeneration/callback/receiveUrl';
import { SIGNED_FOR_MS } from '../../nodes/MediaGeneration/callback/signature';
import { sharedContext, type TestContext } from './harness/context';
import { type Answer, callbackSecret, post, type Receiver, Workbench } from './trigger/workbench';

/** What an attacker could post to a trigger: each gets its answer, and none starts the workflow. */
describe('attacks on the trigger', () => {
	let context: TestContext;
	let bench: Workbench;
	let signedOnly: Receiver;
	let open: Receiver;
	let taskId: string;
	let body: Record<string, unknown>;

	before(async () => {
		context = await sharedContext();
		bench = new Workbench(context);
		signedOnly = await bench.receiver('attack-signed', await bench.credential(callbackSecret));
		open = await bench.receiver('attack-open', await bench.credential(''));
		taskId = await bench.task();
		body = context.service.payload(taskId);
	});

	after(async () => {
		await bench.close();
	});

	/** A URL as the action node makes it. */
	function signed(url: string, { reference = 'mine', now = Date.now() } = {}): string {
		const { apiKey, baseUrl } = context.service;
		return prepareReceiveUrl(
			url,
			{ apiKey, baseUrl, callbackSecret },
			{ reference, signed: true, now },
		);
	}

	function changed(url: string, name: string, value: string | undefined): string {
		const copy = new URL(url);
		if (value === undefined) copy.searchParams.delete(name);
		else copy.searchParams.set(name, value);
		return copy.href;
	}

	function refused(answer: Answer, status: number, words: RegExp): void {
		assert.equal(answer.status, status, JSON.stringify(answer.body));
		assert.match(String(answer.body.error ?? answer.body.message), words);
		assert.ok(!JSON.stringify(answer.body).includes(callbackSecret));
	}

	async function nothingRan(): Promise<void> {
		assert.deepEqual(await signedOnly.runs(), []);
		assert.deepEqual(await open.runs(), []);
	}

	it('refuses URLs that are not signed as they should be', async () => {
		const { url } = signedOnly;
		const good = signed(url);
		const polls = context.service.polls().length;
		const notSigned = /the callback URL is not signed/;
		const wrong = /the signature of the callback URL is wrong/;
		refused(await post(url, body), 401, notSigned);
		for (const name of ['signature', 'expires', 'nonce'])
			refused(await post(changed(good, name, undefined), body), 401, notSigned);
		refused(await post(changed(good, 'reference', 'yours'), body), 401, wrong);
		refused(await post(changed(good, 'reference', undefined), body), 401, wrong);
		refused(await post(`${good}&reference=second`, body), 401, wrong);
		refused(await post(changed(good, 'nonce', '00'), body), 401, wrong);
		refused(await post(changed(good, 'signature', '0'.repeat(64)), body), 401, wrong);
		const later = String(Math.floor((Date.now() + 2 * SIGNED_FOR_MS) / 1000));
		refused(await post(changed(good, 'expires', later), body), 401, wrong);
		const old = signed(url, { now: Date.now() - SIGNED_FOR_MS - 1000 });
		refused(await post(old, body), 401, /the callback URL has expired/);
		const { search } = new URL(signed(open.url));
		refused(await post(url + search, body), 401, /was signed for another trigger/);
		const elsewhere = signed(url.replace('127.0.0.1', '127.0.0.2'));
		refused(await post(url + new URL(elsewhere).search, body), 401, /signed for another host/);
		// Without a token not even the body is judged.
		refused(await post(url, 'no JSON', { type: 'text/plain' }), 401, notSigned);
		assert.equal(context.service.polls().length, polls, 'the service was asked');
		await nothingRan();
	});

	it('is spared what n8n refuses by itself', async () => {
		// n8n parses JSON and looks for the method before it calls the node: its own words, and nothing runs either.
		refused(await post(open.url, '{"id": "cut off'), 422, /Failed to parse request body/);
		for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
			refused(await post(open.url, body, { method }), 404, /not registered for/);
		const enormous = JSON.stringify({ ...body, padding: 'x'.repeat(17 * 1024 * 1024) });
		// n8n may hang up before it has read all of it.
		const answer = await post(open.url, enormous).catch(() => undefined);
		assert.ok(answer === undefined || answer.status >= 400, `n8n answered ${answer?.status}`);
		await nothingRan();
	});

	it('is not a lever against the service', async () => {
		const { service } = context;
		const before = service.polls().length;
		const ids = Array.from({ length: 50 }, (_, index) => `made-up-${index}`);
		// As many at a time as n8n gets through while somebody waits.
		for (let from = 0; from < ids.length; from += 10) {
			const some = ids.slice(from, from + 10);
			const answers = await Promise.all(
				some.map(async (id) => await post(open.url, { ...body, id })),
			);
			for (const answer of answers) refused(answer, 404, /does not know this task/);
		}
		const spent = service.polls().length - before;
		assert.ok(spent <= 100, `${spent} requests for 50 ids`);
		await nothingRan();
	});

	for (const typeVersion of [1, 1.1]) {
		it(`reads JSON that is not called JSON and refuses what can not be read, version ${typeVersion}`, async () => {
			const receiver = await bench.receiver(
				`named-${typeVersion}`,
				await bench.credential(''),
				{},
				{ typeVersion },
			);
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
			// n8n reads all bodies for version 1, and answers in words of its own.
			assert.ok(notZipped.status >= 400, `answered ${notZipped.status}`);
			if (typeVersion > 1) refused(notZipped, 400, /the body is not a JSON object/);
			await receiver.ran(2);
		});
	}
});
