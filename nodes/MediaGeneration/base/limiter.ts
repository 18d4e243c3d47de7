import { onAbort } from './abort';

/** Shares a limited amount (slots, bytes), in the order in which it was asked for. */
export class Limiter {
	private taken = 0;
	private readonly queue: Array<{ share: number; go: () => void }> = [];

	constructor(private readonly limit: number) {}

	get waiting(): number {
		return this.queue.length;
	}

	/** Waits for a share, or all of it; throws if the signal aborts first. @returns a function that gives it back, once */
	async take(weight = 1, signal?: AbortSignal): Promise<() => void> {
		let held = Math.min(weight, this.limit);
		await new Promise<void>((resolve, reject) => {
			const leave = () => {
				this.queue.splice(this.queue.indexOf(waiting), 1);
				reject(new Error('stopped while waiting'));
				this.admit();
			};
			const go = () => {
				forget?.();
				resolve();
			};
			const waiting = { share: held, go };
			this.queue.push(waiting);
			const forget = signal && onAbort(signal, leave);
			this.admit();
		});
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
		let [next] = this.queue;
		while (next !== undefined && this.taken + next.share <= this.limit) {
			this.queue.shift();
			this.taken += next.share;
			next.go();
			[next] = this.queue;
		}
	}
}
