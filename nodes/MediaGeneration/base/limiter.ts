import { onAbort } from './abort';

/** Shares a limited number of slots, in the order in which they were asked for. */
export class Limiter {
	private taken = 0;
	private readonly queue: Array<() => void> = [];

	constructor(readonly limit: number) {}

	get waiting(): number {
		return this.queue.length;
	}

	/** Waits for a slot; throws if the signal aborts first. @returns a function that gives it back, once */
	async take(signal?: AbortSignal): Promise<() => void> {
		await new Promise<void>((resolve, reject) => {
			const leave = () => {
				this.queue.splice(this.queue.indexOf(go), 1);
				reject(new Error('stopped while waiting'));
			};
			const go = () => {
				forget?.();
				resolve();
			};
			this.queue.push(go);
			const forget = signal && onAbort(signal, leave);
			this.admit();
		});
		let held = 1;
		return () => {
			this.taken -= held;
			held = 0;
			this.admit();
		};
	}

	async run<T>(job: () => Promise<T>): Promise<T> {
		const giveBack = await this.take();
		try {
			return await job();
		} finally {
			giveBack();
		}
	}

	private admit(): void {
		while (this.taken < this.limit) {
			const next = this.queue.shift();
			if (next === undefined) return;
			this.taken += 1;
			next();
		}
	}
}
