/** Against the services of today: forms with files, speech on either route, deletion, prices, lists that cut. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { creating, USABLE } from '../support/operations';
import { storeBinary } from './engine';
import { engineSetting, goOn } from './setting';
import type { JsonObject } from '../service';

const setting = engineSetting('today');

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const inMemory = (bytes: Buffer, fileName = 'a.png', mimeType = 'image/png') => ({
	data: bytes.toString('base64'),
	mimeType,
	fileName,
});
const itemWith = (binary: INodeExecutionData['binary'] = {}): INodeExecutionData => ({
	json: {},
	binary,
});
const sent = () => setting.service.requests.filter(({ route }) => route === 'create');

describe('an image with reference files', () => {
	const image = (options: INodeParameters, prompt = 'Like @img1 and @img2'): INodeParameters => ({
		resource: 'image',
		operation: 'generate',
		prompt,
		modelId: 'image-1',
		aspectRatio: { __rl: true, mode: 'list', value: '1:1' },
		downloadOutput: false,
		options,
	});
	const references = { referenceImages: 'data, other' };
	const [one, two] = [randomBytes(300_000), Buffer.from('två "små" bytes')];

	test('goes out as a form whose length is known, from the store and from memory', async () => {
		const stored = await storeBinary(one, 'one.png', 'image/png');
		const inputs = [itemWith({ data: stored, other: inMemory(two, 'två"2.jpg', 'image/jpeg') })];
		const { output } = await setting.run({ inputs, parameters: image(references) });
		expect(output[0]?.json).toMatchObject({ status: 'done' });
		const [request] = sent();
		expect(Number(request?.headers['content-length'])).toBeGreaterThan(300_000);
		expect(request?.headers['transfer-encoding']).toBeUndefined();
		expect(setting.bodies()).toMatchObject([
			{
				generations_count: 1,
				model_parameters: { aspect_ratio: '1:1' },
				assets: [
					{ fileName: 'one.png', type: 'image/png', sha256: hashOf(one) },
					{ fileName: 'två"2.jpg', type: 'image/jpeg', sha256: hashOf(two) },
				],
			},
		]);
	});

	test('a try that repeats the request sends the whole files again', async () => {
		const busy = { success: false, code: 'server_busy' };
		const action = { type: 'status', status: 503, body: busy } as const;
		setting.service.faults.add({ route: 'create', times: 2, action });
		const inputs = [itemWith({ data: await storeBinary(one, 'one.png', 'image/png') })];
		const { output } = await setting.run({
			inputs,
			parameters: image({ referenceImages: 'data' }, 'Like @img1'),
		});
		expect(output[0]?.json).toMatchObject({ status: 'done' });
		const files = sent().map(({ body }) => (body as { files: JsonObject[][] }).files[0]?.[1]);
		expect(files).toHaveLength(3);
		for (const file of files) expect(file).toMatchObject({ sha256: hashOf(one) });
	});

	test.each<[string, INodeParameters, INodeExecutionData['binary'], string]>([
		[
			'no such field',
			references,
			{ data: inMemory(two) },
			'Item 0 has no file in the field "other"',
		],
		[
			'a file that the store has lost',
			references,
			{ data: inMemory(two), other: { ...inMemory(two), id: 'filesystem-v2:gone', data: '' } },
			'The item could not be handled: ',
		],
		[
			'a file without content',
			references,
			{ data: inMemory(two), other: inMemory(Buffer.alloc(0)) },
			'The file "a.png" is empty',
		],
	])('%s: invalid, and nothing is sent', async (_, options, binary, message) => {
		const inputs = [itemWith(binary)];
		const { output } = await setting.run({ inputs, parameters: image(options), settings: goOn });
		const { error, outcome } = output[0]?.json ?? {};
		expect(outcome).toBe('invalid');
		expect(error).toMatch(new RegExp(`^${message.replace(/[".]/g, '.')}`));
		expect(setting.service.requests).toEqual([]);
	});

	test('more than 100 MB together: invalid, and nothing is sent', async () => {
		const half = await storeBinary(Buffer.alloc(50_000_001), 'half.png', 'image/png');
		const inputs = [itemWith({ data: half, other: half })];
		const { error } = await setting.run({ inputs, parameters: image(references) });
		expect(error?.message).toBe('The files of the request have more than 100 MB together');
		expect(setting.attempts()).toBe(0);
	});

	test('a file without a name and a type has those of its field and of any bytes', async () => {
		const inputs = [itemWith({ data: inMemory(two, '', '') })];
		await setting.run({ inputs, parameters: image({ referenceImages: 'data' }, 'Like @img1') });
		const file = { fileName: 'data', type: 'application/octet-stream', bytes: two.length };
		expect(setting.bodies()).toMatchObject([{ assets: [file] }]);
	});

	test('as a form without files, where that is chosen', async () => {
		await setting.run({
			inputs: [itemWith()],
			parameters: image({ bodyContentType: 'multipart-form-data' }, 'A lighthouse'),
		});
		expect(sent()[0]?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
		expect(setting.bodies()).toMatchObject([{ prompt: 'A lighthouse', generations_count: 1 }]);
	});
});

const dubbing = (inputDataFieldName: string): INodeParameters => ({
	resource: 'task',
	operation: 'create',
	path: '/v1/task/dubbing',
	bodyContentType: 'multipart-form-data',
	body: { receive_url: `${setting.service.otherUrl}/any`, num_speakers: 2, target_lang: 'fr' },
	fields: {
		field: ['de', 'a', 'b'].map((value, at) => ({ name: at === 0 ? 'target_lang' : 'tag', value })),
	},
	files: { file: [{ name: 'file', inputDataFieldName, fileName: '', mimeType: 'audio/wav' }] },
});

test('Task: Create with a file row whose expression names no file sends no other one', async () => {
	const inputs = [itemWith({ data: inMemory(randomBytes(9)) })];
	for (const expression of ['={{ $json.none }}', '={{ ["data"] }}']) {
		const { error } = await setting.run({ inputs, parameters: dubbing(expression) });
		expect(error?.message).toMatch(/^Item 0 has no file in the field ""/);
	}
	expect(setting.attempts()).toBe(0);
});

test('Task: Create sends rows of fields and files; under Poll with a receive_url of its own', async () => {
	const sound = randomBytes(1_000);
	const { output } = await setting.run({
		inputs: [itemWith({ data: inMemory(sound, 'talk.mp3', 'audio/mpeg') })],
		parameters: dubbing('data'),
	});
	expect(output[0]?.json).toMatchObject({ status: 'done', type: 'dubbing' });
	const file = [{ fileName: 'talk.mp3', type: 'audio/wav', bytes: 1_000, sha256: hashOf(sound) }];
	expect(setting.bodies()).toMatchObject([{ target_lang: 'de', num_speakers: '2', file }]);
	const form = sent()[0]?.body as { fields: string[][] };
	expect(form.fields.filter(([name]) => name === 'tag')).toEqual([
		['tag', 'a'],
		['tag', 'b'],
	]);
	expect(setting.service.callbacks).toHaveLength(1);
});

describe('operations', () => {
	const page = readFileSync(`${__dirname}/../../docs/service.md`, 'utf8');
	const inputs = [itemWith({ data: inMemory(randomBytes(9), 'talk.mp3', 'audio/mpeg') })];
	const audio = (operation: string, more: INodeParameters = {}) => ({
		...{ resource: 'audio', operation, inputBinaryField: 'data' },
		...more,
	});

	test.each(creating)('the stand-in and the docs know $resource: $operation', async (one) => {
		const callbackUrl = `${setting.service.otherUrl}/any`;
		const parameters = { ...USABLE, ...one, downloadOutput: false, callbackUrl };
		const { output } = await setting.run({ inputs, parameters, settings: goOn });
		expect([output[0]?.json.status, output[0]?.json.error]).toEqual(['done', undefined]);
		expect(page).toContain(sent()[0]?.url);
	});

	test('where one is missing, the message names the operation, and nothing is paid', async () => {
		setting.service.settings.moreRoutes = false;
		const { error } = await setting.run({ inputs, parameters: audio('transcribe') });
		expect(error?.message).toMatch(/^The service has no 'Audio: Transcribe', or your key may not/);
		expect(setting.service.creations()).toEqual([]);
	});

	test('a dubbing without the address that a service demands names its field', async () => {
		const { error } = await setting.run({
			inputs,
			parameters: audio('dub', { targetLanguage: 'de' }),
		});
		expect(error?.message).toMatch(/receive_url is required/);
		expect(error?.description).toMatch(/"receive_url" is the field 'Callback URL'/);
	});
});

describe('what costs nothing', () => {
	const NEVER = { stand_in: { never_ends: true } };

	test('Task: Delete ends what runs, keeps what is over, and says what came back', async () => {
		const parameters = { resource: 'task', operation: 'delete', taskId: '={{ $json.ids }}' };
		const [running, over] = [await setting.service.order(NEVER), await setting.service.order()];
		await setting.service.finish(over);
		const both = { items: [{ ids: [running, over] }] };
		const { output } = await setting.run({ ...both, parameters });
		expect(output[0]?.json).toEqual({
			deleted: true,
			task_ids: [running],
			refunded_credits: 10,
			kept: [{ task_id: over, status: 'done' }],
		});
		const again = await setting.run({ items: [{ ids: over }], parameters, settings: goOn });
		expect(again.output[0]?.json).toMatchObject({
			error: `Nothing was deleted: task ${over} has finished (done)`,
			outcome: 'invalid',
		});
		const options = { deleteFinished: true };
		const gone = await setting.run({
			items: [{ ids: over }],
			parameters: { ...parameters, options },
		});
		expect(gone.output[0]?.json).toEqual({ deleted: true, task_ids: [over], refunded_credits: 0 });
	});

	test('a task that can not be read: nothing is deleted', async () => {
		const running = await setting.service.order(NEVER);
		const { output } = await setting.run({
			parameters: { resource: 'task', operation: 'delete', taskId: `${running},unknown` },
			settings: goOn,
		});
		expect(output[0]?.json).toMatchObject({ outcome: 'unreachable', task_id: 'unknown' });
		expect(output[0]?.json.error).toMatch(/^No deletion was requested: Task unknown /);
		expect(setting.service.active).toBe(1);
	});

	test('Image: Get Price; a service without it, and without deletion, in words', async () => {
		const price = { resource: 'image', operation: 'getPrice', modelId: 'image-1' };
		const counts = { generationsCount: 2, referenceImageCount: 1 };
		const { output } = await setting.run({ parameters: { ...price, ...counts } });
		expect(output[0]?.json).toEqual({ success: true, credits: 63 });
		expect(setting.service.tasks).toEqual([]);
		const taskId = await setting.service.order(NEVER);
		setting.service.settings.moreRoutes = false;
		for (const [parameters, what] of [
			[price, 'quote image prices'],
			[{ resource: 'task', operation: 'delete', taskId }, 'delete tasks'],
		] as const) {
			const refused = await setting.run({ parameters, settings: goOn });
			expect(refused.output[0]?.json.error).toMatch(`This service can't ${what}, or `);
		}
	});
});
