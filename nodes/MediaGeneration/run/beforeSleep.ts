/** Decides when an execution may fall asleep: each task that it can sleep on exists, and all others have ended. */
import type { Part } from './item';

export class BeforeSleep {
	/** Those that keep the execution awake. */
	private readonly awake = new Set<Part>();
	private readonly sleeping = new AbortController();
	private resolve = () => {};
	/** Resolves once nothing keeps the execution awake. */
	readonly isPossible = new Promise<void>((resolve) => (this.resolve = resolve));
	/** Ends the wait for tasks that the execution can sleep on. */
	readonly sleepSoon = this.sleeping.signal;

	keepAwake(parts: readonly Part[]): void {
		for (const part of parts) this.awake.add(part);
	}

	release(part: Part): void {
		this.awake.delete(part);
		if (this.awake.size === 0) this.resolve();
	}

	fallAsleep(): void {
		this.sleeping.abort();
	}
}
