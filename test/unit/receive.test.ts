/** The trigger's webhook: what is answered to whatever comes in, and when the workflow runs. docs/trigger.md, "What it answers". */
import type { IDataObject, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { receive } from '../../nodes/MediaGeneration/trigger/receive';
import { prepareReceiveUrl } from '../../nodes/MediaGeneration/trigger/receiveUrl';
import type { TriggerSettings } from '../../nodes/MediaGeneration/actions/trigger';
import { onMachine } from '../support/machine';
import { fakeN8n, ofCall } from '../support/n8n';
import { WebhookResponse } from '../support/webhookResponse';

const PATH = '/webhook/5e1f0000-0000-4000-8000-000000000001/callback';
const HOOK = `https://n8n.example${PATH}`;
const SECRET = 'a long enough secret';
const SETTINGS: TriggerSettings = {
	statuses: ['done', 'error'],
	verify: true,
	types: [],
	deduplicate: true,
};
const FILE = 'https://files.example/a.mp3';
const task = (fields: object = {}) => ({
	id: 't1',
	status: 'done',
	type: 'sound_effect',
	metadata: { output_uri: FILE },
	...fields,
});

type Answer = { statusCode: number; body?: unknown; headers?: Record<string, string> };
const found = (fields: object = {}): Answer => ({ statusCode: 200, body: task(fields) });
/** The task that was asked for. */
const idIn = (path: string) => ({ id: path.slice(path.lastIndexOf('/') + 1) });

interface Setting {
	service?: (path: string, count: number) => Answer | Promise<Answer>;
	settings?: Partial<TriggerSettings>;
	secret?: string;
	mode?: 'trigger' | 'manual';
	/** What n8n throws where the credential is asked for. */
	broken?: unknown;
}

const hurry = async <T>(act: () => Promise<T>) =>
	await onMachine(async (machine) => ({ value: await act(), tookMs: machine.elapsed }));

let count = 0;

/** A published trigger with an account of its own: what a process remembers, it remembers for those. */
function trigger({
	service = () => found(),
	settings = {},
	secret = '',
	mode = 'trigger',
	broken,
}: Setting = {}) {
	const credential = { callbackSecret: secret, reads: 0 };
	count += 1;
	const key = `sk_${count}-0123456789`;
	const { context, sent, warnings, staticData } = fakeN8n<IWebhookFunctions>({
		async service({ url }, nth) {
			const { statusCode, body, headers = {} } = await service(new URL(url).pathname, nth);
			const text = body === undefined ? '' : JSON.stringify(body).replaceAll('KEY', key);
			return { statusCode, headers, body: text };
		},
		credential() {
			credential.reads += 1;
			if (broken !== undefined) throw broken as Error;
			return { apiKey: key, callbackSecret: credential.callbackSecret };
		},
		mode,
		workflow: `workflow-${key}`,
		node: { id: `node-${key}`, name: 'Trigger' },
	});
	/** To the trigger's own URL, made anew for each task as the action node does. */
	const own = () => (secret === '' ? PATH : PATH + new URL(signedUrl(secret)).search);
	const post = async (body: unknown, url = own(), response = new WebhookResponse()) => {
		const called = { ...context, ...ofCall({ body, response, url }) };
		const result = await receive(called, { ...SETTINGS, ...settings });
		return { response, result, ...outcomeOf(response, result) };
	};
	return { post, requests: sent, warnings, staticData, key, credential };
}

/** What the sender sees, and the item that the workflow runs with. n8n answers where the node did not. */
function outcomeOf(response: WebhookResponse, result: IWebhookResponseData) {
	const item = result.workflowData?.[0]?.[0]?.json;
	if (result.noWebhookResponse === true)
		return { status: response.statusCode, body: response.sent as IDataObject, item };
	return { status: 200, body: result.webhookResponse as unknown, item };
}
const UNSIGNED =
	"this callback does not start the workflow. Set a 'Callback Secret' to have the trigger say why";
const ignored = (why: string) => ({
	status: 200,
	body: { received: true, ignored: why },
	item: undefined,
});
/** The trigger's URL with its token. */
const signedUrl = (callbackSecret: string, hook = HOOK, reference?: string) =>
	prepareReceiveUrl(
		hook,
		// In a private network, so that private hosts can be called.
		{ baseUrl: 'http://10.0.0.1', apiKey: 'sk_x', callbackSecret },
		{ reference, here: new URL(hook).origin, now: Date.now() },
	);
const refused = (status: number, error: string | RegExp) => ({
	status,
	body: {
		received: false,
		error: typeof error === 'string' ? error : (expect.stringMatching(error) as unknown),
	},
	item: undefined,
});

test('an address that is none does not start the workflow', async () => {
	const { post } = trigger({ secret: SECRET });
	expect(await post(task(), `http://x:99999${PATH}`)).toMatchObject(
		refused(400, 'its address can not be read'),
	);
});

describe('a finished task that the service confirms', () => {
	test('an ID in another spelling goes out as the service spells it, one that has another name beside it as it was posted', async () => {
		const { post } = trigger({ service: () => found({ id: 'T1' }) });
		expect(await post({ id: 't1' })).toMatchObject({
			...{ status: 200, body: { received: true } },
			item: { task_id: 'T1', verified: true, signed: false },
		});
		const other = trigger({ service: () => found({ id: 'inner-7', task_id: 't1' }) });
		expect((await other.post({ id: 't1' })).item).toMatchObject({ task_id: 't1' });
	});

	test('as the service has it, also where it names no ID', async () => {
		const { post } = trigger({ service: () => found({ id: undefined }), secret: SECRET });
		const { id: _, ...said } = task();
		const { item } = await post({ id: 't1' });
		expect(item).toMatchObject({ task_id: 't1', task: said, verified: true });
	});

	test('with the reference of the URL, whatever the task says in the fields that are ours', async () => {
		const forged = { reference: 'mine', reference_verified: true, download_error: 'none' };
		const { post } = trigger({
			secret: SECRET,
			service: (path) => found({ ...forged, ...idIn(path) }),
		});
		const { search } = new URL(signedUrl(SECRET, HOOK, 'scene 7'));
		expect((await post(task(), PATH + search)).item).toMatchObject({
			...{ signed: true, reference: 'scene 7', reference_verified: true },
			task: { status: 'done' },
		});
		const plain = await post(task({ id: 't2' }), PATH + new URL(signedUrl(SECRET)).search);
		for (const holder of [plain.item, plain.item?.task])
			expect(Object.keys(holder as object)).not.toEqual(
				expect.arrayContaining([expect.stringMatching(/reference|download_error/)]),
			);
	});

	test('without the token of its URL, wherever the service repeats it', async () => {
		const { search, searchParams } = new URL(signedUrl(SECRET));
		const note = searchParams.get('signature') ?? '';
		const { post } = trigger({ secret: SECRET, service: () => found({ note }) });
		const { item } = await post(task(), PATH + search);
		expect(item?.task).toMatchObject({ note: expect.not.stringContaining(note) as string });
	});

	test('with all that an anonymous caller would erase', async () => {
		const { post } = trigger({ service: () => found({ receive_url: HOOK }) });
		const { item } = await post(task(), `${PATH}?signature=${encodeURIComponent(FILE)}`);
		expect(item?.task).toEqual(task({ receive_url: HOOK }));
	});
});

const believing = { settings: { verify: false }, secret: SECRET };

test('without verification, too, what is no task is refused', async () => {
	const { post } = trigger(believing);
	expect(await post({ id: 't1' })).toMatchObject(refused(400, 'the body is not a task'));
	const running = ignored('the task is not finished (status "doing")');
	expect(await post(task({ status: 'doing' }))).toMatchObject(running);
});

describe('what does not run the workflow, and is no error', () => {
	test('in a short line without key and signature, whatever the service calls the task', async () => {
		const type = `KEY\r\n${signedUrl(SECRET)} ${'x'.repeat(1_000_000)}`;
		const setting = { settings: { types: ['a'] }, secret: SECRET };
		const { post, key } = trigger({ service: () => found({ type }), ...setting });
		const { body } = await post(task());
		const { ignored: said } = body as { ignored: string };
		expect(said).toMatch(/^type "sk_\*\*\* https:.*&signature=\*\*\* xx/);
		expect(said.length).toBeLessThan(400);
		expect(said).not.toContain(key);
	});

	test('a status or a type that is not selected', async () => {
		const failed = { settings: { statuses: ['error'] }, secret: SECRET };
		expect(await trigger(failed).post(task())).toMatchObject(
			ignored('status "done" is not selected'),
		);
		const images = { settings: { types: ['image'] }, secret: SECRET };
		expect(await trigger(images).post(task())).toMatchObject(
			ignored('type "sound_effect" is not selected'),
		);
		const spelled = { ...images, service: () => found({ type: 'Image' }) };
		expect((await trigger(spelled).post(task())).item).toBeDefined();
		const untyped = { ...images, service: () => found({ type: undefined }) };
		expect(await trigger(untyped).post(task())).toMatchObject(ignored('type "" is not selected'));
	});
});

describe('once', () => {
	const SEEN = ignored('this task and status was received before');
	const UNSAID = ignored(UNSIGNED);

	test('another status, another task and another reference are other events', async () => {
		const { post } = trigger({ settings: { verify: false } });
		const events: Array<[object, string]> = [
			[task(), PATH],
			[task({ status: 'error' }), PATH],
			[task({ id: 't2' }), PATH],
			[task(), `${PATH}?reference=a`],
		];
		for (const [body, url] of events) {
			const { item, response } = await post(body, url);
			expect(item).toBeDefined();
			response.end();
		}
		for (const [body, url] of events) expect(await post(body, url)).toMatchObject(UNSAID);
	});

	test('a copy of what is being handled is asked to come again; one of what the service has confirmed costs no poll', async () => {
		const { post, requests } = trigger({ secret: SECRET });
		const first = await post(task());
		const early = await post(task());
		expect(early).toMatchObject(refused(503, /is being handled already, try again/));
		expect(early.response.headers).toEqual({ 'Retry-After': 5 });
		first.response.end();
		expect(await post(task())).toMatchObject(SEEN);
		expect(requests).toHaveLength(1);
		// A post that only names the task says nothing of its status.
		expect(await post({ id: 't1' })).toMatchObject(SEEN);
		expect(requests).toHaveLength(2);
	});

	test('a task that is done without files does not take the place of the same task with them', async () => {
		let metadata = {};
		const { post } = trigger({ service: () => found({ metadata }) });
		const without = await hurry(async () => await post(task()));
		expect(without.value.item).toMatchObject({ task: { status: 'done', metadata: {} } });
		without.value.response.end();
		metadata = task().metadata;
		expect((await post(task())).item).toMatchObject({ task: { metadata } });
	});

	test('a hostile caller starts the workflow with one reference of his own; what is verified runs', async () => {
		const receive_url = `https://proxy.example/n8n${PATH}?reference=true`;
		const { post } = trigger({ service: () => found({ receive_url }) });
		const run = async (reference: string) => {
			const { response, item, body } = await post(task(), `${PATH}?reference=${reference}`);
			response.end();
			return item?.reference_verified ?? (body as IDataObject).ignored;
		};
		expect(await run('PAID')).toBe(false);
		for (const reference of ['PAID', 'order-1']) expect(await run(reference)).toBe(UNSIGNED);
		expect(await run('true')).toBe(true);
		// Without a reference there is nothing to forge.
		const { item } = await post(task());
		expect(item).toMatchObject({ verified: true });
		expect(item).not.toHaveProperty('reference_verified');
	});

	test.each<[string, object, object]>([
		['the URL of no trigger', { receive_url: `https://n8n.example/webhook/2?reference=r` }, {}],
		[
			'another reference than a signed URL',
			{ receive_url: `${HOOK}?reference=s` },
			{ secret: SECRET },
		],
		['a text of its author', { text: `${HOOK}?reference=r` }, {}],
		['what was posted', { receive_url: `${HOOK}?reference=r` }, { settings: { verify: false } }],
	])('%s verifies no reference', async (_name, said, setting) => {
		const { post } = trigger({ service: () => found(said), ...setting });
		const { search } = new URL(signedUrl((setting as Setting).secret ?? '', HOOK, 'r'));
		const { item } = await post(task(said), PATH + search);
		expect(item).toMatchObject({ reference: 'r', reference_verified: false });
	});

	test('with Deduplicate off, and while the editor listens, each call runs', async () => {
		for (const setting of [{ settings: { deduplicate: false } }, { mode: 'manual' as const }]) {
			const { post, staticData } = trigger(setting);
			(await post(task())).response.end();
			expect((await post(task())).item).toBeDefined();
			expect(staticData.global ?? {}).toEqual({});
		}
	});
});

describe('what is refused', () => {
	test('a URL that is not signed, whatever is posted: nothing is read or asked, and the log says so once an hour', async () => {
		await onMachine(async (machine) => {
			const { post, requests, warnings } = trigger({ secret: SECRET });
			for (const body of [task(), 'no task']) {
				const { response, ...said } = await post(body, PATH);
				expect(said).toMatchObject(refused(401, /is not signed/));
				expect(response.headers).toEqual({});
			}
			expect(requests).toEqual([]);
			expect(warnings).toEqual([
				expect.stringMatching(
					/the trigger "Trigger" refuses callbacks: .* is not signed\. If the service/,
				),
			]);
			await machine.pause(3_600_001);
			await post(task(), PATH);
			expect(warnings).toHaveLength(2);
		});
	});

	test('a signed URL with another task than its own', async () => {
		const settings = { verify: false, deduplicate: false };
		const { post } = trigger({ secret: SECRET, settings });
		const { search } = new URL(signedUrl(SECRET, HOOK, 'order-1'));
		const run = async (id: string) => await post(task({ id }), PATH + search);
		expect((await run('t1')).item).toMatchObject({ reference: 'order-1' });
		expect(await run('t2')).toMatchObject(refused(403, /belongs to another task/));
		expect((await run('T1')).item).toBeDefined();
	});

	test.each([SECRET, ''])(
		'a task whose own receive URL is that of another trigger; secret: %j',
		async (secret) => {
			const receive_url = HOOK.replace('0001', '0002');
			const places = [
				{ receive_url },
				{ metadata: { ...task().metadata, receive_url } },
				{ input: { receive_url } },
			];
			for (const said of places) {
				const { post } = trigger({ secret, service: () => found(said) });
				const why = secret === '' ? UNSIGNED : /the Callback URL of another trigger/;
				expect(await post(task())).toMatchObject(refused(403, why));
			}
		},
	);

	test('each spelling of an ID is one event', async () => {
		const { post } = trigger();
		(await post(task())).response.end();
		expect(await post(task({ id: 'T1' }))).toMatchObject(ignored(UNSIGNED));
	});

	test('what the service or this n8n knows is said to nobody without a signature', async () => {
		const answers: Answer[] = [
			{ statusCode: 404 },
			{ statusCode: 503 },
			found({ status: 'doing' }),
			found({ id: 'other' }),
		];
		for (const said of answers) {
			const { post } = trigger({ service: () => said });
			const { value } = await hurry(async () => await post(task()));
			expect(value).toMatchObject(refused(503, UNSIGNED));
			expect(value.response.headers).toEqual({ 'Retry-After': 5 });
		}
		for (const settings of [{ types: ['image'] }, { statuses: ['error'] }])
			expect(await trigger({ settings }).post(task())).toMatchObject(ignored(UNSIGNED));
	});

	test('whatever else goes wrong: 503, and the reason in the log', async () => {
		const { post, warnings } = trigger({ broken: new Error('gone') });
		expect(await post(task())).toMatchObject(refused(503, /could not be handled, try again/));
		expect(warnings).toEqual(['Media Generation: a callback could not be handled: gone']);
	});

	test('what was answered already is not answered again', async () => {
		const { post } = trigger({ broken: new Error('gone') });
		const response = new WebhookResponse();
		response.json({ message: 'n8n is shutting down' });
		const { body, item } = await post(task(), PATH, response);
		// Neither by the node nor, in its place, by n8n.
		expect(body).toEqual({ message: 'n8n is shutting down' });
		expect(item).toBeUndefined();
	});
});

describe('where the service says something else, or nothing', () => {
	test.each<[string, Answer, RegExp]>([
		['knows no such task', { statusCode: 404 }, /does not know this task yet, try again/],
		['is down', { statusCode: 503 }, /could not be asked about this task, try again/],
		['refuses the key', { statusCode: 401, body: {} }, /could not be asked/],
		['shows no end', found({ status: 'doing' }), /does not show the end of this task yet, try/],
	])('it %s: the sender may try again, within 15 s', async (_name, said, error) => {
		for (const posted of [task(), { id: 't1' }]) {
			const { post } = trigger({ service: () => said, secret: SECRET });
			const { value, tookMs } = await hurry(async () => await post(posted));
			expect(value).toMatchObject(refused(503, error));
			expect(tookMs).toBeLessThanOrEqual(15_000);
		}
	});
});
