/**
 * The machine that a history runs on: its clock, its timers and its dice are virtual, everything else is Node.js. Time stands still
 * until everything that can run has run, then jumps to the next timer, so that days pass in milliseconds and a seed always plays the
 * same.
 *
 * The code under test is not told: it reads the clock and sets timers as ever. Where a timer belongs to a process of n8n, it ends
 * with that process.
 */
import { seededRandom } from '../service/random';

/** What is taken from Node.js while a history runs. Other realms, as that of the test runner, keep theirs. */
const real = {
	setTimeout: globalThis.setTimeout,
	clearTimeout: globalThis.clearTimeout,
	setImmediate: globalThis.setImmediate,
	performance: globalThis.performance,
	dateNow: Date.now,
	random: Math.random,
	timeout: AbortSignal.timeout.bind(AbortSignal),
};

interface Timer {
	at: number;
	act: () => void;
	/** Ends with the process of n8n. */
	mortal: boolean;
	isCancelled: boolean;
}

/** A time in 2030, in epoch ms. */
export const START = 1_900_000_000_000;
/** Far more than any history takes: something turns in a circle. */
const MOST_STEPS = 60_000;

export class Machine {
	private readonly start: number;
	private time: number;
	private readonly turns: number;
	private steps = 0;
	/** The next one stands last. */
	private readonly timers: Timer[] = [];
	/** How far somebody has set the wall clock, in ms. */
	wallOffset = 0;

	/** @param turns how often Node.js has its turn between two moments: streams go through several */
	constructor(
		private readonly seed: number,
		{ start = START, turns = 1 } = {},
	) {
		this.start = start;
		this.time = start;
		this.turns = turns;
	}

	/** Ms since the history began. */
	get elapsed(): number {
		return this.time - this.start;
	}

	/** The wall clock, in epoch ms. */
	wall(): number {
		return this.time + this.wallOffset;
	}

	/** Puts this machine in the place of Node.js's clock, timers and dice. @returns what takes it away again */
	install(): () => void {
		const setTimer = (act: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
			this.set(() => act(...args), ms, true);
		const put = (name: string, value: unknown) =>
			Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
		put('setTimeout', setTimer);
		put('clearTimeout', (timer: Timer | undefined) => timer && this.cancel(timer));
		put('performance', { timeOrigin: this.start, now: () => this.elapsed });
		Date.now = () => Math.floor(this.wall());
		Math.random = seededRandom(this.seed);
		AbortSignal.timeout = (ms: number) => {
			const controller = new AbortController();
			this.set(() => controller.abort('timed out'), ms, true);
			return controller.signal;
		};
		return () => {
			put('setTimeout', real.setTimeout);
			put('clearTimeout', real.clearTimeout);
			put('performance', real.performance);
			Date.now = real.dateNow;
			Math.random = real.random;
			AbortSignal.timeout = real.timeout;
		};
	}

	/** Acts after `ms`, whatever becomes of n8n's process. */
	later(ms: number, act: () => void): Timer {
		return this.set(act, ms, false);
	}

	cancel(timer: Timer): void {
		timer.isCancelled = true;
	}

	/** How many timers are set. */
	get pending(): number {
		return this.timers.filter(({ isCancelled }) => !isCancelled).length;
	}

	/** Resolves after `ms`, whatever becomes of n8n's process. */
	async pause(ms: number): Promise<void> {
		await new Promise<void>((resolve) => this.later(ms, resolve));
	}

	/** The process dies: nothing of it happens any more. */
	endTimers(): void {
		for (const timer of this.timers) if (timer.mortal) this.cancel(timer);
	}

	/** Lets time pass until `isOver`, or until that moment (ms since the beginning). Fails where nothing can happen any more. */
	async run(isOver: () => boolean, until = Infinity): Promise<void> {
		for (;;) {
			for (let turn = 0; turn < this.turns; turn += 1) await settle();
			if (isOver()) return;
			const next = this.next();
			if (next === undefined || next.at - this.start > until) {
				if (until === Infinity) throw new Error('it hangs: everybody waits, and for no moment');
				this.time = this.start + until;
				return;
			}
			this.steps += 1;
			if (this.steps > MOST_STEPS) throw new Error(`it turns in a circle: ${MOST_STEPS} timers`);
			this.time = Math.max(this.time, next.at);
			this.timers.pop();
			next.act();
		}
	}

	private set(act: () => void, ms: number, mortal: boolean): Timer {
		if (Number.isNaN(ms)) throw new Error('a timer without a time');
		// What Node.js does with a pause that is no 32-bit number.
		const at = this.time + (ms > 2 ** 31 - 1 ? 1 : Math.max(0, ms));
		const timer: Timer = { at, act, mortal, isCancelled: false };
		let [low, high] = [0, this.timers.length];
		while (low < high) {
			const middle = (low + high) >> 1;
			if ((this.timers[middle] as Timer).at > at) low = middle + 1;
			else high = middle;
		}
		this.timers.splice(low, 0, timer);
		return timer;
	}

	private next(): Timer | undefined {
		while (this.timers.at(-1)?.isCancelled === true) this.timers.pop();
		return this.timers.at(-1);
	}
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

/** Lets everything run that can run without time passing: promises, streams and what Node.js does between two turns. */
async function settle(): Promise<void> {
	await new Promise<void>((resolve) => real.setImmediate(resolve));
}
