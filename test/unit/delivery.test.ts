/** The front door of delivery: items, outputs and failures, and that a store may do what it likes. */
import { Readable } from 'node:stream';
import { Delivery } from '../../nodes/MediaGeneration/files/delivery';
import { soundFactsOf } from '../../nodes/MediaGeneration/audio/scan';
import type { FileSettings } from '../../nodes/MediaGeneration/actions/fileSettings';
import type { TaskOutput } from '../../nodes/MediaGeneration/answers/outputs';
import type { Done } from '../../nodes/MediaGeneration/answers/verdict';
import { toneSeconds, toneWav } from '../service/media/tone';
import { fakeN8n } from '../support/n8n';
import { doneTask, FILES as settings } from './itemSettings';

const F = 'https://files.example';
const png = (index: number) => Buffer.from(`\x89PNG\r\n\x1a\n\0 picture ${index}`, 'latin1');

interface World {
	/** Instead of a picture: an HTTP status, or a body. */
	answer?: (index: number) => number | Buffer | Readable;
	/** What n8n's store does before it reads. */
	store?: (stream: Readable) => Promise<unknown>;
	baseUrl?: string | undefined;
}

function world({ answer = png, store, baseUrl }: World = {}) {
	const { context, asked } = fakeN8n({
		http({ url }) {
			const given = answer(Number(/\d+$/.exec(url)?.[0]));
			const bytes = typeof given === 'number' ? Buffer.from('x') : given;
			return {
				statusCode: typeof given === 'number' ? given : 200,
				headers: { 'content-type': 'image/png', 'transfer-encoding': 'chunked' },
				body: bytes instanceof Readable ? bytes : Readable.from([bytes], { objectMode: false }),
			};
		},
	});
	const { helpers } = context;
	const stores = helpers.prepareBinaryData.bind(helpers);
	helpers.prepareBinaryData = async (stream, ...named) => {
		await store?.(stream as Readable);
		return await stores(stream, ...named);
	};
	const delivery = new Delivery(context, { baseUrl });
	const deliver = async (done: Done, wanted: Partial<FileSettings> = {}) =>
		await delivery.deliverTask(done, { ...settings, ...wanted }, { index: 0 });
	return { asked, deliver };
}

/** A task with so many pictures, or with files of these kinds. */
function finished(files: number | Array<TaskOutput['kind']>): Done {
	const kinds = typeof files === 'number' ? Array<'image'>(files).fill('image') : files;
	const outputs = kinds.map((kind, index): TaskOutput => ({ url: `${F}/${index}`, kind }));
	return { ...doneTask('t', { type: 'image' }), outputs };
}
const properties = (outputs: unknown) =>
	(outputs as Array<{ binaryProperty?: string }>).map(({ binaryProperty }) => binaryProperty);

test('one item with one file missing: the others are there, and nothing names what is not', async () => {
	const { deliver } = world({ answer: (index) => (index === 0 ? 403 : png(index)) });
	const given = finished(3);
	given.outputs = [{ url: `${F}/<a>\u001b/0`, kind: 'image' }, ...given.outputs.slice(1)];
	const { items, outputs, failure, files } = await deliver(given);
	expect(Object.keys(items[0]?.binary ?? {})).toEqual(['data_1', 'data_2']);
	expect(files.map(({ binary }) => binary !== undefined)).toEqual([false, true, true]);
	expect(properties(outputs)).toEqual([undefined, 'data_1', 'data_2']);
	expect(properties(items[0]?.json.outputs)).toEqual([undefined, 'data_1', 'data_2']);
	expect(failure).toMatchObject({ outcome: 'undelivered', taskId: 't', status: 'done' });
	expect(failure?.message).toBe(
		'Task t is done, but 1 of its 3 files could not be downloaded: the file host answered HTTP 403',
	);
	expect(failure?.description).toMatch(/open the addresses: \S+\/%3Ca%3E%1B\/0$/);
});

