/** Files that do not come at once, or not at all: whole after a retry, or reported, never short. */
import type { FaultAction } from '../service';
import { prepareEngine } from './engine';
import { expectWhole, outputsOf, stored, taskIdOf } from './files';
import { engineSetting, goOn, sound, steered } from './setting';

const setting = engineSetting();
const image = {
	resource: 'image',
	operation: 'generate',
	prompt: 'A boat',
	modelId: 'image-1',
	generationsCount: '={{ $json.count ?? 1 }}',
};

const passing: FaultAction[] = [
	{ type: 'truncate', bytes: 100 },
	{ type: 'status', status: 503 },
	{ type: 'status', status: 429, headers: { 'retry-after': '0' } },
	{ type: 'reset' },
	{ type: 'html' },
	{ type: 'emptyBody' },
	{ type: 'notObject', body: { success: false, error: 'not yet' } },
];

test('what fails in passing is fetched again, whole', async () => {
	passing.forEach((action, index) => {
		setting.service.faults.add({ path: `image-${index + 1}.png`, times: 1, action });
	});
	const { output, error } = await setting.run({
		items: [{ count: passing.length }],
		parameters: image,
	});
	expect(error).toBeUndefined();
	expect(Object.keys(output[0]?.binary ?? {})).toHaveLength(passing.length);
	await expectWhole(output[0]);
	expect(setting.service.faults.list().map(({ hits }) => hits)).toEqual(passing.map(() => 1));
});

test('a host that wants browsers gets a browser-like User-Agent', async () => {
	setting.service.settings.browsersOnly = true;
	const { output } = await setting.run({ parameters: sound() });
	expect(output[0]?.binary?.data?.mimeType).toBe('audio/wav');
	const statuses = setting.service.requests
		.filter(({ route }) => route === 'file')
		.map(({ status }) => status);
	expect(statuses).toEqual([200]);
});

describe('what does not come', () => {
	const cases: Array<[object, RegExp]> = [
		[{ file_status: 404 }, /the file host answered HTTP 404$/],
		[{ file_status: 403 }, /the file host answered HTTP 403$/],
		[{ file_status: 410 }, /the file host answered HTTP 410$/],
		[{ file_body: '<!DOCTYPE html><html><body>Gone</body></html>' }, /sent a web page instead/],
		[{ file_body: '{"success":false,"error":"expired"}' }, /sent a JSON message instead/],
		[
			{
				file_body: '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
				file_type: 'audio/mpeg',
			},
			/sent an XML message instead of the file: .*AccessDenied/,
		],
		[
			{ file_body: '<script>location = "/login"</script>', file_type: 'audio/wav' },
			/sent a web page instead of the file$/,
		],
		[
			{ file_body: 'Access denied', file_type: 'audio/mpeg' },
			/sent a text instead of the file: Access denied$/,
		],
		[{ file_body: '' }, /the file is empty$/],
		[{ bytes: 2_000_000 }, /larger than allowed: 2 MB, and Max File Size is 1 MB$/],
	];
	const items = cases.map(([stand_in]) => ({ stand_in }));
	const parameters = { ...sound(), options: { ...steered, maxFileSize: 1 } };

	test('is undelivered with its address, and leaves nothing half-written', async () => {
		const folder = await prepareEngine();
		const before = stored(folder);
		const { output } = await setting.run({ items, parameters, settings: goOn });
		for (const [index, item] of output.entries()) {
			const { error, ...json } = item.json;
			const taskId = taskIdOf(item);
			expect(json).toEqual({
				outcome: 'undelivered',
				status: 'done',
				task_id: taskId,
				outputs: [{ url: `${setting.service.fileUrl}/files/${taskId}/effect.wav`, kind: 'audio' }],
			});
			expect(error).toMatch(
				new RegExp(`^Task ${taskId} is done, but its file could not be downloaded: `),
			);
			expect(error).toMatch(cases[index]?.[1] ?? /^$/);
			expect(item.binary).toBeUndefined();
		}
		expect(output).toHaveLength(cases.length);
		expect(stored(folder)).toEqual(before);
	});

	test('without Continue On Fail the error names the task and the address', async () => {
		const { error } = await setting.run({ items: items.slice(0, 1), parameters });
		const [task] = setting.service.tasks;
		expect(error?.message).toMatch(/could not be downloaded: the file host answered HTTP 404$/);
		expect(error?.description).toContain(`/files/${task?.id}/effect.wav`);
		expect(error?.description).toContain('"Task: Wait"');
	});
});

