/** Long texts: spoken in parts, joined into one file, paid once each. */
import type { IBinaryData, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { parseSrt } from '../../nodes/MediaGeneration/media/srt';
import { inPieces } from '../../nodes/MediaGeneration/service/clock';
import { toneHz } from '../service/media/tone';
import { decodeMp3, decodeWav, toneAt } from '../unit/media/listen';
import { readBinary } from './engine';
import { engineSetting, goOn } from './setting';
import { until } from './until';

const setting = engineSetting();
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

function texts(): unknown[] {
	return setting.bodies().map((body) => body.text);
}

test('one task for each part, one item with one file that is as long as its parts', async () => {
	const { output, error } = await setting.run({ parameters: speech });
	expect(error).toBeUndefined();
	expect(texts()).toEqual(PARAGRAPHS);
	expect(output).toHaveLength(1);
	const [item] = output;
	const { task_ids, parts, characters, duration_seconds, outputs } = item?.json ?? {};
	expect(task_ids).toEqual(setting.service.creations().map(({ id }) => id));
	expect(parts).toHaveLength(3);
	expect(characters).toBe(PARAGRAPHS.reduce((sum, { length }) => sum + length, 0));
	expect(outputs).toMatchObject([
		{
			kind: 'audio',
			binaryProperty: 'data',
			mimeType: 'audio/wav',
			durationSeconds: duration_seconds,
		},
	]);
	const times = parts as Array<{ part: number; start: number; end: number }>;
	expect(times.map(({ part }) => part)).toEqual([1, 2, 3]);
	expect(times.at(-1)?.end).toBe(duration_seconds);
	const binary = item?.binary?.data;
	if (binary === undefined) throw new Error('no file');
	const bytes = await readBinary(binary);
	// 16-bit mono: the header says how many bytes a second takes.
	expect((bytes.length - 44) / bytes.readUInt32LE(28)).toBeCloseTo(Number(duration_seconds), 3);
});

test('one item for each part', async () => {
	const { output } = await setting.run({ parameters: { ...speech, longText: 'parts' } });
	expect(output.map(({ json }) => [json.part, json.parts, json.status])).toEqual([
		[1, 3, 'done'],
		[2, 3, 'done'],
		[3, 3, 'done'],
	]);
	expect(output.every(({ pairedItem }) => JSON.stringify(pairedItem) === '{"item":0}')).toBe(true);
});

test('a part that fails names itself; Retry On Fail pays for that part alone', async () => {
	setting.service.faults.add({
		route: 'create',
		skip: 1,
		times: 1,
		action: { type: 'status', status: 422, body: { success: false, error: 'no such word' } },
	});
	const { output, error } = await setting.run({
		parameters: { ...speech, options: { maxCharacters: 80, maxActiveTasks: 1 } },
		settings: { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 },
	});
	expect(error).toBeUndefined();
	expect(texts()).toEqual(PARAGRAPHS);
	expect(output[0]?.json.status).toBe('done');
});

test('with Continue On Fail the item says which part failed, and names the tasks of all', async () => {
	setting.service.faults.add({
		route: 'create',
		skip: 1,
		times: 1,
		action: { type: 'status', status: 422, body: { success: false, error: 'no such word' } },
	});
	const { output } = await setting.run({
		parameters: { ...speech, options: { maxCharacters: 80, maxActiveTasks: 1 } },
		settings: goOn,
	});
	expect(output[0]?.json).toMatchObject({ outcome: 'rejected', part: 2, parts: 3 });
	expect(output[0]?.json.error).toMatch(/^Part 2 of 3 \("This is paragraph two.*no such word/);
	expect(output[0]?.json.task_ids).toEqual(setting.service.creations().map(({ id }) => id));
});

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

test('transcripts are merged, and fit the joined file', async () => {
	const { output } = await setting.run({
		parameters: {
			...speech,
			withTranscript: true,
			options: { maxCharacters: 80, transcriptInOutput: true },
		},
	});
	const { json, binary } = firstOf(output);
	expect((json.outputs as Array<{ fileName: string }>).map(({ fileName }) => fileName)).toEqual([
		expect.stringMatching(/\.wav$/),
		expect.stringMatching(/\.srt$/),
		expect.stringMatching(/\.json$/),
	]);
	const srt = (await bytesOf(binary?.data_1)).toString();
	const cues = await inPieces(parseSrt(srt));
	const words = JSON.parse((await bytesOf(binary?.data_2)).toString()) as Array<{ text: string }>;
	const parts = json.parts as unknown as Times[];
	const transcript = json.transcript as unknown as Array<Times & { text: string }>;
	expect(words.map((entry) => entry.text).join(' ')).toBe(PARAGRAPHS.join(' '));
	expect(transcript.map((entry) => entry.text).join(' ')).toBe(PARAGRAPHS.join(' '));
	expect(cues).toHaveLength(transcript.length);
	for (const { start, end } of transcript)
		expect(parts.some((part) => start >= part.start && end <= part.end + 0.001)).toBe(true);
});

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

test('a text with a clock in it keeps the parts of the first try', async () => {
	setting.service.faults.add({
		route: 'create',
		skip: 1,
		times: 1,
		action: { type: 'status', status: 422, body: { success: false, error: 'not now' } },
	});
	const { output, error } = await setting.run({
		parameters: {
			...speech,
			text: `={{ $now.toMillis() }} ${PARAGRAPHS[0]}\n\n${PARAGRAPHS[1]}`,
			options: { maxCharacters: 100, maxActiveTasks: 1 },
		},
		settings: { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 },
	});
	expect(error).toBeUndefined();
	expect(texts()).toHaveLength(2);
	expect(texts().map((each) => /paragraph (\w+)/.exec(String(each))?.[1])).toEqual(['one', 'two']);
	expect(output[0]?.json.parts).toHaveLength(2);
});

test('parts without an audio file come as they are, and a hint says why', async () => {
	const { output } = await setting.run({
		parameters: {
			...speech,
			options: {
				maxCharacters: 80,
				extraFields: JSON.stringify({
					stand_in: { file_body: 'OggS and so on', file_type: 'audio/ogg' },
				}),
			},
		},
	});
	const { json, binary } = firstOf(output);
	expect(json).toMatchObject({
		joined: false,
		task_ids: [{}, {}, {}].map(() => expect.any(String) as string),
	});
	expect(json.hint).toMatch(
		/^The parts could not be joined: Part 1 can't be joined: it is audio\/ogg/,
	);
	expect(Object.keys(binary ?? {})).toEqual(['data', 'data_1', 'data_2']);
});

test('without waiting: one item per part, with its task', async () => {
	const { output } = await setting.run({
		parameters: { ...speech, longText: 'parts', waitForCompletion: false },
	});
	expect(output.map(({ json }) => [json.part, json.parts])).toEqual([
		[1, 3],
		[2, 3],
		[3, 3],
	]);
	expect(output.map(({ json }) => json.task_id)).toEqual(
		setting.service.creations().map(({ id }) => id),
	);
});

const bad: Array<[string, INodeParameters, RegExp]> = [
	['join without waiting', { waitForCompletion: false }, /needs to wait for its parts/],
	['join without files', { downloadOutput: false }, /needs the files of its parts/],
	['parts while asleep', { longText: 'parts', waitMode: 'callback' }, /can't be suspended/],
	['49 characters', { options: { maxCharacters: 49 } }, /whole number of at least 50/],
	['characters in words', { options: { maxCharacters: 'many' } }, /whole number of at least 50/],
	['a text of spaces', { text: '={{ "   " }}' }, /"Text" is empty/],
	['an empty text', { text: '={{ "" }}' }, /"Text" is empty/],
	['a pause below 0', { options: { pauseBetweenParts: -1 } }, /a number from 0 to 60000/],
	['a pause over a minute', { options: { pauseBetweenParts: 60_001 } }, /a number from 0 to 60000/],
	['an unknown kind', { longText: 'halves' }, /"Long Text" has an unknown value/],
];
test.each(bad)('%s is refused before anything is sent', async (_, parameters, message) => {
	const { error } = await setting.run({ parameters: { ...speech, ...parameters } });
	expect(error?.message).toMatch(message);
	expect(error?.description).toBeTruthy();
	expect(setting.service.requests).toEqual([]);
});
