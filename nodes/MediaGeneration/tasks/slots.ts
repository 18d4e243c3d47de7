/** How many tasks of a run may be in flight. A slot is taken before a task is created and given back when it is over. */
export class Slots {
	private taken = 0;
	private readonly queue: Array<() => void> = [];

	constructor(private readonly limit: number) {}

	async use<T>(job: () => Promise<T>): Promise<T> {
		if (this.taken >= this.limit) await new Promise<void>((resolve) => this.queue.push(resolve));
		else this.taken += 1;
		try {
			return await job();
		} finally {
			const next = this.queue.shift();
			if (next === undefined) this.taken -= 1;
			else next();
		}
	}
}
