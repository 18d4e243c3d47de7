/** One task of an item, in a straight line: created or taken up, waited for, its files fetched. */
import { asText } from '../base/json';
import { deliverPart } from '../files/assembly';
import type { Created } from '../task/identity';
import { endpointOf } from '../task/earlier';
import { waitForTask, type Watch } from '../task/wait';
import { broken, cancelled } from '../answers/failures';
import { addressesIn, asFailed, isForFile, type Failed } from '../answers/verdict';
import { createdFor } from './creating';
import { haltAfter } from './conclude';
import type { Item, Part, PartResult } from './item';
import type { Run } from './run';

/** Never rejects. A task that this node creates holds a slot until it has ended. */
export async function runPart(run: Run, item: Item, part: Part): Promise<PartResult> {
	// A failure halts the run before its slot goes to the next creation.
	const follow = async () => haltUnlessDone(run, item, await followTask(run, item, part));
	const ended = part.kind === 'creates' ? await run.slots.run(follow) : await follow();
	run.awake.delete(part);
	if (ended.kind !== 'done') return ended;
	// An exception is reported when the item is assembled: a task that is done stays done.
	const input = { ...item, number: part.slot.part };
	const delivered = await deliverPart(run.delivery, ended, input).catch(() => undefined);
	if (delivered?.failure !== undefined) haltAfter(run, item, delivered.failure);
	return { ...ended, delivered };
}

/** A task cancelled because another item failed has no failure of its own. */
function haltUnlessDone(run: Run, item: Item, result: PartResult): PartResult {
	if (result.kind !== 'failed') return result;
	const { failure } = result;
	if (failure.outcome === 'cancelled' && !run.isStopped)
		return { kind: 'halted', taskId: failure.taskId };
	haltAfter(run, item, failure);
	return result;
}

async function followTask(run: Run, item: Item, part: Part): Promise<PartResult> {
	const { kind } = item.settings.waiting;
	// A try that takes a task up waits for the whole Timeout again.
	const since = run.now();
	const made = await madeFor(run, item, part);
	if (kind === 'suspend') run.awake.delete(part);
	if (made.kind !== 'created' || kind === 'no') return made;
	const { taskId, createdAt } = made;
	const deadline = Math.max(createdAt, since) + item.settings.timeoutMs;
	const watch: Watch = { taskId, createdAt, deadline, ...shownBy(part) };
	try {
		return await waitFor(run, watch, { made, sleeps: kind === 'suspend' });
	} catch (error) {
		return asFailed(broken(error, 'sent', taskId));
	}
}

async function madeFor(run: Run, item: Item, part: Part): Promise<Created | Failed> {
	if (part.kind === 'creates') return await createdFor(run, item, part);
	const { taskId } = part;
	return { kind: 'created', taskId, createdAt: run.now(), answer: { task_id: taskId } };
}

async function waitFor(
	{ client, polls, now, sleep, spending, runEnded, sleepSoon }: Run,
	watch: Watch,
	{ made: { receiveUrl }, sleeps }: { made: Created; sleeps: boolean },
): Promise<PartResult> {
	const signals = { signal: runEnded, sleepSoon: sleeps ? sleepSoon : undefined };
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
