/** Files: whole, typed by their bytes and named after them, or reported, never short. */
import type { INodeExecutionData } from 'n8n-workflow';
import { BinaryDataService } from 'n8n-core';
import { PNG } from 'pngjs';
import type { FaultAction } from '../service';
import { Container } from './container';
import { prepareEngine } from './engine';
import { expectWhole, outputsOf, stored, taskIdOf, bytesOf, original, sha } from './files';
import { engineSetting, goOn, sound, steered } from './setting';

const setting = engineSetting();

describe('trouble', () => {
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

	describe('what does not come', () => {
		const cases: Array<[object, RegExp]> = [
			[{ file_status: 404 }, /the file host answered HTTP 404$/],
			[{ file_body: '<!DOCTYPE html><html><body>Gone</body></html>' }, /sent a web page instead/],
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
					outputs: [
						{ url: `${setting.service.fileUrl}/files/${taskId}/effect.wav`, kind: 'audio' },
					],
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
});

describe('files that arrive', () => {
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

	test('redirects to a third host are followed without the key', async () => {
		setting.service.settings.fileRedirect = 'otherHost';
		const { output } = await setting.run({ parameters: image });
		await expectWhole(output[0]);
		const others = setting.service.requests.filter(({ host }) => host === 'other');
		expect(others.length).toBeGreaterThanOrEqual(4);
		expect(others.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
	});
});

describe('Split Files', () => {
	const image = {
		resource: 'image',
		operation: 'generate',
		prompt: 'A lighthouse',
		modelId: 'painter',
		generationsCount: 3,
	};

	/** Makes the n-th of the three pictures unavailable. */
	function missing(...pictures: number[]) {
		for (const picture of pictures) {
			setting.service.faults.add({
				route: 'file',
				path: urlOf(picture),
				action: { type: 'status', status: 404 },
			});
		}
	}

	/** As the stand-in names its pictures. */
	const urlOf = (picture: number) => `/image-${picture}.png`;

	/** The files of these items, each under the name that its item's outputs give it. */
	async function filesOf(items: INodeExecutionData[]): Promise<string[]> {
		const files: string[] = [];
		for (const item of items) {
			const named = outputsOf(item).flatMap(({ binaryProperty }) => binaryProperty ?? []);
			expect(named.sort()).toEqual(Object.keys(item.binary ?? {}).sort());
			for (const property of named) files.push(sha(await bytesOf(item, property)));
		}
		return files;
	}

	const onErrors = ['continueRegularOutput', 'continueErrorOutput'] as const;
	const cases = onErrors.flatMap((onError) =>
		[[1], [2], [3], [1, 3]].map((gone): [string, number[]] => [onError, gone]),
	);

	test.each(cases)('On Error: %s, without picture %j', async (onError, gone) => {
		missing(...gone);
		const { output, errorOutput } = await setting.run({
			parameters: { ...image, options: { splitFiles: true } },
			settings: { onError: onError as (typeof onErrors)[number] },
		});
		const all = [...output, ...errorOutput];
		const taskId = setting.service.creations()[0]?.id ?? '';
		setting.service.faults.clear();
		const there = [1, 2, 3].filter((picture) => !gone.includes(picture));
		const { fileUrl } = setting.service;
		const expected = await Promise.all(
			there.map(async (picture) =>
				sha(await original(`${fileUrl}/files/${taskId}${urlOf(picture)}`)),
			),
		);
		expect((await filesOf(all)).sort()).toEqual(expected.sort());
		// What is missing is said, by one item that still has its address.
		const failed = all.filter(({ json }) => json.outcome !== undefined);
		expect(failed).toHaveLength(1);
		expect(failed[0]?.json).toMatchObject({ outcome: 'undelivered', task_id: taskId });
		const addresses = outputsOf(failed[0]).map(({ url }) => url);
		for (const picture of gone)
			expect(addresses).toContain(`${fileUrl}/files/${taskId}${urlOf(picture)}`);
		if (onError === 'continueErrorOutput') expect(errorOutput).toEqual(failed);
		for (const { pairedItem } of all)
			expect(pairedItem).toMatchObject({ item: expect.anything() as number });
		expect(setting.attempts()).toBe(1);
	});
});

test('n8n’s in-memory mode: files arrive inside the items; one that is too large does not', async () => {
	const store = Container.get(BinaryDataService) as unknown as { mode: string };
	const { mode } = store;
	store.mode = 'default';
	try {
		const items = [{}, { bytes: 300_000 }, { bytes: 2_000_000 }].map((stand_in) => ({ stand_in }));
		const { output } = await setting.run({
			items,
			parameters: { ...sound(), options: { ...steered, maxFileSize: 1 } },
			settings: goOn,
		});
		for (const item of output.slice(0, 2)) {
			expect(item.binary?.data?.id).toBeUndefined();
			expect(item.binary?.data?.mimeType).toBe('audio/wav');
			await expectWhole(item);
		}
		expect(output[2]?.json.outcome).toBe('undelivered');
		expect(output[2]?.binary).toBeUndefined();
	} finally {
		store.mode = mode;
	}
});
