/** One task of an item: created or taken up, waited for, its files fetched. */
import { asText } from '../base/json';
import { endpointOf } from '../base/url';
import { deliverPart } from '../files/assembly';
import type { Delivery } from '../files/delivery';
import type { Created } from '../task/identity';
import { waitForTask, type Polling, type Watch } from '../task/wait';
import { broken, cancelled } from '../answers/failures';
import { addressesIn, asFailed, type Failed } from '../answers/verdict';
import { createOnce, type CreatingDeps } from './creating';
import type { Item, Part, PartResult } from './item';
import type { PaidTasks } from './paidTasks';

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

/** Creates the task of a part, waits for its end, and settles what a later try may do. Never rejects. */
export async function followTask(run: PartDeps, item: Item, part: Part): Promise<PartResult> {
	const since = run.now();
	let made: Created | Failed | undefined;
	let ended: PartResult;
	try {
		if (part.kind === 'creates') {
			made = await createOnce(run, item, part);
			if (made.kind === 'created') run.paidTasks.add(made.taskId, item.index);
		} else {
			const { taskId } = part;
			made = { kind: 'created', taskId, createdAt: since, answer: { task_id: taskId } };
		}
		const { kind } = item.settings.waiting;
		if (kind === 'suspend') run.beforeSleep.release(part);
		ended =
			made.kind === 'failed' || kind === 'no'
				? made
				: await waitFor(run, item.settings, { part, made, since });
	} catch (error) {
		// What was sent has a note, which prevents another try from sending it again.
		const known = made ?? (part.kind === 'creates' ? run.ledger.earlierOf(part) : undefined);
		const taskId = known?.kind === 'created' ? known.taskId : undefined;
		ended = asFailed(broken(error, 'sent', taskId));
	}
	if (ended.kind !== 'failed') return ended;
	const { outcome, taskId } = ended.failure;
	// A later try creates another one.
	if (outcome === 'failed') run.ledger.forget(part.slot);
	// One that was given up because another item failed has no failure of its own.
	const isHalted = outcome === 'cancelled' && run.stop?.aborted !== true;
	return isHalted ? { kind: 'halted', taskId } : ended;
}

async function waitFor(
	{ client, polls, now, sleep, spending, runEnded, beforeSleep }: PartDeps,
	{ waiting, timeoutMs }: Item['settings'],
	{ part, made, since }: { part: Part; made: Created; since: number },
): Promise<PartResult> {
	const { taskId, createdAt, receiveUrl } = made;
	// A try that takes a task up waits for the whole Timeout again.
	const deadline = Math.max(createdAt, since) + timeoutMs;
	const watch = { taskId, createdAt, deadline, ...shownBy(part) };
	const sleepSoon = waiting.kind === 'suspend' ? beforeSleep.sleepSoon : undefined;
	const polling = { client, polls, now, sleep, signal: runEnded, sleepSoon };
	const waited = await waitForTask(watch, polling);
	const { task } = waited;
	spending.onPoll(taskId, task);
	if (waited.kind === 'done') return { ...waited, watch, delivered: undefined };
	if (waited.kind === 'failed') return waited;
	if (runEnded.aborted) return asFailed(cancelled(taskId, task?.status));
	return { kind: 'open', taskId, watch, task, receiveUrl };
}

/** Derives from a task's request how to watch it. */
function shownBy(part: Part): Pick<Watch, 'requestAddresses' | 'makesFile' | 'named' | 'seen'> {
	if (part.kind === 'awaits') return { requestAddresses: [], named: true, seen: part.seen };
	const { body, qs, makesFile } = part.request;
	// A sleeping execution is saved without tokens, and this address ends with one.
	const receiveUrl = asText(body.receive_url);
	const sent = { ...body, receive_url: receiveUrl && endpointOf(receiveUrl) };
	return { requestAddresses: addressesIn([sent, qs]), makesFile, named: false };
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
