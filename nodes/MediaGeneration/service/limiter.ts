/** Hands out a limited number of slots, in the order in which they were asked for. */
export class Limiter {
	private taken = 0;
	private readonly queue: Array<() => void> = [];

	constructor(private readonly limit: number) {}

	/** Whether somebody waits for a slot. */
	get wanted(): boolean {
		return this.queue.length > 0;
	}

	/** Waits for a slot. Returns the function that gives it back; calling it again does nothing. */
	async take(): Promise<() => void> {
		if (this.taken >= this.limit) await new Promise<void>((resolve) => this.queue.push(resolve));
		else this.taken += 1;
		let given = false;
		return () => {
			if (given) return;
			given = true;
			const next = this.queue.shift();
			if (next === undefined) this.taken -= 1;
			else next();
		};
	}

	/** Runs a job in a slot. */
	async run<T>(job: () => Promise<T>): Promise<T> {
		const giveBack = await this.take();
		try {
			return await job();
		} finally {
			giveBack();
		}
	}
}
