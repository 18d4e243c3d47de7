/** The workflow setting "binaryMode: combined": n8n moves each item's files into its JSON, and they are found there. */
import type { IBinaryData, INodeExecutionData } from 'n8n-workflow';
import { toneWav } from '../service/media/tone';
import { picturePng } from '../service/media/picture';
import { readBinary, storeBinary } from './engine';
import { outputsOf } from './files';
import { engineSetting, goOn } from './setting';

const setting = engineSetting('today');
const binaryMode = 'combined' as const;

const withFile = async (
	bytes: Buffer,
	name: string,
	type: string,
): Promise<INodeExecutionData> => ({
	json: {},
	binary: { data: await storeBinary(bytes, name, type) },
});
const filesOf = (item: INodeExecutionData | undefined) => {
	expect(item?.binary).toBeUndefined();
	return (item?.json._files ?? {}) as unknown as Record<string, IBinaryData>;
};

test('Audio: Join joins them, captions too', async () => {
	const srt = Buffer.from('1\n00:00:00,000 --> 00:00:00,200\nHello\n');
	const spoken = async (text: string): Promise<INodeExecutionData> => {
		const { binary } = await withFile(toneWav(text), 'a.wav', 'audio/wav');
		return {
			json: {},
			binary: { ...binary, 'my "words".v1': await storeBinary(srt, 'a.srt', '') },
		};
	};
	const inputs = [await spoken('Once'), await spoken('upon a time')];
	const parameters = { resource: 'audio', operation: 'join', inputBinaryField: 'data' };
	const { output, error } = await setting.run({ inputs, parameters, binaryMode });
	expect(error).toBeUndefined();
	const files = filesOf(output[0]);
	expect(Object.keys(files)).toEqual(['data', 'data_1']);
	const [outputs, bytes] = [outputsOf(output[0]), await readBinary(files.data as IBinaryData)];
	expect(outputs.map(({ kind }) => kind)).toEqual(['audio', 'transcript']);
	expect(bytes.length).toBe(outputs[0]?.fileSize);
});

test.each(['data', '_files.data'])(
	'a form and a reference image send one by "%s"',
	async (name) => {
		const inputs = [
			await withFile(picturePng('a', 0, { width: 8, height: 8 }), 'a.png', 'image/png'),
		];
		const image = { resource: 'image', operation: 'generate', modelId: 'image-1', prompt: '@img1' };
		const parameters = { ...image, options: { referenceImages: name } };
		const { error } = await setting.run({ inputs, parameters, binaryMode });
		expect(error).toBeUndefined();
		expect(JSON.stringify(setting.bodies())).toMatch(/a\.png/);
	},
);

test.each([
	[false, [['data', 'data_1']]],
	[true, [['data'], ['data']]],
])(
	'Task: Wait passes on an item with its files, and asks nothing; Split Files: %s',
	async (splitFiles, fields) => {
		const names = ['data', 'data_1'];
		const outputs = names.map((binaryProperty) => ({ url: binaryProperty, binaryProperty }));
		const { binary } = await withFile(toneWav('Done'), 'a.wav', 'audio/wav');
		const files = { data: binary?.data as IBinaryData, data_1: binary?.data as IBinaryData };
		const inputs = [{ json: { task_id: 't', status: 'done', outputs }, binary: files }];
		const parameters = {
			resource: 'task',
			operation: 'wait',
			taskId: 't',
			options: { splitFiles, includeInput: true },
		};
		const { output } = await setting.run({ inputs, parameters, binaryMode });
		expect(output.map((item) => Object.keys(filesOf(item)))).toEqual(fields);
		expect(filesOf(output[0]).data?.id).toBe(binary?.data?.id);
		// The files of the input are not carried.
		expect(output.map(({ json }) => json.input)).toEqual(fields.map(() => inputs[0]?.json));
		expect(setting.service.requests).toEqual([]);
	},
);

test('without the setting, JSON that came from outside leads to no file', async () => {
	const { binary } = await withFile(toneWav('Secret'), 'a.wav', 'audio/wav');
	const inputs = [{ json: { _files: binary as never } }];
	const parameters = { resource: 'audio', operation: 'join', inputBinaryField: 'data' };
	const { output } = await setting.run({ inputs, parameters, settings: goOn });
	expect(output).toMatchObject([{ json: { outcome: 'invalid' } }]);
	expect(output[0]?.binary).toBeUndefined();
});
