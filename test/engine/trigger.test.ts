/** The trigger from the call of its webhook to the item that its workflow goes on with (docs/trigger.md). */
import { SIGNED_FOR_MS } from '../../nodes/MediaGeneration/callback/signature';
import { hurry } from './hurry';
import { expectWhole } from './files';
import { SECRET } from './setting';
import { ignored, RECEIVED, refused, triggerSetting } from './triggerSetting';

const setting = triggerSetting();
const post = async (url: string, body: unknown) => await setting.host.post(url, body);
const done = (id: string) => ({ id, status: 'done' });

describe('what goes out', () => {
	it('is the task by the word of the service, with its files', async () => {
		const trigger = setting.trigger();
		const id = await setting.task();
		const forged = { id, status: 'done', type: 'image', metadata: { audio_url: 'http://x.test/' } };
		expect(await post(`${trigger.url}?reference=mine`, forged)).toEqual(RECEIVED);
		const item = await setting.item(trigger);
		expect(item.json).toMatchObject({
			...setting.service.payload(id),
			task_id: id,
			verified: true,
			reference: 'mine',
		});
		expect(item.json).not.toHaveProperty('download_error');
		expect(item.json).not.toHaveProperty('signed');
		expect(item.json).not.toHaveProperty('task');
		await expectWhole(item);
	});

	it('is a failed task, without a word of files', async () => {
		const trigger = setting.trigger();
		const id = await setting.task({ end: 'error', error_message: 'No luck' });
		expect(await post(trigger.url, { id, status: 'error' })).toEqual(RECEIVED);
		const { json, binary } = await setting.item(trigger);
		expect(json).toMatchObject({ status: 'error', error_message: 'No luck', outputs: [] });
		expect(json).not.toHaveProperty('download_error');
		expect(binary).toBeUndefined();
	});

	it('says where a file could not be fetched', async () => {
		const trigger = setting.trigger({ binaryPropertyName: 'sound' });
		const id = await setting.task({ file_status: 404 });
		expect(await post(trigger.url, done(id))).toEqual(RECEIVED);
		const { json, binary } = await setting.item(trigger);
		expect(json.download_error).toMatch(/is done, but its file could not be downloaded/);
		expect(json.outputs).toEqual([expect.objectContaining({ kind: 'audio' })]);
		expect(binary).toBeUndefined();
	});

	it('has no files with Download Output off', async () => {
		const trigger = setting.trigger({ downloadOutput: false });
		expect(await post(trigger.url, done(await setting.task()))).toEqual(RECEIVED);
		const { json, binary } = await setting.item(trigger);
		expect(json.outputs).toHaveLength(1);
		expect(json).not.toHaveProperty('download_error');
		expect(binary).toBeUndefined();
	});

	it('has the reference of the URL only', async () => {
		const trigger = setting.trigger({ verifyWithService: false });
		const body = { ...done('t1'), reference: 'posted', download_error: 'posted', verified: true };
		expect(await post(trigger.url, body)).toEqual(RECEIVED);
		const { json } = await setting.item(trigger);
		expect(json).not.toHaveProperty('reference');
		expect(json.verified).toBe(false);
		expect(json.download_error).not.toBe('posted');
	});

	it('does not hold the token of a callback URL that the service echoes', async () => {
		const trigger = setting.trigger({}, SECRET);
		const url = setting.signed(trigger.url, 'kept');
		const another = setting.signed('https://n8n.example/webhook/1/callback');
		const asleep = 'https://n8n.example/webhook-waiting/12/node?signature=0123456789abcdef';
		const presigned = 'https://files.example/a.mp3?expires=1&signature=needed';
		const id = await setting.task({
			task: {
				receive_url: url,
				note: `sent to ${another} and ${asleep}`,
				copies: [url, presigned],
			},
		});
		expect(await post(url, done(id))).toEqual(RECEIVED);
		const { json } = await setting.item(trigger);
		expect(json.reference).toBe('kept');
		const text = JSON.stringify(json);
		for (const secret of [url, another, asleep])
			expect(text).not.toContain(new URL(secret).searchParams.get('signature'));
		expect(json.receive_url).toContain(`${trigger.url}?reference=kept&signed_for=`);
		expect(json.receive_url).toMatch(/&signature=\*\*\*$/);
		expect(text).toContain(presigned);
	});
});

