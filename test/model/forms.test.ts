/** Requests with files, as they leave the node: forms whose files are read twice, and what can't be sent (docs/service.md, "Forms and files"). */
import { createHash, randomBytes } from 'node:crypto';
import type { IBinaryData, INodeExecutionData } from 'n8n-workflow';
import type { FormFile } from '../../nodes/MediaGeneration/answers/request';
import { good, goOn, runNode, type Given } from './node';

type Part = [field: string, part: string | FormFile];
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const inMemory = (bytes: Buffer, fileName = 'a.png', mimeType = 'image/png') => ({
	data: bytes.toString('base64'),
	...{ mimeType, fileName },
});

/** What a service reads of a form. */
async function readForm(form: unknown) {
	const parts: Array<[string, unknown]> = [];
	for (const [field, part] of form as Iterable<Part>) {
		if (typeof part === 'string') {
			parts.push([field, part]);
			continue;
		}
		const chunks: Uint8Array[] = [];
		for await (const chunk of part.stream?.() ?? []) chunks.push(chunk);
		const { name, type, size } = part;
		parts.push([field, { name, type, size, sha256: hashOf(Buffer.concat(chunks)) }]);
	}
	return parts;
}

/** Runs the node on one item with these files. @returns also the forms that were sent */
async function sending(
	parameters: object,
	files: INodeExecutionData['binary'] = {},
	given: Partial<Given> = {},
) {
	const forms: Array<ReturnType<typeof readForm>> = [];
	const ran = await runNode({
		parameters,
		input: [{ json: {}, binary: files }],
		answer({ method, body }) {
			if (method === 'POST') forms.push(readForm(body));
			return undefined;
		},
		...given,
	});
	return { ...ran, forms: await Promise.all(forms) };
}

const [one, two] = [randomBytes(300_000), Buffer.from('två "små" bytes')];
const image = (options: object, prompt = 'Like @img1 and @img2') => ({
	...{ resource: 'image', operation: 'generate', prompt, modelId: 'm', generationsCount: 1 },
	...{ downloadOutput: false, options },
});
const references = { referenceImages: 'data, other' };

test('a try that repeats the request sends the whole files again', async () => {
	const files = { data: inMemory(one, 'one.png'), other: inMemory(two, 'två"2.jpg', 'image/jpeg') };
	const busy = { kind: 'creation/503-server-busy', created: false, retryAfter: 'none' } as const;
	const { json, forms } = await sending(image(references), files, {
		creations: [busy, busy, good],
	});
	expect(json).toMatchObject([{ status: 'done' }]);
	const first = { name: 'one.png', type: 'image/png', size: one.length, sha256: hashOf(one) };
	const second = { name: 'två"2.jpg', type: 'image/jpeg', size: two.length, sha256: hashOf(two) };
	const form = [
		['prompt', 'Like @img1 and @img2'],
		['generations_count', '1'],
		['model_id', 'm'],
		['assets', first],
		['assets', second],
	];
	expect(forms).toHaveLength(3);
	for (const each of forms) expect(each).toEqual(expect.arrayContaining(form));
});

const lost = { ...inMemory(two), id: 'filesystem-v2:gone', data: '' };
const half = inMemory(Buffer.alloc(50_000_001));
test.each<[string, IBinaryData | undefined, IBinaryData, RegExp]>([
	['no such field', undefined, inMemory(two), /^Item 0 has no file in the field "other"/],
	['a file that the store has lost', lost, inMemory(two), /^The item could not be handled: /],
	['more than 100 MB', half, half, /^The files of the request have more than 100 MB together$/],
])('%s: invalid, and nothing is sent', async (_, other, data, words) => {
	const files = { data, ...(other && { other }) };
	const { json, requests } = await sending(image(references), files, { node: goOn });
	expect(json).toMatchObject([
		{ outcome: 'invalid', error: expect.stringMatching(words) as string },
	]);
	expect(requests).toEqual([]);
});

test('a file without a name and a type has those of its field and of any bytes', async () => {
	const { forms } = await sending(image({ referenceImages: 'data' }, 'Like @img1'), {
		data: inMemory(two, '', ''),
	});
	const file = { name: 'data', type: 'application/octet-stream', size: two.length };
	expect(forms[0]).toContainEqual(['assets', expect.objectContaining(file)]);
});

test('an image goes as a form without files, where that is chosen', async () => {
	const { forms } = await sending(
		image({ bodyContentType: 'multipart-form-data' }, 'A lighthouse'),
	);
	expect(forms[0]).toContainEqual(['prompt', 'A lighthouse']);
});

describe('Task: Create', () => {
	const dubbing = (inputDataFieldName: unknown) => ({
		...{ resource: 'task', operation: 'create', path: '/v1/task/dubbing' },
		...{ bodyContentType: 'multipart-form-data', downloadOutput: false },
		body: { receive_url: 'https://n8n.example/any', num_speakers: 2, target_lang: 'fr' },
		fields: {
			field: ['de', 'a', 'b'].map((value, at) => ({
				...{ name: at === 0 ? 'target_lang' : 'tag', value },
			})),
		},
		files: { file: [{ name: 'file', inputDataFieldName, fileName: '', mimeType: 'audio/wav' }] },
	});
	const talk = inMemory(one, 'talk.mp3', 'audio/mpeg');

	test('sends rows of fields and files; under Poll with a receive_url of its own', async () => {
		const { json, forms } = await sending(dubbing('data'), { data: talk });
		expect(json).toMatchObject([{ status: 'done' }]);
		const file = { name: 'talk.mp3', type: 'audio/wav', size: one.length, sha256: hashOf(one) };
		expect(forms).toEqual([
			[
				['receive_url', 'https://n8n.example/any'],
				['num_speakers', '2'],
				['target_lang', 'de'],
				['tag', 'a'],
				['tag', 'b'],
				['file', file],
			],
		]);
	});

	test.each([[undefined], [['data']]])(
		'whose file row names no file, but %j, sends no other one',
		async (name) => {
			const { error, requests } = await sending(dubbing(name), { data: talk });
			expect(error?.message).toMatch(/^Item 0 has no file in the field ""/);
			expect(requests).toEqual([]);
		},
	);
});

test.each<[string, object, { status: number; body: object }, RegExp, RegExp]>([
	[
		'a service that lacks the operation',
		{ operation: 'transcribe' },
		{ status: 404, body: { error: 'Not found' } },
		/^The service has no 'Audio: Transcribe', or your key may not/,
		/./,
	],
	[
		'a dubbing without the address that a service demands',
		{ operation: 'dub', targetLanguage: 'de' },
		{ status: 400, body: { error: 'receive_url is required' } },
		/receive_url is required/,
		/"receive_url" is the field 'Callback URL'/,
	],
])('%s: the message names it, and nothing is paid', async (_, fields, answered, words, advice) => {
	const parameters = { resource: 'audio', inputBinaryField: 'data', ...fields };
	const { error, sent } = await sending(
		parameters,
		{ data: inMemory(two) },
		{
			answer: ({ method }) => (method === 'POST' ? answered : undefined),
		},
	);
	expect(error?.message).toMatch(words);
	expect(error?.description).toMatch(advice);
	expect(sent).toEqual([]);
});
