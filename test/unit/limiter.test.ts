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

/** Takes slots in the background; `state` says which takers have got one. */
function taking(limiter: Pick<Limiter, 'take'>, count: number, signal?: AbortSignal) {
	const got = Array.from({ length: count }, (): (() => void) | undefined => undefined);
	const failed: unknown[] = [];
	got.forEach((_, index) => {
		limiter.take(signal).then(
			(giveBack) => (got[index] = giveBack),
			(error: unknown) => failed.push(error),
		);
	});
	const settle = async () => await new Promise((resolve) => setImmediate(resolve));
	return { got, failed, settle, state: () => got.map((giveBack) => giveBack !== undefined) };
}

test('slots go to those who wait, in the order they came', async () => {
	const { got, settle, state } = taking(new Limiter(2), 4);
	await settle();
	expect(state()).toEqual([true, true, false, false]);
	got[1]?.();
	await settle();
	expect(state()).toEqual([true, true, true, false]);
	got[0]?.();
	await settle();
	expect(state()).toEqual([true, true, true, true]);
});

test('Stop ends the wait, and those behind it keep their places', async () => {
	const limiter = new Limiter(1);
	const stop = new AbortController();
	const first = taking(limiter, 1);
	const stopped = taking(limiter, 1, stop.signal);
	const behind = taking(limiter, 2);
	await first.settle();
	stop.abort();
	await first.settle();
	expect(stopped.failed).toHaveLength(1);
	expect(behind.state()).toEqual([false, false]);
	first.got[0]?.();
	await first.settle();
	expect([stopped.state(), behind.state()]).toEqual([[false], [true, false]]);
	const late = taking(limiter, 1, stop.signal);
	await late.settle();
	expect(late.failed).toHaveLength(1);
});