test('the size limit holds on the stream where no header states the size', async () => {
	const folder = await prepareEngine();
	const before = stored(folder);
	const faults = setting.service.faults;
	faults.add({ route: 'file', action: { type: 'dropHeader', name: 'content-length' } });
	const { output } = await setting.run({
		items: [{ stand_in: { bytes: 3_000_000 } }],
		parameters: { ...sound(), options: { ...steered, maxFileSize: 1 } },
		settings: goOn,
	});
	expect(output[0]?.json).toMatchObject({ outcome: 'undelivered', status: 'done' });
	expect(output[0]?.json.error).toMatch(/larger than allowed: Max File Size is 1 MB$/);
	expect(output[0]?.binary).toBeUndefined();
	expect(stored(folder)).toEqual(before);
	expect(setting.service.requests.filter(({ route }) => route === 'file')).toHaveLength(1);
});

test('a file that is cut again and again, with nothing new, is reported, never short', async () => {
	const folder = await prepareEngine();
	const before = stored(folder);
	setting.service.faults.add({ route: 'file', action: { type: 'truncate', bytes: 0 } });
	const { output } = await setting.run({ parameters: sound(), settings: goOn });
	expect(output[0]?.json.outcome).toBe('undelivered');
	expect(output[0]?.json.error).toMatch(/could not be downloaded: .+/);
	expect(stored(folder)).toEqual(before);
});

