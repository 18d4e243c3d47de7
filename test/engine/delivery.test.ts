/** Files that arrive: which ones, how they are typed and named, and where they lie in the items. */
import { PNG } from 'pngjs';
import { bytesOf, expectWhole, outputsOf, taskIdOf } from './files';
import { engineSetting, sound, steered } from './setting';

const setting = engineSetting();
const image = {
	resource: 'image',
	operation: 'generate',
	prompt: 'A boat',
	modelId: 'image-1',
	aspectRatio: '16:9',
	generationsCount: 4,
};

const fetched = () =>
	setting.service.requests.filter(({ route }) => route === 'file').map(({ url }) => url);

test('the bytes decide the type where the header is generic or wrong, and names fit them', async () => {
	const items = [
		{},
		{ audio: 'mp3' },
		{ audio: 'mp3', file_type: 'application/octet-stream' },
		{ audio: 'mp3', file_type: 'text/plain' },
		{ file_type: 'image/jpeg' },
	].map((stand_in) => ({ stand_in }));
	const { output } = await setting.run({ items, parameters: { ...sound(), options: steered } });
	const wav = ['audio/wav', 'wav'];
	const mp3 = ['audio/mpeg', 'mp3'];
	const expected = [wav, mp3, mp3, mp3, wav];
	expect(output).toHaveLength(expected.length);
	for (const [index, item] of output.entries()) {
		const [mimeType, extension] = expected[index] ?? [];
		const fileName = `sound_effect-${taskIdOf(item)}.${extension}`;
		expect(outputsOf(item)).toEqual([
			expect.objectContaining({ kind: 'audio', binaryProperty: 'data', fileName, mimeType }),
		]);
		// "audio" is what makes n8n's own preview play it.
		expect(item.binary?.data).toMatchObject({
			fileName,
			mimeType,
			fileExtension: extension,
			fileType: 'audio',
		});
		await expectWhole(item);
	}
});

test('four pictures are four binaries that open: no previews, no mirrored audio_url', async () => {
	const { output, error } = await setting.run({ parameters: image });
	expect(error).toBeUndefined();
	const [item] = output;
	const taskId = taskIdOf(item);
	expect(Object.keys(item?.binary ?? {})).toEqual(['data', 'data_1', 'data_2', 'data_3']);
	expect(outputsOf(item).map(({ fileName }) => fileName)).toEqual(
		[1, 2, 3, 4].map((number) => `image-${taskId}-${number}.png`),
	);
	for (const { binaryProperty, kind, mimeType } of outputsOf(item)) {
		expect([kind, mimeType]).toEqual(['image', 'image/png']);
		const { width, height } = PNG.sync.read(await bytesOf(item, binaryProperty));
		expect(width / height).toBeCloseTo(16 / 9, 1);
		expect(item?.binary?.[binaryProperty ?? '']?.fileType).toBe('image');
	}
	expect(fetched().sort()).toEqual(
		[1, 2, 3, 4].map((number) => `/files/${taskId}/image-${number}.png`),
	);
	await expectWhole(item);
});

test('splitFiles: one item per file, each with the paired item and the field it was asked for', async () => {
	const { output } = await setting.run({
		items: [{ prompt: 'A boat' }, { prompt: 'A house' }],
		parameters: {
			...image,
			prompt: '={{ $json.prompt }}',
			generationsCount: 2,
			binaryPropertyName: 'picture',
			options: { splitFiles: true },
		},
	});
	expect(output.map(({ pairedItem }) => pairedItem)).toEqual([
		{ item: 0 },
		{ item: 0 },
		{ item: 1 },
		{ item: 1 },
	]);
	for (const item of output) {
		expect(Object.keys(item.binary ?? {})).toEqual(['picture']);
		expect(outputsOf(item)).toHaveLength(1);
		await expectWhole(item);
	}
	expect(new Set(output.map((item) => outputsOf(item)[0]?.url)).size).toBe(4);
	expect(setting.service.creations()).toHaveLength(2);
});

test('transcripts are files too, and the property name is the one asked for', async () => {
	const { output } = await setting.run({
		parameters: {
			resource: 'speech',
			operation: 'generateByVoiceName',
			voice: 'en-US-AriaNeural',
			text: 'Hello there',
			withTranscript: true,
			binaryPropertyName: 'speech',
		},
	});
	const [item] = output;
	const name = `text_to_speech-${taskIdOf(item)}`;
	expect(
		outputsOf(item).map(({ kind, binaryProperty, fileName }) => [kind, binaryProperty, fileName]),
	).toEqual([
		['audio', 'speech', `${name}.wav`],
		['transcript', 'speech_1', `${name}.srt`],
		['transcript', 'speech_2', `${name}.json`],
	]);
	expect((await bytesOf(item, 'speech_1')).toString()).toContain('-->');
	expect(JSON.parse((await bytesOf(item, 'speech_2')).toString())).toBeTruthy();
	await expectWhole(item);
});

test('output_uri at the root, further files under other names, each file once', async () => {
	setting.service.settings.outputAtRoot = true;
	const { output } = await setting.run({
		items: [{ stand_in: { files: 3 } }],
		parameters: { ...sound(), options: steered },
	});
	expect(Object.keys(output[0]?.binary ?? {})).toEqual(['data', 'data_1', 'data_2']);
	expect(fetched()).toHaveLength(3);
	await expectWhole(output[0]);
});

test('downloadOutput off: nothing is fetched, the addresses are in the outputs', async () => {
	const { output } = await setting.run({ parameters: { ...image, downloadOutput: false } });
	expect(output[0]?.binary).toBeUndefined();
	expect(outputsOf(output[0])).toEqual(
		[1, 2, 3, 4].map((number) => ({
			url: `${setting.service.fileUrl}/files/${taskIdOf(output[0])}/image-${number}.png`,
			kind: 'image',
		})),
	);
	expect(fetched()).toHaveLength(0);
});

test('task: wait delivers the same, and pays nothing', async () => {
	const created = await setting.run({ parameters: { ...image, waitForCompletion: false } });
	const waiting = { resource: 'task', operation: 'wait', taskId: '={{ $json.task_id }}' };
	const { output } = await setting.run({ inputs: created.output, parameters: waiting });
	expect(Object.keys(output[0]?.binary ?? {})).toEqual(['data', 'data_1', 'data_2', 'data_3']);
	expect(output[0]?.json.task_id).toBe(created.output[0]?.json.task_id);
	await expectWhole(output[0]);
	expect(setting.service.creations()).toHaveLength(1);
});

test('redirects to a third host are followed without the key', async () => {
	setting.service.settings.fileRedirect = 'otherHost';
	const { output } = await setting.run({ parameters: image });
	await expectWhole(output[0]);
	const others = setting.service.requests.filter(({ host }) => host === 'other');
	expect(others.length).toBeGreaterThanOrEqual(4);
	expect(others.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
});
