/** Audio: Join: one file for each group of items, where each of them lies in it, and why what can't be joined is refused (docs/media.md). */
import type { IBinaryData, INodeExecutionData } from 'n8n-workflow';
import { toneWav } from '../service/media/tone';
import { PLAIN_STORE } from '../model/history';
import { goOn, runNode } from '../model/node';

const join = { resource: 'audio', operation: 'join', inputBinaryField: 'data' };

const wav = (text: string, rate = 16_000): IBinaryData => ({
	data: toneWav(text, { sampleRate: rate }).toString('base64'),
	mimeType: 'audio/wav',
	fileName: `${text}.wav`,
});
const spoken = (text: string, rate?: number): INodeExecutionData => ({
	json: {},
	binary: { data: wav(text, rate) },
});
const srtOf = (text: string, more: Partial<IBinaryData>): IBinaryData => ({
	data: Buffer.from(`1\n00:00:00,000 --> 00:00:00,200\n${text}\n`).toString('base64'),
	mimeType: 'application/octet-stream',
	...more,
});

test('all items together, in order, each by its own field, without a credential or a request', async () => {
	const fields = ['a', 'b', 'c'];
	const ran = await runNode({
		parameters: fields.map((field) => ({
			...join,
			inputBinaryField: ` ${field} `,
			fileName: ' dialogue ',
			outputBinaryField: ' sound ',
		})),
		input: fields.map((field) => ({ json: {}, binary: { [field]: wav(field) } })),
		credential: new Error('none is set'),
	});
	const outputs = [{ kind: 'audio', fileName: 'dialogue.wav', binaryProperty: 'sound' }];
	const items = [0, 1, 2];
	const parts = items.map((item) => ({ part: item + 1, item }));
	expect(ran.output).toMatchObject([
		{ json: { parts, outputs }, pairedItem: items.map((item) => ({ item })) },
	]);
	const [{ json = {}, binary = {} } = {}] = ran.output;
	expect(Object.keys(binary)).toEqual(['sound']);
	for (const name of ['group', 'hint']) expect(json).not.toHaveProperty(name);
	expect(ran.requests).toEqual([]);
});

test('one file for each group, in the order in which they come; items without one belong together', async () => {
	const groups = ['x', '', ' x ', 'y', ' ', 7];
	const { output, json, hints } = await runNode({
		parameters: groups.map((groupBy) => ({ ...join, groupBy })),
		input: groups.map((_, index) => spoken(`word ${index}`)),
	});
	expect(hints).toEqual([]);
	expect(json.map(({ group }) => group)).toEqual(['x', undefined, 'y', '7']);
	const joined = [[0, 2], [1, 4], [3], [5]].map((items) => items.map((item) => ({ item })));
	expect(output.map(({ pairedItem }) => pairedItem)).toEqual(joined);
	const named = ['x', 'joined', 'y', '7'].map((name) => [{ fileName: `${name}.wav` }]);
	const made = joined.map((parts, index) => ({ parts, outputs: named[index] }));
	expect(json).toMatchObject(made);
});

