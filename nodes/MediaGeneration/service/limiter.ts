/** Runs at most so many jobs at a time, in the order they came. */
export class Limiter {
	private active = 0;
	private readonly queue: Array<() => void> = [];

	constructor(private readonly limit: number) {}

	async run<T>(job: () => Promise<T>): Promise<T> {
		if (this.active >= this.limit) await new Promise<void>((resolve) => this.queue.push(resolve));
		else this.active += 1;
		try {
			return await job();
		} finally {
			const next = this.queue.shift();
			if (next === undefined) this.active -= 1;
			else next();
		}
	}
}
