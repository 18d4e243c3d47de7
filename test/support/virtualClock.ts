import { Machine } from './machine';

/** The clock of a machine, for code that is handed one: hours pass in milliseconds. */
export class VirtualClock {
	private readonly machine: Machine;

	constructor(start = 1_000_000) {
		this.machine = new Machine(1, { start, turns: 3 });
	}

	readonly now = (): number => this.machine.wall();

	/** Resolves after `ms` of virtual time, or as soon as the signal aborts. Never rejects. */
	readonly sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
		if (signal?.aborted === true) return;
		if (!Number.isFinite(ms)) throw new Error(`Slept for ${ms} ms`);
		await new Promise<void>((resolve) => {
			const wake = () => {
				this.machine.cancel(timer);
				signal?.removeEventListener('abort', wake);
				resolve();
			};
			const timer = this.machine.later(ms, wake);
			signal?.addEventListener('abort', wake);
		});
	};

	/** Runs something at a moment of virtual time. */
	at(ms: number, action: () => void): void {
		this.machine.later(ms - this.now(), action);
	}

	get sleeping(): number {
		return this.machine.pending;
	}

	/** Lets time pass until the promise is settled, and returns its value. Fails when nothing is left that could settle it. */
	async run<T>(promise: Promise<T>): Promise<T> {
		let over = false;
		const end = () => (over = true);
		promise.then(end, end);
		await this.machine.run(() => over);
		return await promise;
	}

	/** Lets `ms` of virtual time pass. */
	async advance(ms: number): Promise<void> {
		await this.machine.run(() => false, this.machine.elapsed + ms);
	}
}

/** A repeatable stand-in for Math.random. */
export { seededRandom } from '../service/random';