describe('subtitles', () => {
	/** Two spoken words, each with its subtitles. */
	const input = (more: Partial<IBinaryData>): INodeExecutionData[] =>
		['one', 'two'].map((text) => ({
			json: {},
			binary: { data: wav(text), captions: srtOf(text, more) },
		}));

	test.each<[string, Partial<IBinaryData>, string[]]>([
		['by type', { mimeType: 'text/srt' }, ['audio', 'transcript']],
		['by name', { fileName: 'A.SRT' }, ['audio', 'transcript']],
		['by no type', { mimeType: 'text/srt-like' }, ['audio']],
		['by no name', { fileName: 'a.srt.txt' }, ['audio']],
		['by a name without a dot', { fileName: 'asrt' }, ['audio']],
	])('are merged where they are known %s', async (_, more, kinds) => {
		const { json } = await runNode({ parameters: join, input: input(more) });
		expect(json[0]?.outputs).toMatchObject(kinds.map((kind) => ({ kind })));
		expect(json[0]).not.toHaveProperty('transcript');
	});

	const said = (text: string) => ({ captions: srtOf(text, { mimeType: 'text/srt' }) });
	const none = { captions: { ...said('').captions, data: 'bm8=' } };
	const long = said('x'.repeat(11_000_000));
	test.each<[string, object[], RegExp]>([
		['of only one item', [said('one'), {}], /^Not every part has a transcript \(SRT\), so none/],
		['that are none', [none, none], /^The transcript of item 0 can't be read/],
		['of more than 20 MB together', [long, long], /^A transcript could not be read\.$/],
	])('%s are named in a hint, and cost no sound', async (_name, texts, hint) => {
		const files = texts.map((captions) => ({ data: wav('one'), ...captions }));
		const { json } = await runNode({
			parameters: join,
			input: files.map((binary) => ({ json: {}, binary })),
		});
		expect(json).toMatchObject([{ outputs: [{ kind: 'audio' }] }]);
		expect(json[0]?.hint).toMatch(hint);
	});
});

const CONVERT =
	/^Choose one 'Output Format' for all .* convert those that differ, or join them separately with 'Group By'\./;

const [one, two] = [spoken('a'), spoken('b')];
const others = { json: {}, binary: { sound: wav('b'), cover: wav('c') } };
const slower = spoken('b', 8_000);
const noField = { inputBinaryField: '' };
const SIZE = /: the joined file would have 1,9\d\d,\d{3} bytes, and at most 1,000,000 are allowed/;
const NO_TEXT = /^The field 'Group By' is not text$/;
const SET_PAUSE = /^Set 'Pause Between Parts \(Ms\)' to such a number/;
const belowZero = { options: { pauseBetweenParts: -5 } };
const tooLong = { options: { maxFileSize: 1, pauseBetweenParts: 60_000 } };

test.each<[string, INodeExecutionData[], object, RegExp, RegExp]>([
	['no binary data', [{ json: {} }], {}, /^Item 0 has no file in.*"data"$/, /^Add a node before/],
	[
		'no binary data, because an earlier node failed',
		[one, { json: { error: 'Task 7 failed: too <loud>', outcome: 'failed' } }],
		{},
		/^Item 1 has no file in.*"data"$/,
		/^An earlier node failed for this item \(Task 7 failed: too ‹loud›\)\. .* Nothing was sent\.$/,
	],
	['another field', [one, others], {}, /^Item 1 has no file/, /: sound, cover\. Nothing/],
	['no field', [one], noField, /^The field 'Input Data Field Name' is empty$/, /^Fill in/],
	['another format', [one, slower], {}, /: item 1 is WAV .*8,000 Hz.*, but item 0 is/, CONVERT],
	['what would be too large, pauses included', [one, two], tooLong, SIZE, CONVERT],
	['a pause below 0', [one], belowZero, /from 0 to 60000$/, SET_PAUSE],
	['a group that is an object', [one], { groupBy: {} }, NO_TEXT, /^Enter text in/],
])('refused in words: %s', async (_, input, fields, message, description) => {
	const parameters = { ...join, ...fields };
	const { error, output } = await runNode({ parameters, input });
	expect(output).toEqual([]);
	expect(error?.message).toMatch(message);
	expect(error?.description).toMatch(description);
	const went = await runNode({ parameters, input, node: goOn });
	expect(went.json).toEqual([
		{ error: error?.message, description: error?.description, outcome: 'invalid' },
	]);
	expect(went.output[0]?.pairedItem).toEqual(input.map((_item, index) => ({ item: index })));
});

test('an item whose group can not be read costs the groups of the others nothing', async () => {
	const { json, output } = await runNode({
		parameters: ['x', {}, 'x'].map((groupBy) => ({ ...join, groupBy })),
		input: [one, two, one],
		node: goOn,
	});
	expect(json).toMatchObject([{ outcome: 'invalid' }, { group: 'x' }]);
	expect(output.map(({ pairedItem }) => pairedItem)).toEqual([
		[{ item: 1 }],
		[{ item: 0 }, { item: 2 }],
	]);
});

test.each([
	['a file that n8n has dropped', { reads: [true] }, 'the file is gone'],
	['a full disk', { writes: [true] }, 'no space left on device'],
])('%s is the reason, and no field', async (_name, store, why) => {
	const kept = { ...wav('kept'), ...('reads' in store && { id: 'filesystem-v2:kept' }) };
	const ran = await runNode({
		parameters: join,
		input: [{ json: {}, binary: { data: kept } }],
		store: { ...PLAIN_STORE, ...store },
	});
	expect(ran.error?.message).toBe(`The item could not be handled: ${why}`);
	expect(ran.error?.description).not.toMatch(/expression/);
});
