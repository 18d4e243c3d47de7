/** From the finished parts of an item to its output: joined into one file, one item for each, or as they are. */
import type { IBinaryData, IBinaryKeyData, IDataObject } from 'n8n-workflow';
import {
	assemble,
	type AssemblyInput,
	deliverPart,
	type DonePart,
} from '../../nodes/MediaGeneration/files/assembly';
import { failureOfText, type Assembly } from '../../nodes/MediaGeneration/items/parts';
import type { DeliveredItems } from '../../nodes/MediaGeneration/files/outputFile';
import type { ShownOutput } from '../../nodes/MediaGeneration/items/shownItem';
import { Delivery } from '../../nodes/MediaGeneration/files/delivery';
import type { Failure } from '../../nodes/MediaGeneration/base/outcomes';
import type { LongText } from '../../nodes/MediaGeneration/actions/longText';
import { toneSeconds, toneWav } from '../service/media/tone';
import { transcriptJson, transcriptSrt } from '../service/media/transcript';
import { binaryStore } from '../support/binaryStore';
import { fakeN8n } from '../support/n8n';
import { doneTask, FILES } from './itemSettings';

const TEXTS = ['Once upon a time', 'there was a lighthouse.'];
const LONG: { [K in LongText['kind']]: Extract<LongText, { kind: K }> } = {
	off: { kind: 'off' },
	join: { kind: 'join', maxCharacters: 50, pauseMs: 250 },
	parts: { kind: 'parts', maxCharacters: 50 },
};
const input = (longText: LongText, texts = TEXTS): AssemblyInput => ({
	assembly: { longText, texts },
	settings: { files: { ...FILES, transcriptInOutput: true } },
	index: 7,
});
type Store = ReturnType<typeof binaryStore>;

/** A part whose files lie in a store. */
function partOf(
	store: Store,
	taskId: string,
	files: Array<[ShownOutput['kind'], mimeType: string, bytes: Buffer]>,
): DonePart & { delivered: DeliveredItems } {
	const binary: IBinaryKeyData = {};
	const outputs = files.map(([kind, mimeType, bytes], index): ShownOutput => {
		const binaryProperty = index === 0 ? 'data' : `data_${index}`;
		binary[binaryProperty] = store.put(bytes, `${taskId}-${index}`, mimeType);
		return { url: `https://files.example/${taskId}/${index}`, kind, binaryProperty, mimeType };
	});
	const item = { json: { task_id: taskId }, binary, pairedItem: { item: 7 } };
	const stored = outputs.map((output) => {
		const data = binary[output.binaryProperty ?? ''] as IBinaryData;
		return { output, binary: data };
	});
	return {
		...doneTask(taskId, { type: 'speech', credit_cost: 0.5 }),
		delivered: { items: [item], outputs, failure: undefined, files: stored },
	};
}

/** A part with its sound and both transcripts. */
const spoken = (store: Store, taskId: string, text: string) =>
	partOf(store, taskId, [
		['audio', 'audio/wav', toneWav(text)],
		['transcript', 'application/x-subrip', transcriptSrt(text)],
		['transcript', 'application/json', transcriptJson(text)],
	]);

/** The parts of the text. */
const partsIn = (store: Store) => TEXTS.map((text, index) => spoken(store, `t${index + 1}`, text));

const all = (store: Store, parts: DonePart[], given: AssemblyInput) =>
	assemble(new Delivery(fakeN8n({ store }).context, { baseUrl: undefined }), parts, given);

/** The files of the one item that came out, by their fields. */
function filesOf(store: Store, { items }: Pick<DeliveredItems, 'items'>): Record<string, Buffer> {
	expect(items).toHaveLength(1);
	const entries = Object.entries(items[0]?.binary ?? {});
	return Object.fromEntries(entries.map(([name, data]) => [name, store.bytesOf(data)]));
}

describe.each(['filesystem', 'default'] as const)('joined, in a store of mode %s', (mode) => {
	test('the item says what it is made of, and where each part lies', async () => {
		const store = binaryStore(mode);
		const parts = partsIn(store);
		const delivered = await all(store, parts, input(LONG.join));
		const { items, outputs, failure: problem } = delivered;
		expect(problem).toBeUndefined();
		const [first = NaN, second = NaN] = TEXTS.map(toneSeconds);
		const [start, end] = [first + 0.25, first + 0.25 + second];
		const near = (value: number) => expect.closeTo(value, 3) as number;
		const files = filesOf(store, delivered);
		expect(items[0]).toMatchObject({ pairedItem: { item: 7 } });
		expect(items[0]?.json).toEqual({
			task_id: 't1',
			status: 'done',
			type: 'speech',
			task_ids: ['t1', 't2'],
			credit_cost: 1,
			parts: [
				{ part: 1, task_id: 't1', characters: 16, start: 0, end: near(first) },
				{ part: 2, task_id: 't2', characters: 23, start: near(start), end: near(end) },
			],
			characters: 39,
			duration_seconds: near(end),
			transcript: expect.arrayContaining([expect.anything()]) as unknown,
			outputs: expect.any(Array) as unknown,
		});
		const named = outputs.map(({ kind, binaryProperty, fileName, mimeType, fileSize }) => [
			...[kind, binaryProperty, fileName, mimeType],
			fileSize === files[binaryProperty ?? '']?.length,
		]);
		expect(named).toEqual([
			['audio', 'data', 'speech-t1.wav', 'audio/wav', true],
			['transcript', 'data_1', 'speech-t1.srt', 'application/x-subrip', true],
			['transcript', 'data_2', 'speech-t1.json', 'application/json', true],
		]);
		expect(outputs[0]?.durationSeconds).toEqual(near(end));
		expect(items[0]?.json.outputs).toEqual(outputs);
	});

	test('a store that fails leaves no stream open either', async () => {
		const store = binaryStore(mode, { writes: [true] });
		const { failure } = await all(store, partsIn(store), input(LONG.join));
		expect(failure?.message).toMatch(/no space left on device/);
		expect(store.streams.filter(({ destroyed }) => !destroyed)).toEqual([]);
	});
});

