/** Long texts: spoken in parts, joined into one file, paid once each. */
import { readBinary } from './engine';
import { engineSetting, goOn } from './setting';

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
		{ kind: 'audio', binaryProperty: 'data', mimeType: 'audio/wav', durationSeconds: duration_seconds },
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
