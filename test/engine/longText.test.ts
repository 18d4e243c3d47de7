/** Long texts are cut, spoken in parts and joined. */
import type { IBinaryData, INodeExecutionData } from 'n8n-workflow';
import { toneHz } from '../service/media/tone';
import { decodeMp3, decodeWav, toneAt } from '../unit/media/listen';
import { readBinary } from './engine';
import { engineSetting } from './setting';
import { until } from './hurry';

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
