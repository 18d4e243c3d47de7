/** Requests whose answer is held back on purpose: nobody waits for them before time passes (`engine/hurry.ts`). */
export const heldBack = new Set<object>();

/** ms since the epoch that never go back, whatever happens to the machine's clock. */
export function now(): number {
	return performance.timeOrigin + performance.now();
}

/** Timers that keep no process alive and can all be cleared at once. */
export class Timers {
	private readonly open = new Set<NodeJS.Timeout>();

	/** Calls `work` after `ms`; never, if that is longer than a timer can hold (24.8 days). */
	after(ms: number, work: () => void): void {
		if (!(ms < 2 ** 31)) return;
		const timer = setTimeout(
			() => {
				this.open.delete(timer);
				work();
			},
			Math.max(0, ms),
		);
		timer.unref();
		this.open.add(timer);
	}

	/** Resolves after `ms`, or never once the timers were cleared. */
	async sleep(ms: number): Promise<void> {
		await new Promise<void>((resolve) => this.after(ms, resolve));
	}

	clear(): void {
		for (const timer of this.open) clearTimeout(timer);
		this.open.clear();
	}
}
