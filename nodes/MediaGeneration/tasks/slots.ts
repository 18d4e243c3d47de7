/**
 * How many tasks of a run may be in flight. A slot is taken before a task is created and given back when it is over,
 * which also wakes one creation that the service had no room for.
 */
export class Slots {
	private taken = 0;
	private readonly queue: Array<() => void> = [];
	private readonly hopeful: AbortController[] = [];

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
			this.hopeful.shift()?.abort();
		}
	}

	/** Sleeps, but not beyond the moment in which a slot is given back. */
	async pauseOrRoom(sleep: (cut: AbortSignal) => Promise<void>, wake?: AbortSignal): Promise<void> {
		const room = new AbortController();
		this.hopeful.push(room);
		await sleep(wake === undefined ? room.signal : AbortSignal.any([room.signal, wake]));
		const position = this.hopeful.indexOf(room);
		if (position >= 0) this.hopeful.splice(position, 1);
	}
}
