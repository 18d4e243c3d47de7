/**
 * A clock that stands still until everything that can run has run, then jumps to the next moment anyone waits for.
 * Hours pass in milliseconds, and nothing depends on how fast the machine is.
 */
interface Sleeper {
	at: number;
	wake: () => void;
}

/** Lets everything run that can run without time passing: promises, and streams that go through the event loop. */
async function settle(): Promise<void> {
	for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export class VirtualClock {
	private time: number;
	/** The next one stands last. */
	private readonly sleepers: Sleeper[] = [];

	/** @param mostWakes what counts as a loop without an end */
	constructor(
		start = 1_000_000,
		private readonly mostWakes = 100_000,
	) {
		this.time = start;
	}

	readonly now = (): number => this.time;

	/** Resolves after `ms` of virtual time, or as soon as the signal aborts. Never rejects. */
	readonly sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
		if (signal?.aborted === true) return;
		if (!Number.isFinite(ms)) throw new Error(`Slept for ${ms} ms`);
		await new Promise<void>((resolve) => {
			const sleeper: Sleeper = {
				at: this.time + Math.max(0, ms),
				wake: () => {
					const at = this.sleepers.lastIndexOf(sleeper);
					if (at >= 0) this.sleepers.splice(at, 1);
					signal?.removeEventListener('abort', sleeper.wake);
					resolve();
				},
			};
			signal?.addEventListener('abort', sleeper.wake);
			// Behind those of the same moment that came before it.
			let [low, high] = [0, this.sleepers.length];
			while (low < high) {
				const middle = (low + high) >> 1;
				if ((this.sleepers[middle] as Sleeper).at > sleeper.at) low = middle + 1;
				else high = middle;
			}
			this.sleepers.splice(low, 0, sleeper);
		});
	};

	/** Runs something at a moment of virtual time. */
	at(ms: number, action: () => void): void {
		void this.sleep(ms - this.time).then(action);
	}

	get sleeping(): number {
		return this.sleepers.length;
	}

	/** Wakes the next sleeper. False when nobody sleeps or the next one sleeps beyond `until`. */
	private step(until: number): boolean {
		const next = this.sleepers.at(-1);
		if (next === undefined || next.at > until) return false;
		this.time = Math.max(this.time, next.at);
		next.wake();
		return true;
	}

	/** Lets time pass until the promise is settled, and returns its value. Fails when nothing is left that could settle it. */
	async run<T>(promise: Promise<T>): Promise<T> {
		let over = false;
		const end = () => (over = true);
		promise.then(end, end);
		for (let steps = 0; ; steps += 1) {
			await settle();
			if (over) return await promise;
			if (steps > this.mostWakes)
				throw new Error(`The virtual clock was woken ${this.mostWakes} times`);
			if (!this.step(Infinity)) throw new Error('Everybody waits and nobody sleeps: it hangs');
		}
	}

	/** Lets `ms` of virtual time pass. */
	async advance(ms: number): Promise<void> {
		const until = this.time + ms;
		do await settle();
		while (this.step(until));
		this.time = until;
		await settle();
	}
}

/** A repeatable stand-in for Math.random. */
export { seededRandom } from '../service/random';
