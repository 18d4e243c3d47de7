/** Files on their way into a store that buffers them: never more bytes at once than are allowed. */
import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import type { IBinaryData } from 'n8n-workflow';
import { StoreMemory } from '../../nodes/MediaGeneration/delivery/storeMemory';
import { seededRandom, VirtualClock } from './virtualClock';

const stored = (id?: string): IBinaryData => ({
	data: '',
	mimeType: 'audio/wav',
	...(id === undefined ? {} : { id }),
});

/** Reserves in the background; `state` says which have got their memory. */
function reserving(memory: StoreMemory, sizes: number[], signal?: AbortSignal) {
	const got: Array<(() => void) | undefined> = sizes.map(() => undefined);
	const failed: unknown[] = [];
	sizes.forEach((size, index) => {
		memory.reserve(size, signal).then(
			(release) => (got[index] = release),
			(error: unknown) => failed.push(error),
		);
	});
	const settle = async () => await new Promise((resolve) => setImmediate(resolve));
	return { got, failed, settle, state: () => got.map((release) => release !== undefined) };
}

test('files share the memory in the order they came; one that is larger than all of it goes alone', async () => {
	const { got, settle, state } = reserving(new StoreMemory(100), [60, 40, 30, 500, 10]);
	await settle();
	expect(state()).toEqual([true, true, false, false, false]);
	got[0]?.();
	await settle();
	expect(state()).toEqual([true, true, true, false, false]);
	got[1]?.();
	got[2]?.();
	await settle();
	// The small one behind the large one waits for it: else the large one would never come.
	expect(state()).toEqual([true, true, true, true, false]);
	got[3]?.();
	await settle();
	expect(state()).toEqual([true, true, true, true, true]);
});

test.each(['database:1', 's3:1', 'azure:1', undefined])(
	'a store that has shown the id %j keeps its limit',
	async (id) => {
		const memory = new StoreMemory(100);
		memory.learn(stored(id));
		const { settle, state } = reserving(memory, [100, 100]);
		await settle();
		expect(state()).toEqual([true, false]);
	},
);

test.each(['filesystem-v2:1', 'filesystem:1'])(
	'a store that has shown the id %s streams: nobody waits any more',
	async (id) => {
		const memory = new StoreMemory(100);
		const { settle, state } = reserving(memory, [100, 100, 100]);
		await settle();
		expect(state()).toEqual([true, false, false]);
		memory.learn(stored(id));
		await settle();
		expect(state()).toEqual([true, true, true]);
	},
);

test('Stop ends the wait, and lets those behind it go', async () => {
	const memory = new StoreMemory(100);
	const stop = new AbortController();
	const first = reserving(memory, [70]);
	const stopped = reserving(memory, [100], stop.signal);
	const behind = reserving(memory, [30]);
	await first.settle();
	expect([stopped.state(), behind.state()]).toEqual([[false], [false]]);
	stop.abort();
	await first.settle();
	expect(stopped.failed).toHaveLength(1);
	expect(stopped.failed[0]).toHaveProperty('message', 'the download was stopped');
	expect(behind.state()).toEqual([true]);
	const late = reserving(memory, [100], stop.signal);
	await late.settle();
	expect(late.failed).toHaveLength(1);
});

test('Stop after the wait takes nobody out of the queue', async () => {
	const memory = new StoreMemory(100);
	const stop = new AbortController();
	const first = reserving(memory, [100]);
	const second = reserving(memory, [100], stop.signal);
	const third = reserving(memory, [100]);
	await first.settle();
	first.got[0]?.();
	await first.settle();
	expect([second.state(), third.state()]).toEqual([[true], [false]]);
	expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
	stop.abort();
	second.got[0]?.();
	await first.settle();
	expect(second.failed).toEqual([]);
	expect(third.state()).toEqual([true]);
});

test('whatever comes and goes, the limit holds and everybody gets there', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.integer({ min: 1, max: 150 }), { minLength: 1, maxLength: 40 }),
			fc.integer(),
			async (sizes, seed) => {
				const clock = new VirtualClock();
				const random = seededRandom(seed);
				const memory = new StoreMemory(100);
				let used = 0;
				let done = 0;
				const one = async (size: number) => {
					await clock.sleep(random() * 50);
					const release = await memory.reserve(size, undefined);
					used += Math.min(size, 100);
					expect(used).toBeLessThanOrEqual(100);
					await clock.sleep(random() * 20);
					used -= Math.min(size, 100);
					release();
					done += 1;
				};
				await clock.run(Promise.all(sizes.map(one)));
				expect(done).toBe(sizes.length);
			},
		),
		{ seed: 20_260_401, numRuns: 60 },
	);
});
