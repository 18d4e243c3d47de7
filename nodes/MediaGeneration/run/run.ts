/** What the items of one run share. */
import type { IExecuteFunctions } from 'n8n-workflow';
import type { RunSettings } from '../actions/waiting';
import { Limiter } from '../base/limiter';
import { Delivery } from '../files/item';
import { realClock } from '../n8n/clock';
import { PaidTasks } from '../n8n/paidTasks';
import type { CreateDeps } from '../task/create';
import type { Ledger } from '../task/ledger';
import { Spending } from '../task/spending';
import type { ServiceClient } from '../transport/client';
import type { Part } from './item';

const CONCURRENT_POLLS = 10;

interface RunOptions extends RunSettings {
	ledger: Ledger;
	/** Whether an item that fails goes on as an item; else the first failure ends the run. */
	failuresGoOn: boolean;
}

/** Comes once no part keeps the execution awake: each task that it can sleep on exists, and the others have ended. */
class Bedtime {
	private readonly awake = new Set<Part>();
	private come = () => {};
	readonly comes = new Promise<void>((resolve) => (this.come = resolve));

	expects(parts: readonly Part[]): void {
		for (const part of parts) this.awake.add(part);
	}

	passed(part: Part): void {
		this.awake.delete(part);
		if (this.awake.size === 0) this.come();
	}
}

export class Run implements CreateDeps {
	readonly now = realClock.now;
	readonly sleep = realClock.sleep;
	readonly random = Math.random;
	readonly ledger: Ledger;
	/** One for each task that is active. */
	readonly slots: Limiter;
	readonly polls = new Limiter(CONCURRENT_POLLS);
	readonly bedtime = new Bedtime();
	readonly stop: AbortSignal | undefined;
	/** Stopped, or about to fail: nothing more is created or waited for. */
	readonly over: AbortSignal;
	readonly paidTasks: PaidTasks;
	readonly spending: Spending;
	readonly delivery: Delivery;
	private readonly failed = new AbortController();
	private readonly sleeping = new AbortController();
	/** Ends the waiting for tasks that the execution can sleep on. */
	readonly asleep = this.sleeping.signal;

	constructor(
		readonly context: IExecuteFunctions,
		readonly client: ServiceClient,
		private readonly options: RunOptions,
	) {
		const { ledger, maxActiveTasks, maximumCredits: maximum } = options;
		const { store, run } = ledger;
		this.ledger = ledger;
		const signal = context.getExecutionCancelSignal();
		this.stop = signal;
		this.over = AbortSignal.any([this.failed.signal, ...(signal === undefined ? [] : [signal])]);
		this.slots = new Limiter(maxActiveTasks);
		this.paidTasks = new PaidTasks(context, run.executionId, this.sleep);
		this.spending = new Spending({ client, store, run, maximum, signal });
		this.delivery = new Delivery(context, { signal, baseUrl: client.credentials.baseUrl });
	}

	get isStopped(): boolean {
		return this.stop?.aborted === true;
	}

	/** Halts it where a failure ends the run: before a slot goes to the next creation, which would be paid for nothing. */
	haltOnFailure(): void {
		if (!this.options.failuresGoOn) this.failed.abort();
	}

	fallAsleep(): void {
		this.sleeping.abort();
	}
}