test.each<[string, Array<TaskOutput['kind']>, missing: number, string | undefined]>([
	['never withholds the sound', ['audio', 'transcript'], 1, undefined],
	['is the result where there is no sound', ['transcript'], 0, 'undelivered'],
	['makes up for no sound', ['audio', 'transcript'], 0, 'undelivered'],
])('a transcript that can not be had %s', async (_name, kinds, missing, outcome) => {
	const sound = toneWav('x');
	const { deliver } = world({ answer: (index) => (index === missing ? 403 : sound) });
	const { items, outputs, failure } = await deliver(finished(kinds));
	expect(failure?.outcome).toBe(outcome);
	expect(outputs[missing]).toEqual({ url: `${F}/${missing}`, kind: kinds[missing] });
	const hint = 'The transcript could not be downloaded: the file host answered HTTP 403';
	expect(items[0]?.json.hint).toBe(outcome === undefined ? hint : undefined);
});

describe('addresses', () => {
	const given = (...urls: string[]): Done => {
		return { ...finished(1), outputs: urls.map((url) => ({ url, kind: 'image' })) };
	};
	const dataUrl = (bytes: Buffer, type = 'image/png') =>
		`data:${type};base64,${bytes.toString('base64')}`;

	test('that are relative begin at the Base URL; without one they lead nowhere', async () => {
		const url = 'https://api.example/files/1';
		const { deliver, asked } = world({ baseUrl: 'https://api.example/media' });
		const { outputs } = await deliver(given('/files/1'));
		expect(asked.map((each) => each.url)).toEqual([url]);
		expect(outputs).toMatchObject([{ url, binaryProperty: 'data' }]);
		expect((await world().deliver(given('/files/1'))).failure).toMatchObject({
			message: expect.stringMatching(/its address names no host$/) as string,
			description: expect.stringMatching(/open the addresses: \/files\/1$/) as string,
		});
	});

	test.each([
		[{}, 'data:image/png, 0.2 MB, see data_1'],
		[{ splitFiles: true }, 'data:image/png, 0.2 MB, see data'],
		[{ download: false }, undefined],
	])('that hold their file are a few words in the JSON: %j', async (wanted, words) => {
		const url = dataUrl(Buffer.concat([png(1), Buffer.alloc(200_000)]));
		const metadata = { image_url: url, first: `${F}/0`, note: `not ${url}` };
		const done = given(`${F}/0`, url);
		Object.assign(done.task.raw, { metadata, outputs: 'its own' });
		const { items } = await world().deliver(done, wanted);
		const image_url = words ?? url;
		const expected = { metadata: { ...metadata, image_url }, task_outputs: 'its own' };
		expect(items[0]?.json).toMatchObject(expected);
	});

	const SVG = 'data:image/svg+xml,%3Csvg%20xmlns%3D%22x%22%2F%3E';
	test.each([
		[dataUrl(png(1)), png(1), 'png', 'image/png'],
		[SVG, Buffer.from('<svg xmlns="x"/>'), 'svg', 'image/svg+xml'],
	])(
		'that hold their file are decoded, and nothing is asked for',
		async (url, bytes, type, mimeType) => {
			const { deliver, asked } = world();
			const { items, outputs } = await deliver(given(url));
			expect(asked).toEqual([]);
			expect(Buffer.from(items[0]?.binary?.data?.data ?? '', 'base64')).toEqual(bytes);
			const file = { fileName: `image-t.${type}`, mimeType, fileSize: bytes.length };
			expect(outputs).toEqual([{ kind: 'image', ...file, binaryProperty: 'data' }]);
			const offered = await deliver(given(url), { download: false });
			expect(offered.outputs).toEqual([{ url, kind: 'image' }]);
		},
	);

	test('that hold much give others their turns, because a search for sound takes long', async () => {
		const frame = Buffer.alloc(417);
		frame.writeUInt32BE(0xfffb_9064);
		const url = dataUrl(Buffer.concat([frame, frame, Buffer.alloc(900_000, 0xff)]), 'audio/mpeg');
		let turns = 0;
		let tick: NodeJS.Immediate;
		const again = () => ((turns += 1), (tick = setImmediate(again)));
		again();
		const { files } = await world().deliver(given(url));
		clearImmediate(tick!);
		expect(files).toMatchObject([{ output: { fileName: 'image-t.mp3' } }]);
		expect(turns).toBeGreaterThan(12);
	});

	const page = dataUrl(Buffer.from('<html>'), 'text/html');
	test.each<[string, string, RegExp]>([
		['a page', page, /a web page instead of the file: ‹html›$/],
		['nothing', 'data:image/png;base64,', /the file is empty$/],
		['half an escape', 'data:image/svg+xml,%3', /its address contains no file$/],
		['too much', dataUrl(Buffer.alloc(1_000_001)), /1 MB, and 'Max File Size' is 1 MB$/],
	])('that hold %s are no files', async (_name, url, message) => {
		const { failure } = await world().deliver(given(url));
		expect(failure?.message).toMatch(message);
		expect(failure?.description.length).toBeLessThan(300);
	});
});

