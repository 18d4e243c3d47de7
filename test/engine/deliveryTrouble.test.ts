/** Files: whole, typed by their bytes and named after them, or reported, never short. */
import { prepareEngine } from './engine';
import { expectWhole, outputsOf, stored } from './files';
import { until } from './hurry';
import { engineSetting, goOn, sound, steered } from './setting';

const setting = engineSetting();

test('what is not delivered leaves nothing half-written', async () => {
	const folder = await prepareEngine();
	const before = stored(folder);
	const { output } = await setting.run({
		items: [{ file_status: 404 }, { file_body: 'Access denied' }, { bytes: 2_000_000 }].map(
			(stand_in) => ({ stand_in }),
		),
		parameters: { ...sound(), options: { ...steered, maxFileSize: 1 } },
		settings: goOn,
	});
	const ends = output.map(({ json, binary }) => [json.outcome, binary]);
	expect(ends).toEqual(Array(3).fill(['undelivered', undefined]));
	expect(stored(folder)).toEqual(before);
});

test('no socket is left open to a file host, whatever it does', async () => {
	const sockets = () =>
		process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
	await until('the sockets of other tests are closed', () => sockets() === 0);
	const ends = ['reset', 'stall', 'html', 'emptyBody', 'drip'] as const;
	for (const type of ends)
		setting.service.faults.add({ route: 'file', times: 1, action: { type } });
	const items = Array.from({ length: 8 }, () => ({}));
	await setting.run({ items, parameters: sound(), settings: goOn });
	await until('no socket is left', () => sockets() === 0);
});

describe('files that arrive', () => {
	const image = { resource: 'image', operation: 'generate', prompt: 'A boat', modelId: 'image-1' };

	test('four pictures, by redirects to a third host: whole, shown by n8n, fetched without the key', async () => {
		setting.service.settings.fileRedirect = 'otherHost';
		const { output } = await setting.run({ parameters: { ...image, generationsCount: 4 } });
		const [item] = output;
		const fields = ['data', 'data_1', 'data_2', 'data_3'];
		expect(Object.keys(item?.binary ?? {})).toEqual(fields);
		for (const field of fields)
			expect(item?.binary?.[field]).toMatchObject({ mimeType: 'image/png', fileType: 'image' });
		await expectWhole(item);
		const others = setting.service.requests.filter(({ host }) => host === 'other');
		expect(others.length).toBeGreaterThanOrEqual(4);
		expect(others.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
	});

	test('one that breaks off before its stated length: n8n says so, and it is fetched again', async () => {
		const action = { type: 'truncate', bytes: 5_000 } as const;
		setting.service.faults.add({ route: 'file', times: 1, action });
		const { output } = await setting.run({ parameters: sound() });
		await expectWhole(output[0]);
	});

	test('50 MB lie in the store, with the right length and hash, and not in the item', async () => {
		const items = [{ stand_in: { bytes: 50_000_000 } }];
		const { output } = await setting.run({ items, parameters: { ...sound(), options: steered } });
		const stored = { data: 'filesystem-v2', mimeType: 'audio/wav' };
		expect(output[0]?.binary?.data).toMatchObject(stored);
		expect(outputsOf(output[0])[0]?.fileSize).toBe(50_000_000);
		await expectWhole(output[0]);
	}, 60_000);
});
