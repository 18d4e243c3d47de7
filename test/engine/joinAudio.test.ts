/** Audio: Join puts the audio of any items together; it needs no credential and sends nothing. */
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { toneHz, toneWav } from '../service/media/tone';
import { decodeWav, toneAt } from '../unit/media/listen';
import { readBinary } from './engine';
import { engineSetting, goOn } from './setting';

const setting = engineSetting();
const join: INodeParameters = { resource: 'audio', operation: 'join' };

/** An item with a tone, kept in the item itself. */
function spoken(
	text: string,
	json: INodeExecutionData['json'] = {},
	rate = 16_000,
): INodeExecutionData {
	const data = toneWav(text, rate).toString('base64');
	return { json, binary: { data: { data, mimeType: 'audio/wav', fileName: `${text}.wav` } } };
}

function captioned(text: string): INodeExecutionData {
	const srt = `1\n00:00:00,000 --> 00:00:00,200\n${text}\n`;
	const item = spoken(text);
	const data = Buffer.from(srt).toString('base64');
	return {
		...item,
		binary: {
			...item.binary,
			data_1: { data, mimeType: 'application/x-subrip', fileName: 'a.srt' },
		},
	};
}

test('all items together, in order, each where the item says', async () => {
	const words = ['one', 'two', 'three'];
	const { output, error } = await setting.run({
		inputs: words.map((word) => spoken(word)),
		parameters: { ...join, fileName: 'dialogue', options: { pauseBetweenParts: 250 } },
	});
	expect(error).toBeUndefined();
	expect(output).toHaveLength(1);
	const [item] = output;
	expect(item?.pairedItem).toEqual([{ item: 0 }, { item: 1 }, { item: 2 }]);
	expect(item?.json.outputs).toMatchObject([
		{ kind: 'audio', fileName: 'dialogue.wav', binaryProperty: 'data' },
	]);
	const binary = item?.binary?.data;
	if (binary === undefined) throw new Error('no file');
	const heard = decodeWav(await readBinary(binary));
	expect(heard.samples.length / heard.sampleRate).toBeCloseTo(
		Number(item?.json.duration_seconds),
		3,
	);
	const parts = item?.json.parts as unknown as Array<{ item: number; start: number }>;
	expect(parts.map(({ start }) => toneAt(heard, start + 0.05))).toEqual(words.map(toneHz));
	expect(parts.map((part) => part.item)).toEqual([0, 1, 2]);
	expect(setting.service.requests).toEqual([]);
});

test('one file for each group, in the order in which they come', async () => {
	const { output } = await setting.run({
		inputs: [spoken('a', { of: 'x' }), spoken('b', { of: 'y' }), spoken('c', { of: 'x' })],
		parameters: { ...join, groupBy: '={{ $json.of }}' },
	});
	expect(output.map(({ json, pairedItem }) => [json.group, pairedItem])).toEqual([
		['x', [{ item: 0 }, { item: 2 }]],
		['y', [{ item: 1 }]],
	]);
});

test('subtitles are merged where each item has some', async () => {
	const { output } = await setting.run({
		inputs: [captioned('one'), captioned('two')],
		parameters: join,
	});
	const srt = output[0]?.binary?.data_1;
	if (srt === undefined) throw new Error('no subtitles');
	const text = (await readBinary(srt)).toString();
	expect(text).toMatch(/^1\r?\n00:00:00,000 --> 00:00:00,200\r?\none\r?\n\r?\n2\r?\n/);
	const some = await setting.run({
		inputs: [captioned('one'), spoken('two')],
		parameters: join,
	});
	expect(Object.keys(some.output[0]?.binary ?? {})).toEqual(['data']);
});

const bad: Array<[string, INodeExecutionData[], INodeParameters, RegExp]> = [
	['no binary data', [{ json: {} }], {}, /Item 0 has no binary field "data"/],
	[
		'another field',
		[spoken('a')],
		{ inputBinaryField: 'sound' },
		/Item 0 has no binary field "sound"/,
	],
	[
		'another format',
		[spoken('a'), spoken('b', {}, 8_000)],
		{},
		/can't be joined: Item 1 can't be joined.*8,000 Hz instead of 16,000 Hz/,
	],
	[
		'what is not audio',
		[
			spoken('a'),
			{ json: {}, binary: { data: { data: 'aGVsbG8gd29ybGQ=', mimeType: 'text/plain' } } },
		],
		{},
		/Item 1 can't be joined.*not an MP3 or WAV file/,
	],
	[
		'a group that is an object',
		[spoken('a')],
		{ groupBy: '={{ $json }}' },
		/"Group By" is not a text/,
	],
	['a pause below 0', [spoken('a')], { options: { pauseBetweenParts: -5 } }, /from 0 to 60000/],
];
test.each(bad)('%s is refused in words', async (_, inputs, parameters, message) => {
	const { error } = await setting.run({ inputs, parameters: { ...join, ...parameters } });
	expect(error?.message).toMatch(message);
	expect(error?.description).toBeTruthy();
	const { output } = await setting.run({
		inputs,
		parameters: { ...join, ...parameters },
		settings: goOn,
	});
	expect(output[0]?.json.outcome).toBe('invalid');
});
