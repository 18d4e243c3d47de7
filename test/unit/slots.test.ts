import { Limiter } from '../../nodes/MediaGeneration/delivery/files';
import { Slots } from '../../nodes/MediaGeneration/tasks/slots';
import { VirtualClock } from './virtualClock';

const users = {
	Slots: (limit: number) => {
		const slots = new Slots(limit);
		return async (job: () => Promise<void>) => await slots.use(job);
	},
	Limiter: (limit: number) => {
		const limiter = new Limiter(limit);
		return async (job: () => Promise<void>) => await limiter.run(job);
	},
};

describe.each(['Slots', 'Limiter'] as const)('%s', (name) => {
	test.each([1, 3, 50])('never more than %d at once, in the order they came', async (limit) => {
		const clock = new VirtualClock();
		const use = users[name](limit);
		const started: number[] = [];
		let active = 0;
		let most = 0;
		const jobs = Array.from(
			{ length: 20 },
			async (_, index) =>
				await use(async () => {
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

	test('a job that fails gives its place back', async () => {
		const use = users[name](1);
		await expect(use(async () => await Promise.reject(new Error('broken')))).rejects.toThrow(
			'broken',
		);
		let ran = false;
		await use(async () => {
			ran = await Promise.resolve(true);
		});
		expect(ran).toBe(true);
	});
});
