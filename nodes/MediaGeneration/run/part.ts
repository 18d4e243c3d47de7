/** One task of an item: created or taken up, waited for, its files fetched. */
import { asText } from '../base/json';
import { deliverPart } from '../files/assembly';
import type { Delivery } from '../files/delivery';
import type { Created } from '../task/identity';
import { endpointOf } from '../task/earlier';
import { waitForTask, type Polling, type Watch } from '../task/wait';
import { broken, cancelled } from '../answers/failures';
import { addressesIn, asFailed, isForFile, type Failed } from '../answers/verdict';
import type { BeforeSleep } from './beforeSleep';
import { createdFor, type CreatingDeps } from './creating';
import type { Item, Part, PartResult } from './item';

export interface PartDeps extends CreatingDeps, Pick<Polling, 'polls'> {
	beforeSleep: BeforeSleep;
	delivery: Delivery;
}

/** Follows a task until it has ended, or until nobody waits for it any longer. Never rejects. */
export async function followTask(run: PartDeps, item: Item, part: Part): Promise<PartResult> {
	// A try that takes a task up waits for the whole Timeout again.
	const since = run.now();
	const made = await madeFor(run, item, part);
	const { waiting, timeoutMs } = item.settings;
	if (waiting.kind === 'suspend') run.beforeSleep.release(part);
	if (made.kind === 'failed') return unlessHalted(run, made);
	if (waiting.kind === 'no') return made;
	const { taskId, createdAt } = made;
	const deadline = Math.max(createdAt, since) + timeoutMs;
	const watch: Watch = { taskId, createdAt, deadline, ...shownBy(part) };
	try {
		const ended = await waitFor(run, watch, { made, sleeps: waiting.kind === 'suspend' });
		if (ended.kind !== 'failed') return ended;
		// A later try creates another one.
		if (ended.failure.outcome === 'failed') run.ledger.forget(part.slot);
		return unlessHalted(run, ended);
	} catch (error) {
		return asFailed(broken(error, 'sent', taskId));
	}
}

async function madeFor(run: PartDeps, item: Item, part: Part): Promise<Created | Failed> {
	if (part.kind === 'creates') return await createdFor(run, item, part);
	const { taskId } = part;
	return { kind: 'created', taskId, createdAt: run.now(), answer: { task_id: taskId } };
}

/** A task that was given up because another item failed has no failure of its own. */
function unlessHalted({ stop }: PartDeps, failed: Failed): PartResult {
	const { outcome, taskId } = failed.failure;
	return outcome === 'cancelled' && stop?.aborted !== true ? { kind: 'halted', taskId } : failed;
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
