/** What the items of one run share. Each step names the part of it that it needs. */
import type { IExecuteFunctions } from 'n8n-workflow';
import type { RunSettings } from '../actions/creditLimits';
import { Limiter } from '../base/limiter';
import { Delivery } from '../files/delivery';
import { realClock } from '../n8n/realClock';
import type { Ledger } from '../task/ledger';
import { Spending } from '../task/spending';
import { openClient, type ServiceClient } from '../transport/client';
import { checkOneAccount } from '../transport/credentials';
import { PaidTasks } from './paidTasks';
import type { CreatingDeps } from './creating';

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

export interface Run extends CreatingDeps {
	/** A task that this node creates is active until it has ended. */
	active: Limiter;
	polls: Limiter;
	/** Aborts when the execution is about to sleep. */
	sleepSoon: AbortController;
	paidTasks: PaidTasks;
	delivery: Delivery;
	/** Ends the run, unless failures become items. */
	halt(): void;
}

export function startRun(
	context: IExecuteFunctions,
	client: ServiceClient,
	{ ledger, continueOnFail, maxActiveTasks, maximumCredits: maximum }: RunOptions,
): Run {
	const { store, run } = ledger;
	const stop = context.getExecutionCancelSignal();
	const halted = new AbortController();
	return {
		...realClock,
		random: Math.random,
		context,
		client,
		ledger,
		stop,
		runEnded: AbortSignal.any([halted.signal, ...(stop === undefined ? [] : [stop])]),
		halt: () => (continueOnFail ? undefined : halted.abort()),
		active: new Limiter(maxActiveTasks),
		polls: new Limiter(CONCURRENT_POLLS),
		sleepSoon: new AbortController(),
		paidTasks: new PaidTasks(context, run.executionId, realClock.sleep),
		spending: new Spending({ client, store, run, maximum, signal: stop }),
		delivery: new Delivery(context, { signal: stop, baseUrl: client.credentials.baseUrl }),
	};
}
