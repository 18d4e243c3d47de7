/**
 * A clock that stands still until everything that can run has run, then jumps to the next moment anyone waits for.
 * Hours pass in milliseconds, and nothing depends on how fast the machine is.
 */
import { Heap } from './heap';

interface Sleeper {
	at: number;
	order: number;
	awake: boolean;
	wake: () => void;
}

/** Lets everything run that can run without time passing: promises, and streams that go through the event loop. */
async function settle(): Promise<void> {
	for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export class VirtualClock {
	private time: number;
	private order = 0;
	/** Also some that a signal has woken before their time. */
	private readonly sleepers = new Heap<Sleeper>(
		(a, b) => a.at < b.at || (a.at === b.at && a.order < b.order),
	);
	private asleep = 0;

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
				order: (this.order += 1),
				awake: false,
				wake: () => {
					if (sleeper.awake) return;
					sleeper.awake = true;
					this.asleep -= 1;
					signal?.removeEventListener('abort', sleeper.wake);
					resolve();
				},
			};
			signal?.addEventListener('abort', sleeper.wake);
			this.asleep += 1;
			// Those that are awake already are dropped now and then, so that each costs little.
			if (this.sleepers.size > 2 * this.asleep + 50) this.sleepers.keep(({ awake }) => !awake);
			this.sleepers.push(sleeper);
		});
	};

	/** Runs something at a moment of virtual time. */
	at(ms: number, action: () => void): void {
		void this.sleep(ms - this.time).then(action);
	}

	get sleeping(): number {
		return this.asleep;
	}

	/** Wakes the next sleeper. False when nobody sleeps or the next one sleeps beyond `until`. */
	private step(until: number): boolean {
		while (this.sleepers.first?.awake === true) this.sleepers.shift();
		const { first: next } = this.sleepers;
		if (next === undefined || next.at > until) return false;
		this.sleepers.shift();
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

/** A repeatable stand-in for Math.random (mulberry32). */
export function seededRandom(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}