describe('who is believed', () => {
	it('refuses a URL that is not signed, whatever is posted', async () => {
		const trigger = setting.trigger({}, SECRET);
		const id = await setting.task();
		expect(await post(trigger.url, done(id))).toEqual(refused(401, /is not signed/));
		expect(await post(trigger.url, '"no task"')).toEqual(refused(401, /is not signed/));
		const url = setting.signed(trigger.url, 'r');
		const forged = url.replace('reference=r', 'reference=s');
		expect(await post(forged, done(id))).toEqual(refused(401, /signature .* is wrong/));
		const old = setting.signed(trigger.url, 'r', Date.now() - SIGNED_FOR_MS - 1_000);
		expect(await post(old, done(id))).toEqual(refused(401, /has expired/));
		expect(setting.service.polls()).toHaveLength(0);
		expect(trigger.executions()).toHaveLength(0);
		expect(await post(url, done(id))).toEqual(RECEIVED);
		expect((await setting.item(trigger)).json.reference).toBe('r');
	});

	it('refuses a URL that was signed for another trigger, or for another n8n', async () => {
		const trigger = setting.trigger({}, SECRET);
		const other = setting.trigger({}, SECRET);
		const id = await setting.task();
		const { search } = new URL(setting.signed(other.url));
		expect(await post(trigger.url + search, done(id))).toEqual(
			refused(401, /signed for another trigger/),
		);
		const elsewhere = trigger.url.replace('127.0.0.1', '10.1.2.3');
		expect(await post(trigger.url + new URL(setting.signed(elsewhere)).search, done(id))).toEqual(
			refused(401, /signed for another host.*N8N_WEBHOOK_URL/),
		);
		expect(trigger.executions()).toHaveLength(0);
	});

	it('asks the service by default, and believes what was posted when told so', async () => {
		const asking = setting.trigger();
		expect(await post(asking.url, done('made-up'))).toEqual(
			refused(404, 'the service does not know this task'),
		);
		const asked = setting.service.polls().length;
		expect(asked).toBeGreaterThan(0);
		const believing = setting.trigger({ verifyWithService: false });
		expect(await post(believing.url, { ...done('made-up'), note: 'posted' })).toEqual(RECEIVED);
		expect((await setting.item(believing)).json).toMatchObject({ note: 'posted', verified: false });
		expect(setting.service.polls()).toHaveLength(asked);
		expect(await post(believing.url, { id: 'x' })).toEqual(refused(400, 'the body is not a task'));
		expect(await post(believing.url, { id: 'x', status: 'doing' })).toEqual(
			ignored('the task is not finished (status "doing")'),
		);
	});

	it('downloads nothing for a callback that is neither verified nor signed', async () => {
		const id = await setting.task();
		const body = setting.service.payload(id);
		const open = setting.trigger({ verifyWithService: false });
		expect(await post(open.url, body)).toEqual(RECEIVED);
		const { json, binary } = await setting.item(open);
		expect(json.download_error).toMatch(
			/neither verified nor signed.*Turn on "Verify with Service", or set a Callback Secret/,
		);
		expect(json.outputs).toHaveLength(1);
		expect(binary).toBeUndefined();
		expect(setting.service.requests.filter(({ host }) => host === 'files')).toEqual([]);

		const signedOnly = setting.trigger({ verifyWithService: false }, SECRET);
		expect(await post(setting.signed(signedOnly.url), body)).toEqual(RECEIVED);
		await expectWhole(await setting.item(signedOnly));
	});

	it.each<[string, unknown, RegExp]>([
		['no JSON', 'status=done', /not a JSON object|no task id/],
		['no id', { status: 'done' }, /no task id/],
		['a path', { id: '../credits', status: 'done' }, /malformed/],
		['an oversized field', { id: 't', note: 'x'.repeat(100_001) }, /oversized/],
	])('refuses %s', async (_name, body, words) => {
		const trigger = setting.trigger();
		const answer = await setting.host.post(trigger.url, body, {
			headers: { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json' },
		});
		expect(answer).toEqual(refused(400, words));
		expect(setting.service.polls()).toHaveLength(0);
		expect(trigger.executions()).toHaveLength(0);
	});

	it('asks with what n8n has read of the credential a moment ago', async () => {
		const { service, host } = setting;
		const [before, after] = [service.addKey().key, service.addKey().key];
		const credentials = { apiKey: before, baseUrl: service.baseUrl, callbackSecret: '' };
		const trigger = host.publish({ credentials });
		expect(await post(trigger.url, done(await setting.task()))).toEqual(RECEIVED);
		credentials.apiKey = after;
		expect(await post(trigger.url, done(await setting.task()))).toEqual(RECEIVED);
		const keys = service.polls().map(({ headers }) => headers.authorization);
		expect(keys).toEqual([`Bearer ${before}`, `Bearer ${before}`]);
	});

	it('reads JSON that is not called JSON', async () => {
		const trigger = setting.trigger();
		const answer = await setting.host.post(trigger.url, done(await setting.task()), {
			headers: { 'content-type': 'application/octet-stream' },
		});
		expect(answer).toEqual(RECEIVED);
		await setting.item(trigger);
	});

	it('answers 503 where the credential can not be used, and starts nothing', async () => {
		const trigger = setting.trigger({}, 'short-secret');
		expect(await post(trigger.url, done(await setting.task()))).toEqual(
			refused(503, 'the callback could not be handled, try again'),
		);
		expect(trigger.executions()).toHaveLength(0);
		expect(setting.service.polls()).toHaveLength(0);
	});
});

describe('what is selected', () => {
	it('filters by status and by type', async () => {
		const id = await setting.task();
		const failures = setting.trigger({ statuses: ['error'] });
		expect(await post(failures.url, done(id))).toEqual(ignored('status "done" is not selected'));
		const images = setting.trigger({ options: { types: 'Image , video' } });
		expect(await post(images.url, done(id))).toEqual(
			ignored('type "sound_effect" is not selected'),
		);
		const sounds = setting.trigger({ options: { types: ' Sound_Effect ' } });
		expect(await post(sounds.url, done(id))).toEqual(RECEIVED);
		expect(failures.executions()).toHaveLength(0);
		expect(images.executions()).toHaveLength(0);
		await setting.item(sounds);
	});

	it('takes what was not selected for new when it is selected', async () => {
		const trigger = setting.trigger({ statuses: ['error'] });
		const id = await setting.task();
		await post(trigger.url, done(id));
		expect(trigger.staticData()).toEqual({});
	});
});

describe('a task that is not over by the word of the service', () => {
	it('is ignored where the callback does not say so either', async () => {
		const trigger = setting.trigger();
		const id = await setting.task({ never_ends: true });
		expect(await post(trigger.url, { id, status: 'doing' })).toEqual(
			ignored('the task is not finished (status "doing")'),
		);
		expect(setting.service.polls(id)).toHaveLength(1);
	});

	it('is looked at again where the callback was faster than the read', async () => {
		const trigger = setting.trigger();
		const id = await setting.task({ ms: 600 });
		expect(await post(trigger.url, done(id))).toEqual(RECEIVED);
		expect(setting.service.polls(id).length).toBeGreaterThan(1);
		expect((await setting.item(trigger)).json.status).toBe('done');
	});

	it('is ignored when the time is over and the service says that it runs, and takes nothing from the true one', async () => {
		const trigger = setting.trigger();
		const id = await setting.task({ never_ends: true });
		const { value, tookMs } = await hurry(async () => await post(trigger.url, done(id)));
		expect(value).toEqual(ignored('the task is not finished (status "doing")'));
		expect(tookMs).toBeLessThan(15_000);
		expect(setting.service.polls(id).length).toBeGreaterThan(3);
		expect(trigger.executions()).toHaveLength(0);
		await setting.service.finish(id);
		expect(await post(trigger.url, done(id))).toEqual(RECEIVED);
		await setting.item(trigger);
	});
});

describe('done without a file', () => {
	it('is looked at until the service names one', async () => {
		const trigger = setting.trigger();
		const id = await setting.task({ no_url_looks: 2 });
		expect(await post(trigger.url, done(id))).toEqual(RECEIVED);
		await expectWhole(await setting.item(trigger));
	});

	it('runs with a word about it when the time is over, and takes no later copy for a duplicate', async () => {
		const trigger = setting.trigger();
		const id = await setting.task({ no_url_looks: 100 });
		const { value, tookMs } = await hurry(async () => await post(trigger.url, done(id)));
		expect(value).toEqual(RECEIVED);
		expect(tookMs).toBeLessThan(15_000);
		expect(setting.service.polls(id).length).toBeGreaterThan(6);
		const { json } = await setting.item(trigger);
		expect(json.download_error).toMatch(/is done, but the service names no output file/);
		setting.service.task(id).doneLooks = 1_000;
		expect(await post(trigger.url, done(id))).toEqual(RECEIVED);
		const [, second] = trigger.executions();
		await expectWhole((await second?.settled())?.output[0]);
		expect(await post(trigger.url, done(id))).toEqual(ignored(/was received before/));
	});
});
