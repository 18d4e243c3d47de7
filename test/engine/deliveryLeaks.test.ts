/** Downloads with n8n's own HTTP client and its own store: large files are streamed, and no connection and no timer outlives them. */
import { createHash } from 'node:crypto';
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import { prepareEngine } from './engine';
import { outputsOf } from './files';
import { engineSetting, goOn, sound, steered } from './setting';
import { until } from './hurry';

const setting = engineSetting({ time: 'real' });

describe('nothing is left', () => {
	const image = {
		resource: 'image',
		operation: 'generate',
		prompt: 'A boat',
		modelId: 'image-1',
		generationsCount: 1,
		options: { ...steered, maxFileSize: 1 },
	};

	/** Sockets (of both ends, as the hosts are in this process) and timers that keep a process alive. */
	function active(): { sockets: number; timers: number } {
		const names = process.getActiveResourcesInfo();
		const count = (name: string) => names.filter((one) => one === name).length;
		return { sockets: count('TCPSocketWrap'), timers: count('Timeout') };
	}

	async function leavesNothing<T>(job: () => Promise<T>): Promise<T> {
		const before = active();
		const result = await job();
		await until('all sockets are closed', () => active().sockets <= before.sockets, 10_000);
		await until('all timers are cleared', () => active().timers <= before.timers, 10_000);
		return result;
	}

	const fileRequests = () => setting.service.requests.filter(({ route }) => route === 'file');

	beforeAll(async () => {
		await prepareEngine();
		// What n8n itself sets up on its first run is not ours.
		await setting.run({ parameters: sound() });
		setting.service.reset();
	});

	test('thirty files over Max File Size', async () => {
		const items = [{ stand_in: { files: 30, bytes: 3_000_000 } }];
		const { output } = await leavesNothing(
			async () => await setting.run({ items, parameters: image, settings: goOn }),
		);
		expect(output[0]?.json.error).toMatch(/30 of its 30 files .+ larger than allowed: 3 MB/);
		expect(fileRequests()).toHaveLength(30);
	});

	test('thirty answers that are not files: refusals, redirects to nowhere, error pages', async () => {
		const { faults } = setting.service;
		faults.add({
			path: /image-\d\.png/,
			action: { type: 'status', status: 404, body: 'x'.repeat(400_000) },
		});
		faults.add({ path: /image-1\d\.png/, action: { type: 'redirect', to: 'ftp://nowhere' } });
		faults.add({
			path: /image-2\d\.png/,
			times: 10,
			action: { type: 'dropHeader', name: 'content-length' },
		});
		const items = [{ stand_in: { files: 30, bytes: 3_000_000 } }];
		const { output } = await leavesNothing(
			async () => await setting.run({ items, parameters: image, settings: goOn }),
		);
		expect(output[0]?.json.error).toMatch(/30 of its 30 files could not be downloaded/);
	});

	test('files that came, some by a redirect and some in pieces', async () => {
		setting.service.settings.fileRedirect = 'otherHost';
		setting.service.faults.add({
			host: 'other',
			times: 5,
			action: { type: 'truncate', bytes: 200_000 },
		});
		const items = [{ stand_in: { files: 12, bytes: 900_000 } }];
		const { output, error } = await leavesNothing(
			async () => await setting.run({ items, parameters: image }),
		);
		expect(error).toBeUndefined();
		expect(outputsOf(output[0]).map(({ fileSize }) => fileSize)).toEqual(
			Array.from({ length: 12 }, () => 900_000),
		);
	});

	describe('a store that fails', () => {
		const items = [{ stand_in: { files: 8, bytes: 900_000 } }];
		const failing = async (reject: () => Promise<never>) => {
			const store = jest
				.spyOn(Container.get(BinaryDataService), 'store')
				.mockImplementation(reject);
			try {
				return await leavesNothing(
					async () => await setting.run({ items, parameters: image, settings: goOn }),
				);
			} finally {
				store.mockRestore();
			}
		};

		test('before it has read a byte', async () => {
			const { output } = await failing(async () => await Promise.reject(new Error('disk full')));
			expect(output[0]?.json.error).toMatch(
				/8 of its 8 files .+: n8n could not store it: disk full$/,
			);
			expect(fileRequests()).toHaveLength(8);
		});
	});

	test('Stop in the middle of slow files', async () => {
		setting.service.settings.fileBytesPerSecond = 50_000;
		const items = [{ stand_in: { files: 6, bytes: 900_000 } }];
		const started = until('downloads have begun', () => fileRequests().length >= 4);
		await leavesNothing(
			async () => await setting.run({ items, parameters: image, stopWhen: started }),
		);
		expect(fileRequests().length).toBeGreaterThanOrEqual(4);
	});
});

describe('large files', () => {
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
});