describe('hosts that do as they like', () => {
	const items = [{ stand_in: { bytes: 600_000 } }];
	const parameters = { ...sound(), options: steered };
	const fileStatuses = () =>
		setting.service.requests.filter(({ route }) => route === 'file').map(({ status }) => status);
	const cutAt = (...places: number[]) =>
		places.forEach((bytes) =>
			setting.service.faults.add({ route: 'file', times: 1, action: { type: 'truncate', bytes } }),
		);

	test('files that are compressed without being asked arrive as they are', async () => {
		setting.service.settings.fileEncoding = 'gzip';
		const { output, error } = await setting.run({
			items: [...items, { stand_in: { bytes: 40 } }, { stand_in: { audio: 'mp3' } }],
			parameters,
		});
		expect(error).toBeUndefined();
		for (const item of output) await expectWhole(item);
		expect(outputsOf(output[0])[0]).toMatchObject({ mimeType: 'audio/wav', fileSize: 600_000 });
		expect(fileStatuses().slice(0, 3)).toEqual([200, 200, 200]);
	});

	test('compressed and cut, they are fetched again from the start', async () => {
		setting.service.settings.fileEncoding = 'gzip';
		cutAt(1_500);
		const { output } = await setting.run({ items, parameters });
		expect(outputsOf(output[0])[0]?.fileSize).toBe(600_000);
		await expectWhole(output[0]);
	});

	test('an encoding that n8n can not undo is refused in words', async () => {
		setting.service.settings.fileEncoding = 'gzip, gzip';
		const { output } = await setting.run({ items, parameters, settings: goOn });
		expect(output[0]?.json.error).toMatch(/in an encoding that n8n can't undo: gzip, gzip$/);
		expect(fileStatuses()).toEqual([200]);
	});

	test('parts that are shorter than asked for are put together', async () => {
		setting.service.settings.fileRanges = 150_000;
		cutAt(200_000);
		const { output } = await setting.run({ items, parameters });
		await expectWhole(output[0]);
		expect(fileStatuses().slice(0, 4)).toEqual([200, 206, 206, 206]);
	});

	test.each(['none', 'weak'] as const)(
		'validators: %s; no part is asked for',
		async (validators) => {
			setting.service.settings.fileValidators = validators;
			cutAt(200_000, 400_000);
			const { output } = await setting.run({ items, parameters });
			expect(fileStatuses()).toEqual([200, 200, 200]);
			await expectWhole(output[0]);
		},
	);
});

test('Split Files with one missing file: the others have their items, and one says what is missing', async () => {
	setting.service.faults.add({ path: 'image-1.png', action: { type: 'status', status: 404 } });
	const { output } = await setting.run({
		items: [{ count: 3 }],
		parameters: { ...image, options: { splitFiles: true } },
		settings: goOn,
	});
	expect(output).toHaveLength(3);
	for (const item of output.slice(0, 2)) {
		expect(item.json.outcome).toBeUndefined();
		await expectWhole(item);
	}
	expect(output[2]?.binary).toBeUndefined();
	expect(output[2]?.json.error).toMatch(/1 of its 3 files could not be downloaded/);
	expect(outputsOf(output[2]).map(({ binaryProperty }) => binaryProperty)).toEqual([
		undefined,
		undefined,
		undefined,
	]);
	expect(output.map(({ pairedItem }) => pairedItem)).toEqual(output.map(() => ({ item: 0 })));
});

test('one missing file of three: the others are kept, and task: wait fetches all later', async () => {
	const missing = setting.service.faults.add({
		path: 'image-2.png',
		action: { type: 'status', status: 404 },
	});
	const { output } = await setting.run({
		items: [{ count: 3 }],
		parameters: image,
		settings: goOn,
	});
	const [item] = output;
	expect(item?.json).toMatchObject({ outcome: 'undelivered', status: 'done' });
	expect(item?.json.error).toMatch(/1 of its 3 files could not be downloaded: .*HTTP 404$/);
	expect(outputsOf(item).map(({ binaryProperty }) => binaryProperty)).toEqual([
		'data',
		undefined,
		'data_2',
	]);
	expect(outputsOf(item).every(({ url }) => url.includes('/files/'))).toBe(true);
	expect(Object.keys(item?.binary ?? {})).toEqual(['data', 'data_2']);
	setting.service.faults.remove(missing);
	const waiting = { resource: 'task', operation: 'wait', taskId: '={{ $json.task_id }}' };
	const later = await setting.run({ inputs: output, parameters: waiting });
	expect(Object.keys(later.output[0]?.binary ?? {})).toEqual(['data', 'data_1', 'data_2']);
	await expectWhole(later.output[0]);
	expect(setting.service.creations()).toHaveLength(1);
});

describe('redirects that are not followed', () => {
	const cases: Array<[string, RegExp]> = [
		['{files}{path}', /it redirects more than 5 times$/],
		['ftp://127.0.0.1/file.wav', /it redirects to ftp: which is not followed$/],
		['http://', /it redirects without a usable address$/],
	];
	test.each(cases)('%s', async (to, message) => {
		setting.service.faults.add({ route: 'file', action: { type: 'redirect', to } });
		const { output } = await setting.run({ parameters: sound(), settings: goOn });
		expect(output[0]?.json.outcome).toBe('undelivered');
		expect(output[0]?.json.error).toMatch(message);
	});
});

test('files of several items come while others are still running, in the right items', async () => {
	const folder = await prepareEngine();
	const before = stored(folder);
	const items = [400, 50, 200].map((ms, index) => ({
		text: `Sound ${index}`,
		stand_in: { ms, bytes: 100_000 + index },
	}));
	const { output } = await setting.run({ items, parameters: { ...sound(), options: steered } });
	expect(output.map((item) => outputsOf(item)[0]?.fileSize)).toEqual([100_000, 100_001, 100_002]);
	for (const item of output) await expectWhole(item);
	// The folder that the tests above find unchanged is the one where files arrive.
	const sizes = stored(folder)
		.filter((file) => !before.includes(file))
		.join('\n');
	for (const size of [100_000, 100_001, 100_002]) expect(sizes).toContain(` ${size}`);
});
