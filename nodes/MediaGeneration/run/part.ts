/** One task of an item: created or taken up, waited for, its files fetched. */
import { asText } from '../base/json';
import { deliverPart } from '../files/assembly';
import type { Delivery } from '../files/delivery';
import type { PaidTasks } from '../n8n/paidTasks';
import type { Created } from '../task/identity';
import { endpointOf } from '../task/earlier';
import { waitForTask, type Polling, type Watch } from '../task/wait';
import { broken, cancelled } from '../answers/failures';
import { addressesIn, asFailed, isForFile, type Failed } from '../answers/verdict';
import { createOnce, type CreatingDeps } from './creating';
import type { Item, Part, PartResult } from './item';

/** Decides when an execution may fall asleep: each task that it can sleep on exists, and all others have ended. */
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

export interface PartDeps extends CreatingDeps, Pick<Polling, 'polls'> {
	beforeSleep: BeforeSleep;
	delivery: Delivery;
	paidTasks: PaidTasks;
}

/** Follows a task until it has ended, or until nobody waits for it any longer. Never rejects. */
export async function followTask(run: PartDeps, item: Item, part: Part): Promise<PartResult> {
	const ended = await toItsEnd(run, item, part);
	if (ended.kind !== 'failed') return ended;
	const { outcome, taskId } = ended.failure;
	// A later try creates another one.
	if (outcome === 'failed') run.ledger.forget(part.slot);
	// One that was given up because another item failed has no failure of its own.
	const isHalted = outcome === 'cancelled' && run.stop?.aborted !== true;
	return isHalted ? { kind: 'halted', taskId } : ended;
}

async function toItsEnd(run: PartDeps, item: Item, part: Part): Promise<PartResult> {
	const { waiting, timeoutMs } = item.settings;
	const sleeps = waiting.kind === 'suspend';
	// A try that takes a task up waits for the whole Timeout again.
	const since = run.now();
	let made: Created | Failed | undefined;
	try {
		made = await madeFor(run, item, part);
		if (sleeps) run.beforeSleep.release(part);
		if (made.kind === 'failed' || waiting.kind === 'no') return made;
		const { taskId, createdAt } = made;
		const deadline = Math.max(createdAt, since) + timeoutMs;
		return await waitFor(run, { taskId, createdAt, deadline, ...shownBy(part) }, { made, sleeps });
	} catch (error) {
		// What was sent has a note, which prevents another try from sending it again.
		const known = made ?? (part.kind === 'creates' ? run.ledger.earlierOf(part) : undefined);
		const taskId = known?.kind === 'created' ? known.taskId : undefined;
		return asFailed(broken(error, 'sent', taskId));
	}
}

async function madeFor(run: PartDeps, item: Item, part: Part): Promise<Created | Failed> {
	if (part.kind === 'awaits') {
		const { taskId } = part;
		return { kind: 'created', taskId, createdAt: run.now(), answer: { task_id: taskId } };
	}
	const made = await createOnce(run, item, part);
	if (made.kind === 'created') run.paidTasks.add(made.taskId, item.index);
	return made;
}

async function waitFor(
	{ client, polls, now, sleep, spending, runEnded, beforeSleep }: PartDeps,
	watch: Watch,
	{ made: { receiveUrl }, sleeps }: { made: Created; sleeps: boolean },
): Promise<PartResult> {
	const signals = { signal: runEnded, sleepSoon: sleeps ? beforeSleep.sleepSoon : undefined };
	const waited = await waitForTask(watch, { client, polls, now, sleep, ...signals });
	const { task } = waited;
	spending.onPoll(watch.taskId, task);
	if (waited.kind === 'done') return { ...waited, watch, delivered: undefined };
	if (waited.kind === 'failed') return waited;
	if (runEnded.aborted) return asFailed(cancelled(watch.taskId, task?.status));
	return { kind: 'open', taskId: watch.taskId, watch, task, receiveUrl };
}

/** Derives from a task's request how to watch it. */
function shownBy(part: Part): Pick<Watch, 'requestAddresses' | 'makesFile' | 'named' | 'seen'> {
	if (part.kind === 'awaits') return { requestAddresses: [], named: true, seen: part.seen };
	const { body, qs, kind } = part.request;
	// A sleeping execution is saved without tokens, and this address ends with one.
	const receiveUrl = asText(body.receive_url);
	const sent = { ...body, receive_url: receiveUrl && endpointOf(receiveUrl) };
	return { requestAddresses: addressesIn([sent, qs]), makesFile: isForFile(kind), named: false };
}

/** Fetches the files of a task that is done. Never rejects. */
export async function withFiles(
	{ delivery }: PartDeps,
	ended: PartResult,
	input: Item & { number: number },
): Promise<PartResult> {
	if (ended.kind !== 'done') return ended;
	// An exception is reported when the item is assembled: a task that is done stays done.
	const delivered = await deliverPart(delivery, ended, input).catch(() => undefined);
	return { ...ended, delivered };
}
