import { setMaxListeners } from 'node:events';
import { VirtualClock } from '../support/virtualClock';

describe('the virtual clock', () => {
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
