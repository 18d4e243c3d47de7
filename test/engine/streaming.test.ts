/** Large files in n8n's filesystem mode: streamed into the store, continued after a cut. */
import { createHash } from 'node:crypto';
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import { prepareEngine } from './engine';
import { outputsOf, stored } from './files';
import { engineSetting, sound, steered } from './setting';
import { until } from './until';

const setting = engineSetting();
const BYTES = 50_000_000;
const items = [{ stand_in: { bytes: BYTES } }];
const parameters = { ...sound(), options: steered };

async function hashOf(chunks: AsyncIterable<Uint8Array>): Promise<[number, string]> {
	const hash = createHash('sha256');
	let length = 0;
	for await (const chunk of chunks) {
		hash.update(chunk);
		length += chunk.length;
	}
	return [length, hash.digest('hex')];
}

async function expectWhole({ output }: Awaited<ReturnType<typeof setting.run>>) {
	const binary = output[0]?.binary?.data;
	expect(binary).toMatchObject({ data: 'filesystem-v2', mimeType: 'audio/wav' });
	const { body } = await fetch(String(outputsOf(output[0])[0]?.url));
	if (body === null) throw new Error('The file host sent nothing');
	const host = await hashOf(body as unknown as AsyncIterable<Uint8Array>);
	const stream = await Container.get(BinaryDataService).getAsStream(binary?.id ?? '');
	expect(await hashOf(stream as AsyncIterable<Uint8Array>)).toEqual(host);
	expect(host[0]).toBe(BYTES);
	expect(outputsOf(output[0])[0]?.fileSize).toBe(BYTES);
}

test('50 MB arrive with the right length and hash, and lie in the store, not in the item', async () => {
	await expectWhole(await setting.run({ items, parameters }));
}, 60_000);

test('what has come lies on the disk while the rest is still missing', async () => {
	const { service } = setting;
	const folder = await prepareEngine();
	const sizes = () => stored(folder).map((file) => Number(file.split(' ').at(-1)));
	service.faults.add({ route: 'file', times: 1, action: { type: 'truncate', bytes: 20_000_000 } });
	service.faults.add({ route: 'file', times: 1, action: { type: 'stall' } });
	const running = setting.run({ items, parameters, stopWhen: arrived() });
	async function arrived() {
		await until('20 MB lie in the store', () =>
			sizes().some((size) => size > 19_500_000 && size <= 20_000_000),
		);
	}
	await running;
	// Stopped there: the host has sent no more than that.
	const statuses = service.requests.filter(({ route }) => route === 'file');
	expect(statuses.map(({ fault }) => fault)).toEqual(
		['truncate', 'stall'].slice(0, statuses.length),
	);
}, 60_000);

test('cut twice in the middle, they are continued where they broke off', async () => {
	const { service } = setting;
	for (const bytes of [20_000_000, 10_000_000])
		service.faults.add({ route: 'file', times: 1, action: { type: 'truncate', bytes } });
	const result = await setting.run({ items, parameters });
	expect(result.error).toBeUndefined();
	const ranges = service.requests
		.filter(({ route }) => route === 'file')
		.map(({ headers, status }) => [status, headers.range !== undefined]);
	expect(ranges).toEqual([
		[200, false],
		[206, true],
		[206, true],
	]);
	await expectWhole(result);
}, 60_000);
