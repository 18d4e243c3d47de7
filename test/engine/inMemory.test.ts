/** n8n's in-memory mode: the same files, inside the items. */
import { expectWhole } from './files';
import { engineSetting, goOn, sound, steered } from './setting';

const setting = engineSetting();

beforeAll(() => {
	process.env.N8N_DEFAULT_BINARY_DATA_MODE = 'default';
});
afterAll(() => {
	delete process.env.N8N_DEFAULT_BINARY_DATA_MODE;
});

test('files arrive inside the items; one that is too large does not', async () => {
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
});
