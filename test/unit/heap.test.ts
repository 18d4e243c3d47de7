import { setMaxListeners } from 'node:events';
import { Heap } from '../support/heap';
import { seededRandom, VirtualClock } from '../support/virtualClock';

const numbers = () => new Heap<number>((one, other) => one < other);

function drained(heap: Heap<number>): number[] {
	const all: number[] = [];
	while (heap.size > 0) all.push(heap.shift() ?? NaN);
	return all;
}

describe('the heap', () => {
	test('gives out the least first, whatever came when', () => {
		const random = seededRandom(3);
		const heap = numbers();
		const values = Array.from({ length: 500 }, () => Math.floor(200 * random()));
		for (const value of values) heap.push(value);
		expect(heap.first).toBe(Math.min(...values));
		expect(drained(heap)).toEqual([...values].sort((a, b) => a - b));
		expect(heap.first).toBeUndefined();
		expect(heap.shift()).toBeUndefined();
	});

	test('keeps its order when some are dropped', () => {
		const heap = numbers();
		for (const value of [5, 3, 8, 1, 9, 2, 7, 4, 6, 0]) heap.push(value);
		heap.keep((value) => value % 3 !== 0);
		expect(drained(heap)).toEqual([1, 2, 4, 5, 7, 8]);
	});
});

describe('the virtual clock', () => {
	test('wakes in order of time, and of arrival at the same moment', async () => {
		const clock = new VirtualClock();
		const woken: string[] = [];
		const sleeper = async (name: string, ms: number) => {
			await clock.sleep(ms);
			woken.push(name);
		};
		await clock.run(
			Promise.all([sleeper('c', 30), sleeper('a', 10), sleeper('d', 30), sleeper('b', 20)]),
		);
		expect(woken).toEqual(['a', 'b', 'c', 'd']);
		expect(clock.now()).toBe(1_000_030);
	});

	test('forgets who was woken by its signal', async () => {
		const clock = new VirtualClock();
		const cut = new AbortController();
		setMaxListeners(Infinity, cut.signal);
		const sleepers = Array.from({ length: 200 }, async () => await clock.sleep(50, cut.signal));
		const last = clock.sleep(70);
		clock.at(clock.now() + 10, () => cut.abort());
		await clock.run(Promise.all(sleepers));
		expect(clock.now()).toBe(1_000_010);
		expect(clock.sleeping).toBe(1);
		await clock.run(last);
		expect(clock.sleeping).toBe(0);
	});

	test('gives up a loop without an end', async () => {
		const clock = new VirtualClock(0, 50);
		const forever = (async () => {
			for (;;) await clock.sleep(1);
		})();
		await expect(clock.run(forever)).rejects.toThrow('woken 50 times');
	});
});
