import { Limiter } from '../../nodes/MediaGeneration/base/limiter';

test('a slot that is given back twice is free once', async () => {
	const limiter = new Limiter(1);
	const giveBack = await limiter.take();
	giveBack();
	giveBack();
	await limiter.take();
	let isFree = false;
	void limiter.take().then(() => (isFree = true));
	await new Promise(setImmediate);
	expect(isFree).toBe(false);
});

/** Takes shares in the background; `state` says which have got theirs. */
function taking(limiter: Pick<Limiter, 'take'>, weights: number[], signal?: AbortSignal) {
	const got: Array<(() => void) | undefined> = weights.map(() => undefined);
	const failed: unknown[] = [];
	weights.forEach((weight, index) => {
		limiter.take(weight, signal).then(
			(giveBack) => (got[index] = giveBack),
			(error: unknown) => failed.push(error),
		);
	});
	const settle = async () => await new Promise((resolve) => setImmediate(resolve));
	return { got, failed, settle, state: () => got.map((giveBack) => giveBack !== undefined) };
}

describe('shares of different weight', () => {
	test('in the order they came; one that is larger than all of it goes alone', async () => {
		const { got, settle, state } = taking(new Limiter(100), [60, 40, 30, 500, 10]);
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

	test('Stop ends the wait, and lets those behind it go', async () => {
		const limiter = new Limiter(100);
		const stop = new AbortController();
		const first = taking(limiter, [70]);
		const stopped = taking(limiter, [100], stop.signal);
		const behind = taking(limiter, [30]);
		await first.settle();
		expect([stopped.state(), behind.state()]).toEqual([[false], [false]]);
		stop.abort();
		await first.settle();
		expect(stopped.failed).toHaveLength(1);
		expect(behind.state()).toEqual([true]);
		const late = taking(limiter, [100], stop.signal);
		await late.settle();
		expect(late.failed).toHaveLength(1);
	});
});
