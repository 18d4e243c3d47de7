/** What the items of one run share. */
import type { IExecuteFunctions } from 'n8n-workflow';
import type { RunSettings } from '../actions/creditLimits';
import { Limiter } from '../base/limiter';
import { Delivery } from '../files/delivery';
import { realClock } from '../n8n/realClock';
import { PaidTasks } from '../n8n/paidTasks';
import type { CreateDeps } from '../task/create';
import type { Ledger } from '../task/ledger';
import { Spending } from '../task/spending';
import { openClient, type ServiceClient } from '../transport/client';
import { checkOneAccount } from '../transport/credentials';
import type { Part } from './item';

/** Opens the account of a run: there is one, whatever its items are. */
export async function openOne(context: IExecuteFunctions): Promise<ServiceClient> {
	await checkOneAccount(context);
	return await openClient(context);
}

const CONCURRENT_POLLS = 10;

interface RunOptions extends RunSettings {
	ledger: Ledger;
	/** Whether failures become items; else the first one ends the run. */
	continueOnFail: boolean;
}

/** Parts that keep the execution awake. None is left once each task that it can sleep on exists, and the others have ended. */
class AwakeParts {
	private readonly parts = new Set<Part>();
	private resolve = () => {};
	readonly none = new Promise<void>((resolve) => (this.resolve = resolve));

	add(parts: readonly Part[]): void {
		for (const part of parts) this.parts.add(part);
	}

	delete(part: Part): void {
		this.parts.delete(part);
		if (this.parts.size === 0) this.resolve();
	}
}

export class Run implements CreateDeps {
	readonly now = realClock.now;
	readonly sleep = realClock.sleep;
	readonly random = Math.random;
	readonly ledger: Ledger;
	/** One for each active task. */
	readonly slots: Limiter;
	readonly maxActiveTasks: number;
	readonly polls = new Limiter(CONCURRENT_POLLS);
	readonly awake = new AwakeParts();
	readonly stop: AbortSignal | undefined;
	/** Stopped, or about to fail: nothing more is created or waited for. */
	readonly runEnded: AbortSignal;
	readonly paidTasks: PaidTasks;
	readonly spending: Spending;
	readonly delivery: Delivery;
	private readonly failed = new AbortController();
	private readonly sleeping = new AbortController();
	/** Ends the wait for tasks that the execution can sleep on. */
	readonly sleepSoon = this.sleeping.signal;

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
		this.runEnded = AbortSignal.any([
			this.failed.signal,
			...(signal === undefined ? [] : [signal]),
		]);
		this.slots = new Limiter(maxActiveTasks);
		this.maxActiveTasks = maxActiveTasks;
		this.paidTasks = new PaidTasks(context, run.executionId, this.sleep);
		this.spending = new Spending({ client, store, run, maximum, signal });
		this.delivery = new Delivery(context, { signal, baseUrl: client.credentials.baseUrl });
	}

	get isStopped(): boolean {
		return this.stop?.aborted === true;
	}

	/** Halts the run if a failure ends it, before a slot goes to the next creation, which would be paid for in vain. */
	haltOnFailure(): void {
		if (!this.options.continueOnFail) this.failed.abort();
	}

	fallAsleep(): void {
		this.sleeping.abort();
	}
}