test('with Split Files, each file of a joined text has an item', async () => {
	const store = binaryStore('default');
	const { settings, ...given } = input(LONG.join);
	const files = { ...settings.files, splitFiles: true };
	const { items } = await all(store, partsIn(store), { ...given, settings: { files } });
	const made = items.map(({ json, binary }) => [
		json.outputs,
		json.task_ids,
		binary?.data?.fileName,
	]);
	const each = (extension: string) => {
		const fileName = `speech-t1.${extension}`;
		return [[{ fileName, binaryProperty: 'data' }], ['t1', 't2'], fileName];
	};
	expect(made).toMatchObject(['wav', 'srt', 'json'].map(each));
});

describe('parts that can not be joined', () => {
	test('come as they are, sounds first, and a hint says why', async () => {
		const store = binaryStore('default');
		const parts = [
			partOf(store, 't1', [
				['transcript', 'application/x-subrip', Buffer.from('srt 1')],
				['audio', 'audio/wav', toneWav('One')],
			]),
			partOf(store, 't2', [['audio', 'audio/ogg', Buffer.from('OggS and so on')]]),
		];
		const delivered = await all(store, parts, input(LONG.join, ['One', 'Two']));
		expect(delivered.items[0]?.json).toMatchObject({
			parts: [{ part: 1 }, { part: 2 }],
			joined: false,
			hint: 'The parts could not be joined: part 2 is audio/ogg; only MP3 and WAV can be joined',
			outputs: delivered.outputs as unknown as IDataObject[],
		});
		const named = delivered.outputs.map((each) => `${each.binaryProperty} ${each.url?.slice(-4)}`);
		expect(named).toEqual(['data t1/1', 'data_1 t2/0', 'data_2 t1/0']);
		const files = filesOf(store, delivered);
		expect(files.data_1?.toString()).toBe('OggS and so on');
		expect(files.data_2?.toString()).toBe('srt 1');
	});

	test('are not joined where one has no sound; what nobody knows is left out', async () => {
		const store = binaryStore('default');
		const silent = { ...doneTask('t2'), delivered: partOf(store, 't2', []).delivered };
		const parts = [spoken(store, 't1', 'One'), silent];
		const { items } = await all(store, parts, input(LONG.join, ['One', 'Two']));
		const hint = 'The parts could not be joined: not every part has an audio file';
		expect(items[0]?.json).toMatchObject({ task_ids: ['t1', 't2'], joined: false, hint });
		expect(items[0]?.json).not.toHaveProperty('credit_cost');
	});
});

describe('a part that fails', () => {
	const lost: Failure = { outcome: 'undelivered', message: 'No file', description: 'Open it.' };

	test.each<[string, LongText['kind'], Assembly['texts'], tasks: number, string, goesOn: boolean]>([
		['of no long text', 'off', ['a', 'b'], 2, 'No file', false],
		['of a text that is not known', 'join', ['a', {}], 2, 'Part 2 of 2: No file', true],
		['where one was not created', 'join', ['a', 'b'], 1, 'Part 2 of 2 ("b"): No file', false],
		['and is the only one', 'join', ['a'], 1, 'No file', true],
	])('%s', (_name, kind, texts, tasks, message, goesOn) => {
		const assembly = { longText: LONG[kind], texts };
		const taskIds = Array<string>(tasks).fill('t');
		const failure = failureOfText(lost, { number: texts.length - 1, assembly, taskIds });
		expect([failure.message, failure.parts?.longText !== undefined]).toEqual([message, goesOn]);
	});

	test.each(['join', 'parts'] as const)('leaves the files of the others: %s', async (kind) => {
		const store = binaryStore('default');
		const parts = partsIn(store);
		parts.forEach(({ delivered }, index) => (delivered.failure = index === 1 ? lost : undefined));
		const { items, outputs, failure } = await all(store, parts, input(LONG[kind]));
		expect(failure?.message).toBe('Part 2 of 2 ("there was a lighthouse."): No file');
		expect(failure?.parts?.taskIds).toEqual(['t1', 't2']);
		expect(items).toHaveLength(kind === 'join' ? 0 : 2);
		expect(outputs).toHaveLength(6);
		for (const output of outputs) expect(output).not.toHaveProperty('binaryProperty');
	});
});

test.each<[LongText['kind'], parts: number, suffixes: string[]]>([
	['parts', 3, ['-1', '-2', '-3']],
	['parts', 12, ['-01', '-02', '-03']],
	['parts', 1, ['']],
	['join', 12, ['', '_1', '_2']],
])('the names of a text in %s of %d count them', async (kind, parts, suffixes) => {
	const texts = Array<string>(parts).fill('a');
	const given: string[] = [];
	const delivery: Pick<Delivery, 'deliverTask'> = {
		async deliverTask(_done, _settings, { suffix = '' }) {
			given.push(suffix);
			return await Promise.resolve({ items: [], outputs: [], failure: undefined, files: [] });
		},
	};
	for (const number of suffixes.keys())
		await deliverPart(delivery, doneTask('t'), { ...input(LONG[kind], texts), number });
	expect(given).toEqual(suffixes);
});
