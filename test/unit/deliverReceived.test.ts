/** What the trigger's execution makes of a received task (docs/trigger.md, "What it trusts" and "Files"). */
import { Readable } from 'node:stream';
import type { IDataObject } from 'n8n-workflow';
import { deliverReceived } from '../../nodes/MediaGeneration/trigger/deliverReceived';
import { fakeN8n } from '../support/n8n';

const FILE = 'https://files.example/a.png';
const PNG = Buffer.from('\x89PNG\r\n\x1a\n\0 picture', 'latin1');
const TASK = { id: 't1', status: 'done', type: 'image', metadata: { output_url: FILE } };
const RECEIVED = { task_id: 't1', task: TASK, verified: true, signed: false };

interface Setting {
	items: IDataObject[];
	parameters?: IDataObject;
	baseUrl?: string;
	status?: number;
}

async function delivered({ items, parameters = {}, baseUrl, status = 200 }: Setting) {
	const { context, asked } = fakeN8n({
		credential: baseUrl === undefined ? new Error('the credential is gone') : { baseUrl },
		http: () => ({
			statusCode: status,
			headers: { 'content-type': 'image/png', 'content-length': String(PNG.length) },
			body: Readable.from([PNG], { objectMode: false }),
		}),
		input: items.map((json) => ({ json })),
		parameters,
	});
	const made = await deliverReceived(context);
	return { items: made, item: made[0], asked: asked.map(({ url }) => url) };
}
const SERVICE = 'https://api.example';

test.each<[string, object, boolean]>([
	['verified', { verified: true, signed: false }, true],
	['signed', { verified: false, signed: true }, true],
	['neither', { verified: false, signed: false }, false],
	['something else than that', { verified: 'true', signed: 1 }, false],
])('%s: whether its files are fetched', async (_name, trust, fetched) => {
	const { item, asked } = await delivered({ items: [{ ...RECEIVED, ...trust }], baseUrl: SERVICE });
	expect(asked).toEqual(fetched ? [FILE] : []);
	expect(item?.binary === undefined).toBe(!fetched);
	expect(item?.json.outputs).toHaveLength(1);
	for (const name of ['signed', 'task']) expect(item?.json).not.toHaveProperty(name);
	if (fetched) expect(item?.json).not.toHaveProperty('download_error');
	else
		expect(item?.json.download_error).toMatch(
			/not downloaded: this callback was neither verified nor signed.*Verify with Service.*Callback Secret/,
		);
});

test.each<[IDataObject, string[], boolean]>([
	[{ downloadOutput: false }, [], false],
	[{ outputBinaryField: 'picture' }, [FILE], true],
])("the trigger's own settings count: %j", async (parameters, requests, fetched) => {
	const trust = { verified: fetched };
	const { item, asked } = await delivered({ items: [{ ...RECEIVED, ...trust }], parameters });
	expect(asked).toEqual(requests);
	expect(Object.keys(item?.binary ?? {})).toEqual(fetched ? ['picture'] : []);
	// Nobody asked for files, so that there is nothing to explain.
	expect(item?.json).not.toHaveProperty('download_error');
});

test.each<[IDataObject, string]>([
	[{ reference: 'a/b' }, 'order a_b t1.png'],
	[{}, 'order t1.png'],
])('File Name stands for the values of the event: %j', async (event, name) => {
	const parameters = { options: { fileName: 'order {reference} {task_id}' } };
	const { item } = await delivered({ items: [{ ...RECEIVED, ...event }], parameters });
	expect(item?.binary?.data?.fileName?.replace(/ +/g, ' ')).toBe(name);
});

test('a file that is gone: the item goes out with its address and the reason', async () => {
	const { item } = await delivered({ items: [RECEIVED], status: 410 });
	expect(item).not.toHaveProperty('binary');
	expect(item?.json).toMatchObject({
		...{ task_id: 't1', verified: true, outputs: [{ url: FILE }] },
		download_error: expect.stringContaining('410') as string,
	});
});

test.each<[IDataObject]>([[{ other: 1 }], [{ task_id: 't1' }], [{ task: TASK }]])(
	'what the trigger did not receive passes as it is: %j',
	async (json) => {
		const { items } = await delivered({ items: [json, RECEIVED] });
		expect(items).toMatchObject([{ json }, { json: { task_id: 't1' } }]);
		expect(items[0]?.json).toEqual(json);
	},
);

test.each([
	['has failed', { id: 't1', status: 'error', error: 'no luck', outcome: 'none' }],
	['goes on', { id: 't1', status: 'doing', type: 'image' }],
])('a task that %s goes out as it is, and has no files to be fetched', async (_, task) => {
	const items = [true, false].map((verified) => ({ ...RECEIVED, task, verified }));
	const { items: made, asked } = await delivered({ items, baseUrl: SERVICE });
	for (const { json } of made) {
		expect(json).toMatchObject({ ...task, task_id: 't1', outputs: [] });
		expect(json).not.toHaveProperty('download_error');
	}
	expect(asked).toEqual([]);
});

test('a task without files says so', async () => {
	const task = { ...TASK, metadata: 'odd' };
	const { item } = await delivered({ items: [{ ...RECEIVED, task }], baseUrl: SERVICE });
	expect(item?.json.download_error).toMatch(/^Task t1 is done, but .* its metadata is empty$/);
	expect(item?.json.outputs).toEqual([]);
});

test.each<[string, string | undefined, boolean]>([
	['a private service', 'http://10.0.0.1', true],
	['a public service', SERVICE, false],
	['a credential that can not be read any more', undefined, false],
])('a private address is asked only with %s', async (_name, baseUrl, asks) => {
	const url = 'http://10.0.0.2/a.png';
	const task = { ...TASK, metadata: { output_url: url } };
	const { item, asked } = await delivered({ items: [{ ...RECEIVED, task }], baseUrl });
	expect(asked).toEqual(asks ? [url] : []);
	expect(item?.json.download_error !== undefined).toBe(!asks);
});
