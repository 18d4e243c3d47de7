/** One task of an item: created or taken up, waited for, its files fetched. */
import { asText } from '../base/json';
import { endpointOf } from '../base/url';
import { deliverPart } from '../files/assembly';
import type { Delivery } from '../files/delivery';
import type { Created } from '../task/identity';
import { waitForTask, type Watch } from '../task/wait';
import { broken } from '../answers/failures';
import { addressesIn, asFailed, type Failed } from '../answers/verdict';
import { createOnce, type CreatingDeps } from './creating';
import type { Item, Part, PartResult } from './item';
import type { Run } from './run';

/** Gets the task of a part, which need not exist yet. Never rejects. */
export async function taskOf(
	run: CreatingDeps & Pick<Run, 'paidTasks'>,
	item: Item,
	part: Part,
): Promise<Created | Failed> {
	if (part.kind === 'awaits') {
		const { taskId } = part;
		return { kind: 'created', taskId, createdAt: run.now(), answer: { task_id: taskId } };
	}
	try {
		const made = await createOnce(run, item, part);
		if (made.kind === 'created') run.paidTasks.add(made.taskId, item.index);
		return made;
	} catch (error) {
		// What was sent has a note, which prevents another try from sending it again.
		const noted = run.ledger.earlierOf(part);
		return asFailed(broken(error, 'sent', noted.kind === 'created' ? noted.taskId : undefined));
	}
}

type FollowDeps = Pick<
	Run,
	'client' | 'polls' | 'now' | 'sleep' | 'runEnded' | 'sleepSoon' | 'ledger' | 'spending'
>;

/** Waits until a task has ended, or the execution is about to sleep on it. Never rejects. */
export async function followTask(
	run: FollowDeps,
	{ settings: { waiting, timeoutMs } }: Item,
	{ part, made }: { part: Part; made: Created | Failed },
): Promise<PartResult> {
	if (made.kind === 'failed' || waiting.kind === 'no') return made;
	const { client, polls, now, sleep, runEnded, ledger, spending } = run;
	const { taskId, createdAt, receiveUrl } = made;
	const sleepSoon = waiting.kind === 'suspend' ? run.sleepSoon.signal : undefined;
	try {
		// A try that takes a task up has the full Timeout again.
		const watch = { taskId, createdAt, deadline: now() + timeoutMs, ...shownBy(part) };
		const polling = { client, polls, now, sleep, signal: runEnded, sleepSoon };
		const waited = await waitForTask(watch, polling);
		const { task } = waited;
		spending.onPoll(taskId, task);
		if (waited.kind === 'done') return { ...waited, watch, delivered: undefined };
		if (waited.kind === 'failed') {
			// A later try creates another one.
			if (waited.failure.outcome === 'failed') ledger.forget(part.slot);
			return waited;
		}
		return { kind: 'open', taskId, watch, task, receiveUrl };
	} catch (error) {
		return asFailed(broken(error, 'sent', taskId));
	}
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
	delivery: Delivery,
	ended: PartResult,
	input: Item & { number: number },
): Promise<PartResult> {
	if (ended.kind !== 'done') return ended;
	// An exception is reported when the item is assembled: a task that is done stays done.
	const delivered = await deliverPart(delivery, ended, input).catch(() => undefined);
	return { ...ended, delivered };
}