describe('names of files', () => {
	const jpg = Buffer.from('\xff\xd8\xff\xe0....', 'latin1');
	const oneMissing = (index: number) => (index === 0 ? 403 : png(index));
	const oneJpg = (index: number) => (index === 1 ? jpg : png(index));
	test.each<[string, World['answer'], string[]]>([
		['of one type are numbered as their fields are', undefined, ['a.png', 'a_1.png', 'a_2.png']],
		['also where one is missing', oneMissing, ['a_1.png', 'a_2.png']],
		['of several types are numbered by type', oneJpg, ['a.png', 'a.jpg', 'a_1.png']],
	])('%s', async (_name, answer, expected) => {
		const { deliver } = world(answer && { answer });
		for (const splitFiles of [false, true]) {
			const wanted = { splitFiles, fileName: 'a.mp3' };
			const { items } = await deliver(finished(3), wanted);
			const stored = items.flatMap(({ binary = {} }) => Object.values(binary));
			expect(stored.map(({ fileName }) => fileName)).toEqual(expected);
			const shown = items.flatMap(({ json }) => json.outputs as Array<{ fileName?: string }>);
			expect(shown.flatMap(({ fileName }) => fileName ?? [])).toEqual(expected);
		}
	});
});

test('samples without a header are named after the format that was asked for', async () => {
	const samples = Buffer.from('ffffff7f7fff', 'hex');
	const nameOf = async (raw: object, format?: string) => {
		const done = finished(['audio']);
		Object.assign(done.task.raw, raw);
		const { deliver } = world({ answer: () => samples });
		const { outputs } = await deliver(done, { format });
		return [outputs[0]?.fileName, outputs[0]?.mimeType];
	};
	expect(await nameOf({}, 'ulaw_8000')).toEqual(['image-t.ulaw', 'audio/basic']);
	// Task: Wait has no such field.
	expect(await nameOf({ output_format: 'pcm_16000' })).toEqual(['image-t.pcm', 'audio/pcm']);
});

describe('how long sound is', () => {
	const WAV = toneWav('Once upon a time');
	const deliver = async (kind: TaskOutput['kind'], body: Buffer) =>
		await world({ answer: () => body }).deliver(finished([kind]));

	test.each([
		['sound', 'audio'],
		['what only its bytes show to be sound', 'file'],
	] as const)('is told of %s, with what joining needs to know', async (_name, kind) => {
		const { items, outputs, files } = await deliver(kind, WAV);
		expect(outputs[0]?.kind).toBe('audio');
		expect(outputs[0]?.durationSeconds).toBeCloseTo(toneSeconds('Once upon a time'), 3);
		expect(items[0]?.json.outputs).toEqual(outputs);
		expect(files).toMatchObject([{ sound: await soundFactsOf([WAV]) }]);
	});

	test.each<[string, TaskOutput['kind'], Buffer]>([
		['sound of another format', 'audio', Buffer.from('OggS\0 and so on')],
		['what the service offers as something else', 'transcript', WAV],
	])('is not told of %s', async (_name, kind, body) => {
		const { outputs, failure } = await deliver(kind, body);
		expect(failure).toBeUndefined();
		expect(outputs[0]).not.toHaveProperty('durationSeconds');
	});
});

