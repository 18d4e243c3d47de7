/** Follows one task that an item needs to its end. */
import { endpointOf } from '../task/ledger';
import { deliverPart } from '../files/assembly';
import { waitingRules } from '../actions/waiting';
import type { Failure } from '../base/failures';
import { asText } from '../base/json';
import { broken, cancelled, FAILED_EARLIER } from '../transport/taskFailures';
import { Limiter } from '../base/limiter';
import { addressesIn } from '../transport/verdict';
import { waitForTask, type Watch } from '../task/wait';
import { goesOnAfter } from './item';
import type { Item, RunDeps, Part, PartEnd } from './item';
import { countEarlier, asFailed, taskOf, type KnownTask } from './taskOf';

export interface RunOptions {
	maxActiveTasks: number;
	/** Whether the first failure ends the run: nothing more is created, nothing more is waited for. */
	haltOnFailure: boolean;
}

const CONCURRENT_POLLS = 10;

export class Run {
	readonly deps: RunDeps & { over: AbortSignal };
	readonly slots: Limiter;
	readonly polls = new Limiter(CONCURRENT_POLLS);
	/** Ends the waiting for tasks that the execution can sleep through. */
	readonly falling = new AbortController();
	readonly overOrAsleep: AbortSignal;
	private readonly halt = new AbortController();

	constructor(
		deps: RunDeps,
		private readonly options: RunOptions,
	) {
		const { stop } = deps;
		const over = stop === undefined ? this.halt.signal : AbortSignal.any([stop, this.halt.signal]);
		this.overOrAsleep = AbortSignal.any([over, this.falling.signal]);
		this.deps = { ...deps, over };
		this.slots = new Limiter(options.maxActiveTasks);
	}

	get isHalted(): boolean {
		return this.halt.signal.aborted;
	}

	/** Halts where a failure ends the run: before a slot goes to the next creation, which would be paid for nothing. */
	failed(item: Item, failure: Failure): void {
		if (this.options.haltOnFailure && !goesOnAfter(item, failure)) this.halt.abort();
	}
}

/** The task of a part exists, or is known not to come. */
export interface Begun {
	part: Part;
	task: KnownTask | PartEnd;
	/** Gives its slot back, once. */
	giveBack: () => void;
}

/** Takes a slot, which is held until the task is over, and gets the task. Never rejects. */
export async function beginPart(run: Run, item: Item, part: Part): Promise<Begun> {
	const { deps } = run;
	if (part.kind === 'awaits') {
		const createdAt = deps.now();
		const task: KnownTask = { ...part, kind: 'task', createdAt, old: true, created: undefined };
		return { part, task, giveBack: () => undefined };
	}
	const { earlier } = part;
	const made = earlier.kind === 'created' ? earlier.created : undefined;
	if (made !== undefined) countEarlier(deps, made);
	const giveBack = await run.slots.take();
	if (run.isHalted) return { part, task: { kind: 'halted', taskId: made?.taskId }, giveBack };
	// What the ledger says of a creation that was sent prevents a resend.
	const task = await taskOf(deps, item, part).catch((error: unknown) =>
		asFailed(broken(error, 'sent', made?.taskId)),
	);
	return { part, task, giveBack };
}

/** Waits for the task and fetches its files. Never rejects. */
export async function followPart(run: Run, item: Item, begun: Begun): Promise<PartEnd> {
	const end = await waitFor(run, item, begun);
	if (end.kind !== 'done') return end;
	const input = { ...item, number: begun.part.slot.part };
	// Assembling the item reports what breaks here: a task that is done stays done.
	const delivered = await deliverPart(run.deps.delivery, end, input).catch(() => undefined);
	if (delivered?.failure !== undefined) run.failed(item, delivered.failure);
	return { ...end, delivered };
}

async function waitFor(run: Run, item: Item, { part, task, giveBack }: Begun): Promise<PartEnd> {
	try {
		const end = task.kind === 'task' ? await partEndOf(run, item, { part, task }) : task;
		if (end.kind !== 'failed') return end;
		const { outcome, taskId } = end.failure;
		// What was cancelled because another item failed is not a failure of its own.
		if (outcome === 'cancelled' && run.deps.stop?.aborted !== true)
			return { kind: 'halted', taskId };
		run.failed(item, end.failure);
		return end;
	} finally {
		giveBack();
	}
}

async function partEndOf(
	run: Run,
	item: Item,
	{ part, task }: { part: Part; task: KnownTask },
): Promise<PartEnd> {
	const { client, spending, now, sleep, over } = run.deps;
	const { created, taskId, createdAt, old } = task;
	const { waiting, timeoutMs } = item.settings;
	const { follows, sleeps } = waitingRules[waiting.kind];
	if (!follows && created !== undefined) return { kind: 'created', ...created };
	const request = part.kind === 'creates' ? part.request : undefined;
	// A sleeping execution is saved without tokens, and this address ends with one.
	const receiveUrl = asText(request?.body.receive_url);
	const sent = { ...request?.body, receive_url: receiveUrl && endpointOf(receiveUrl) };
	const watch: Watch = {
		taskId,
		kind: request?.kind ?? 'task',
		createdAt,
		// A try that resumes a task waits for the whole Timeout again.
		deadline: (old ? now() : createdAt) + timeoutMs,
		echoes: addressesIn([sent, request?.qs]),
		named: part.kind === 'awaits',
	};
	const signal = sleeps ? run.overOrAsleep : over;
	try {
		const waited = await waitForTask(watch, { client, polls: run.polls, signal, now, sleep });
		spending.seen(taskId, waited.task);
		if (waited.kind === 'released' && over.aborted)
			return asFailed(cancelled(taskId, waited.task?.status));
		if (waited.kind === 'released')
			return { kind: 'open', watch, task: waited.task, receiveUrl: created?.receiveUrl };
		// A task that is over frees its slot at the service for another one, of this run or of any other in this process.
		if (waited.kind === 'done' || waited.failure.outcome === 'failed')
			client.account.taskEnded(taskId);
		if (waited.kind === 'done') return { ...waited, watch, delivered: undefined };
		const isEarlier = part.kind === 'awaits' && waited.failure.outcome === 'failed';
		const advice = isEarlier ? { description: FAILED_EARLIER } : {};
		return { ...waited, failure: { ...waited.failure, ...advice } };
	} catch (error) {
		return asFailed(broken(error, 'sent', taskId));
	}
}
