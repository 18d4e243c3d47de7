import { Limiter } from '../../nodes/MediaGeneration/base/limiter';

const settle = async () => await new Promise((resolve) => setImmediate(resolve));

/** Takes slots in the background; `state` says which of them are there. */
function taking(limiter: Limiter, count: number, signal?: AbortSignal) {
	const got: Array<string | (() => void)> = Array<string>(count).fill('waits');
	for (const index of got.keys())
		limiter.take(signal).then(
			(giveBack) => (got[index] = giveBack),
			({ message }: Error) => (got[index] = message),
		);
	const state = async () => {
		await settle();
		return got.map((each) => (typeof each === 'string' ? each : 'has it'));
	};
	return { got, state };
}

test('slots are given in the order they are asked for; one that is given back twice is free once', async () => {
	const { got, state } = taking(new Limiter(1), 3);
	expect(await state()).toEqual(['has it', 'waits', 'waits']);
	const [giveBack] = got as [() => void];
	giveBack();
	giveBack();
	expect(await state()).toEqual(['has it', 'has it', 'waits']);
});

test('a job that fails gives its slot back', async () => {
	const limiter = new Limiter(1);
	const broken = limiter.run(async () => await Promise.reject(new Error('broken')));
	await expect(broken).rejects.toThrow('broken');
	expect(await limiter.run(async () => await Promise.resolve('ran'))).toBe('ran');
});

test('Stop ends the wait, and those behind it move up', async () => {
	const limiter = new Limiter(1);
	const stop = new AbortController();
	const first = taking(limiter, 1);
	const stopped = taking(limiter, 1, stop.signal);
	const behind = taking(limiter, 1);
	expect(await stopped.state()).toEqual(['waits']);
	stop.abort();
	expect(await stopped.state()).toEqual(['stopped while waiting']);
	(first.got[0] as () => void)();
	expect(await behind.state()).toEqual(['has it']);
	expect(await taking(limiter, 1, stop.signal).state()).toEqual(['stopped while waiting']);
});
