import { Limiter } from '../../nodes/MediaGeneration/service/limiter';
import { VirtualClock } from './virtualClock';

describe('jobs that are limited', () => {
	test.each([1, 3, 50])('never more than %d at once, in the order they came', async (limit) => {
		const clock = new VirtualClock();
		const limiter = new Limiter(limit);
		const started: number[] = [];
		let active = 0;
		let most = 0;
		const jobs = Array.from(
			{ length: 20 },
			async (_, index) =>
				await limiter.run(async () => {
					started.push(index);
					most = Math.max(most, (active += 1));
					await clock.sleep(100 + ((index * 37) % 50));
					active -= 1;
				}),
		);
		await clock.run(Promise.all(jobs));
		expect(most).toBe(Math.min(limit, 20));
		expect(started).toEqual([...started].sort((a, b) => a - b));
		expect(started).toHaveLength(20);
	});

	test('says whether somebody waits for a slot', async () => {
		const limiter = new Limiter(1);
		const giveBack = await limiter.take();
		expect(limiter.wanted).toBe(false);
		const second = limiter.take();
		expect(limiter.wanted).toBe(true);
		giveBack();
		(await second)();
		expect(limiter.wanted).toBe(false);
	});

	test('a slot that is given back twice is free once', async () => {
		const limiter = new Limiter(1);
		const giveBack = await limiter.take();
		giveBack();
		giveBack();
		await limiter.take();
		void limiter.take();
		expect(limiter.wanted).toBe(true);
	});

	test('a job that fails gives its place back', async () => {
		const limiter = new Limiter(1);
		await expect(
			limiter.run(async () => await Promise.reject(new Error('broken'))),
		).rejects.toThrow('broken');
		let ran = false;
		await limiter.run(async () => {
			ran = await Promise.resolve(true);
		});
		expect(ran).toBe(true);
	});
});
