/** Long texts are cut, spoken in parts and joined; Audio: Join does the same for the audio of any items. */
import type { IBinaryData, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { toneHz, toneWav } from '../service/media/tone';
import { decodeMp3, decodeWav, toneAt } from '../unit/media/listen';
import { readBinary } from './engine';
import { engineSetting } from './setting';
import { until } from './until';

const setting = engineSetting();

describe('long texts', () => {
	/** Three paragraphs of about 70 characters. */
	const PARAGRAPHS = ['one', 'two', 'three'].map(
		(name) => `This is paragraph ${name} of a text that is longer than one request takes.`,
	);
	const text = PARAGRAPHS.join('\n\n');
	const speech = {
		resource: 'speech',
		operation: 'generateByVoiceName',
		voice: 'en-US-AriaNeural',
		text,
		longText: 'join',
		options: { maxCharacters: 80 },
	};

	interface Times {
		start: number;
		end: number;
	}

	function firstOf([item]: INodeExecutionData[]): INodeExecutionData {
		if (item === undefined) throw new Error('no item');
		return item;
	}

	async function bytesOf(binary: IBinaryData | undefined): Promise<Buffer> {
		if (binary === undefined) throw new Error('no file');
		return await readBinary(binary);
	}

	test.each(['wav', 'mp3', 'mp3_vbr'] as const)(
		'%s: the file decodes without a complaint, and each part is heard where the item says',
		async (audioFormat) => {
			setting.service.settings.audioFormat = audioFormat;
			const options = { maxCharacters: 80, pauseBetweenParts: 500 };
			const { output } = await setting.run({ parameters: { ...speech, options } });
			const { json, binary } = firstOf(output);
			const bytes = await bytesOf(binary?.data);
			const heard = audioFormat === 'wav' ? decodeWav(bytes) : await decodeMp3(bytes);
			expect(heard.errors).toEqual([]);
			// A decoder may leave the encoder's delay and padding out, which is at most two frames.
			expect(heard.samples.length / heard.sampleRate).toBeCloseTo(Number(json.duration_seconds), 1);
			const parts = json.parts as unknown as Times[];
			expect(parts.map(({ start }) => toneAt(heard, start + 0.15))).toEqual(PARAGRAPHS.map(toneHz));
			const pauses = parts.slice(1).map(({ start }, index) => start - (parts[index]?.end ?? 0));
			for (const pause of pauses) expect(pause).toBeCloseTo(0.5, 1);
		},
	);

	test('one failed part of 40: exactly 41 creations after a retry', async () => {
		const sentences = Array.from(
			{ length: 40 },
			(_, index) => `Sentence number ${index} is one of forty, and each is a part of its own.`,
		);
		const running = setting.run({
			parameters: { ...speech, text: sentences.join('\n\n'), options: { maxCharacters: 80 } },
			settings: { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 },
		});
		await until('there is a task', () => setting.service.creations().length > 0);
		const id = setting.service.creations()[0]?.id ?? '';
		setting.service.faults.add({
			route: 'poll',
			path: id,
			times: 1,
			action: {
				type: 'status',
				status: 200,
				body: { id, status: 'error', error_message: 'no luck' },
			},
		});
		const { output, error } = await running;
		expect(error).toBeUndefined();
		expect(output[0]?.json.parts).toHaveLength(40);
		expect(setting.service.creations()).toHaveLength(41);
	});
});

describe('Audio: Join', () => {
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
});