describe('what was said', () => {
	const SRT = '1\n00:00:00,000 --> 00:00:01,500\nOnce upon a time\n';
	const SPOKEN = [{ text: 'Once upon a time', start: 0, end: 1.5 }];
	/** A text of another kind and some transcripts, of which the item tells the first that can be read. */
	const transcriptOf = async (
		texts: string[],
		wanted: Partial<FileSettings> = { transcriptInOutput: true },
	) => {
		const { deliver } = world({
			answer: (index) => Buffer.from(texts[index - 1] ?? SRT.replace('a time', 'another')),
		});
		const task = finished(['file', ...texts.map(() => 'transcript' as const)]);
		const outputs = task.outputs.map((output, index): TaskOutput =>
			index === 0 ? output : { url: `${F}/a.srt/${index}`, kind: 'transcript' },
		);
		const { items } = await deliver({ ...task, outputs }, wanted);
		return items.map(({ json }) => ('transcript' in json ? json.transcript : 'none'));
	};

	test('goes into the item, where that is wanted', async () => {
		expect(await transcriptOf([SRT])).toEqual([SPOKEN]);
		expect(await transcriptOf([SRT], {})).toEqual(['none']);
	});

	test('is the text of a task that made nothing but transcripts', async () => {
		const { deliver } = world({
			answer: () => Buffer.from(`${SRT}\n2\n0:2 --> 0:3\nthere\n\twas`),
		});
		const given = finished(['transcript']);
		given.outputs = [{ url: `${F}/a.srt`, kind: 'transcript' }];
		const { items } = await deliver(given);
		expect(items[0]?.json).toMatchObject({ text: 'Once upon a time there was' });
		expect(items[0]?.json).not.toHaveProperty('transcript');
		expect((await deliver(finished(['transcript', 'file']))).items[0]?.json.text).toBeUndefined();
	});

	test('is that of the first transcript that can be read', async () => {
		expect(await transcriptOf(['[{"text":"without times"}]', '["cut', SRT])).toEqual([SPOKEN]);
		expect(await transcriptOf([])).toEqual(['none']);
	});
});

test('at most a hundred files of a task are fetched; the others are said to be missing', async () => {
	const { deliver, asked } = world();
	const { items, outputs, failure } = await deliver(finished(12_000));
	expect(asked).toHaveLength(100);
	expect(Object.keys(items[0]?.binary ?? {})).toHaveLength(100);
	expect(outputs).toHaveLength(12_000);
	expect(failure?.message).toBe(
		'Task t is done, but 11900 of its 12000 files could not be downloaded: only the first 100 files of a task are fetched',
	);
	expect(failure?.description.length).toBeLessThan(2_000);
	expect(failure?.description).toMatch(/\/100 .*\/119 and 11880 more in 'outputs'$/);
});

test('split, a hundred files have items of their own, and the last item has the others', async () => {
	const { items } = await world().deliver(finished(10_000), { download: false, splitFiles: true });
	const counts = items.map(({ json }) => (json.outputs as unknown[]).length);
	expect(counts).toEqual([...Array<number>(100).fill(1), 9_900]);
});

test('a store that fails because of the file says what is wrong with the file', async () => {
	const chunks = [png(0), ...Array.from({ length: 200 }, () => Buffer.alloc(10_000))];
	const { deliver } = world({
		answer: () => Readable.from(chunks, { objectMode: false }),
		async store(stream) {
			// It listens for no error.
			await new Promise((resolve) => stream.resume().once('close', resolve));
			throw new Error('could not read the stream');
		},
	});
	const { failure } = await deliver(finished(1));
	expect(failure?.message).toBe(
		"Task t is done, but its file could not be downloaded: the file is larger than allowed: 'Max File Size' is 1 MB",
	);
});
