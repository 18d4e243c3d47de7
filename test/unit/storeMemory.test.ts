/** The memory in which n8n's store buffers files: it is bounded, and nobody waits for what another's host may still send. */
import { Readable } from 'node:stream';
import { storeChunks } from '../../nodes/MediaGeneration/files/binary';
import { StoreMemory, storeMemory } from '../../nodes/MediaGeneration/files/storeMemory';
import { toneWav } from '../service/media/tone';
import { fakeN8n } from '../support/n8n';
import { VirtualClock } from '../support/virtualClock';
import { digest, FILE, host } from './scriptedHost';

const MB = 1_000_000;
/** The same bytes again and again. */
const BLOCK = Buffer.alloc(MB);
const blocks = (count: number) => Readable.from(Array<Buffer>(count).fill(BLOCK));
const drained = async (chunks: AsyncIterable<Buffer>) => {
	for await (const _chunk of chunks);
};
const UNSTATED = { 'content-length': '', 'transfer-encoding': 'chunked' };

test('a file of unknown length that drips delays no other', async () => {
	const drip = { headers: UNSTATED, chunkBytes: 10_000, gapMs: 5_000 };
	const made = host((count) => (count === 1 ? drip : {}), 'default');
	const { clock, download } = made;
	const began = clock.now();
	const ends: number[] = [];
	const one = async () => {
		const { bytes } = await download();
		ends.push(clock.now() - began);
		return digest(bytes);
	};
	const all = Promise.all([one(), one(), one()]);
	expect(await clock.run(all)).toEqual(Array(3).fill(digest(FILE)));
	expect(ends).toEqual([0, 0, expect.any(Number)]);
	expect(ends[2]).toBeGreaterThan(100_000);
});

/** Files that arrive together in a store that takes a second for each; `most`: how much of them was there at once. */
async function arriving(sizes: readonly number[], limit: number) {
	const clock = new VirtualClock();
	const memory = new StoreMemory(limit * MB);
	const held = { now: 0, most: 0 };
	const storeOne = async (size: number) => {
		async function* chunks() {
			for (let sent = 0; sent < size; sent += 1) {
				await clock.sleep(1);
				yield BLOCK;
			}
		}
		const file = memory.begin();
		for await (const _chunk of memory.through(chunks(), file, clock)) {
			held.now += 1;
			held.most = Math.max(held.most, held.now);
		}
		await clock.sleep(1_000);
		held.now -= size;
		memory.end(file);
	};
	await clock.run(Promise.all(sizes.map(storeOne)));
	return held;
}

test.each([
	['small files wait for none', Array<number>(20).fill(1), 100, 20],
	['many large ones do not lie there together', Array<number>(40).fill(20), 100, 200],
	['one that is larger than all of it arrives', [150], 100, 150],
])('%s', async (_name, sizes, limit, most) => {
	const held = await arriving(sizes, limit);
	expect(held.now).toBe(0);
	expect(held.most).toBeLessThanOrEqual(most);
});

test('where files hold all of it and stand still, the others come one after the other', async () => {
	const clock = new VirtualClock();
	const memory = new StoreMemory(10 * MB);
	const still = memory.begin();
	await drained(memory.through(blocks(12), still, clock));
	const before = clock.now();
	const later = async () => {
		const file = memory.begin();
		await drained(memory.through(blocks(2), file, clock));
		memory.end(file);
	};
	await clock.run(Promise.all([later(), later(), later()]));
	expect(clock.now() - before).toBeLessThan(5_000);
});

test.each([
	['a Stop', true],
	['its own end, and it takes nothing then,', false],
])('%s ends the waiting of a file', async (_, isStop) => {
	const clock = new VirtualClock();
	const memory = new StoreMemory(0);
	const stop = new AbortController();
	const [first, second] = [memory.begin(), memory.begin()];
	const through = memory.through(blocks(1), second, { ...clock, signal: stop.signal });
	first.isWaiting = true;
	clock.at(clock.now() + 10_000, () => (isStop ? stop.abort() : memory.end(second)));
	const before = clock.now();
	await clock.run(through.next());
	expect(clock.now() - before).toBe(10_000);
	expect(memory).toMatchObject({ charged: isStop ? second.charged : 0 });
});

test.each([
	['joined here and stored', false],
	['that the store refuses', true],
])('a file %s gives its memory back', async (_name, refused) => {
	const { context } = fakeN8n();
	context.helpers.prepareBinaryData = async () =>
		await (refused
			? Promise.reject(new Error('full'))
			: Promise.resolve({ data: '', mimeType: '' }));
	const chunks = async function* () {
		yield await Promise.resolve(toneWav('x'));
	};
	const ends = jest.spyOn(storeMemory, 'end');
	const clock = new VirtualClock();
	const file = { fileName: 'b', mimeType: 'a/b', sample: undefined, ...clock };
	await storeChunks(context, chunks(), file).catch(() => undefined);
	const [share] = ends.mock.calls[0] ?? [];
	expect(share?.charged).toBeGreaterThan(0);
	expect(storeMemory).toMatchObject({ charged: 0 });
	ends.mockRestore();
});

test('a store that streams is known by its first file; from then on, no file waits', async () => {
	const { clock, run } = host(() => ({}));
	await run();
	const before = clock.now();
	const file = storeMemory.begin();
	await clock.run(drained(storeMemory.through(blocks(150), file, clock)));
	storeMemory.end(file);
	expect(clock.now()).toBe(before);
});
