/**
 * The machine that a history runs on: its clock, its timers (`@sinonjs/fake-timers`, as in Jest) and its random numbers are virtual,
 * everything else is Node.js. Time stands still until everything that can run has run, then jumps to the next timer, so that days pass
 * in milliseconds and a seed always plays the same.
 *
 * The code under test is not told: it reads the clock and sets timers as ever. Where a timer belongs to a process of n8n, it ends
 * with that process.
 */
import { createClock, type TimerId } from '@sinonjs/fake-timers';
import { seededRandom } from '../service/random';

const { setImmediate } = globalThis;

/** A time in 2030, in epoch ms. */
export const START = 1_900_000_000_000;
/** Far more than any history takes: something turns in a circle. */
const MOST_STEPS = 60_000;

export class Machine {
	private readonly clock: ReturnType<typeof createClock>;
	private readonly turns: number;
	private readonly random: () => number;
	private steps = 0;
	/** Timers that end with the process of n8n. */
	private readonly mortal = new Set<TimerId>();

	/** @param turns how often Node.js has its turn between two moments: streams go through several */
	constructor(seed: number, { start = START, turns = 1, random = seededRandom(seed) } = {}) {
		this.random = random;
		this.clock = createClock(start);
		this.turns = turns;
	}

	/** Ms since the history began. */
	get elapsed(): number {
		const { performance } = this.clock as { performance: Pick<Performance, 'now'> };
		return performance.now();
	}

	/** The wall clock, in epoch ms. */
	wall(): number {
		return this.clock.now;
	}

	/** Somebody sets the wall clock, while timers run on. */
	moveWall(ms: number): void {
		this.clock.setSystemTime(this.clock.now + ms);
	}

	/** Puts this machine in the place of Node.js's clock, timers and random numbers. @returns what takes it away again */
	install(): () => void {
		const { clock } = this;
		const mortal = (act: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
			// As in Node.js, no timer is shorter.
			const timer = this.later(Math.max(1, ms), () => act(...args));
			this.mortal.add(timer);
			return timer;
		};
		const timeout = (ms: number) => {
			const controller = new AbortController();
			mortal(() => controller.abort('timed out'), ms);
			return controller.signal;
		};
		const performance = { timeOrigin: this.wall(), now: () => this.elapsed };
		const put = [
			...[setGlobal('setTimeout', mortal), setGlobal('clearTimeout', clock.clearTimeout)],
			...[setGlobal('Date', clock.Date), setGlobal('performance', performance)],
			setGlobal('random', this.random, Math),
			setGlobal('timeout', timeout, AbortSignal),
		];
		return () => put.forEach((takeAway) => takeAway());
	}

	/** Acts after `ms`, whatever becomes of n8n's process. */
	later(ms: number, act: () => void): TimerId {
		if (Number.isNaN(ms)) throw new Error('a timer without a time');
		return this.clock.setTimeout(act, ms);
	}

	cancel(timer: TimerId): void {
		this.clock.clearTimeout(timer);
	}

	/** How many timers are set. */
	get pending(): number {
		return this.clock.countTimers();
	}

	/** Resolves after `ms`, whatever becomes of n8n's process. */
	async pause(ms: number): Promise<void> {
		await new Promise<void>((resolve) => this.later(ms, resolve));
	}

	/** The process dies: nothing of it happens any more. */
	endTimers(): void {
		for (const timer of this.mortal) this.cancel(timer);
		this.mortal.clear();
	}

	/** Lets time pass until `isOver`, or until that moment (ms since the beginning). Fails where nothing can happen any more. */
	async run(isOver: () => boolean, until = Infinity): Promise<void> {
		let isLate = false;
		const end =
			until === Infinity ? undefined : this.later(until - this.elapsed, () => (isLate = true));
		for (;;) {
			// Promises, streams and what Node.js does between two turns.
			for (let turn = 0; turn < this.turns; turn += 1)
				await new Promise<void>((resolve) => setImmediate(resolve));
			if (isLate) return;
			if (isOver()) break;
			if (this.pending === 0) throw new Error('it hangs: everybody waits, and for no moment');
			this.steps += 1;
			if (this.steps > MOST_STEPS) throw new Error(`it turns in a circle: ${MOST_STEPS} timers`);
			this.clock.next();
		}
		if (end !== undefined) this.cancel(end);
	}
}

function setGlobal(name: string, value: unknown, owner: object = globalThis): () => void {
	const real: unknown = Reflect.get(owner, name);
	const put = (now: unknown) =>
		Object.defineProperty(owner, name, { value: now, configurable: true, writable: true });
	put(value);
	return () => put(real);
}

/** Runs something on a machine of its own, while its time passes at once. */
export async function onMachine<T>(act: (machine: Machine) => Promise<T>): Promise<T> {
	const machine = new Machine(1);
	const takeAway = machine.install();
	try {
		let over = false;
		const work = act(machine).finally(() => (over = true));
		work.catch(() => undefined);
		await machine.run(() => over);
		return await work;
	} finally {
		takeAway();
	}
}
