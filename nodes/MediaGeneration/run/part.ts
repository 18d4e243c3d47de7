/** One task that an item needs, to its end: taken up, found again, or created. The ledger knows at each moment what may have been paid for. */
import type { Created } from '../create/creation';
import { creationsOf, READ_AFTER_MS, withCandidates } from '../create/find';
import { createTask, type Submitted } from '../create/submit';
import { deliverPart } from '../delivery/assembly';
import { adviceOn } from '../operations/refusal';
import { waitingRules } from '../operations/waiting';
import { logOf, quietly } from '../service/clean';
import { broken, type Failure } from '../service/failures';
import { asText } from '../service/json';
import { Limiter } from '../service/limiter';
import { lookAtTask } from '../service/look';
import { addressesIn, type Failed } from '../service/verdict';
import { PollLoop, type Watch } from '../wait/poll';
import { goesOnAfter } from './item';
import type { CreatedPart, Item, Means, Part, PartEnd } from './item';

export interface RunOptions {
	maxActiveTasks: number;
	/** Whether the first failure ends the run: nothing more is created, nothing more is waited for. */
	haltOnFailure: boolean;
}

export class Run {
	readonly means: Means & { over: AbortSignal };
	readonly loop: PollLoop;
	readonly slots: Limiter;
	/** What may be let go of unfinished. */
	readonly sleepers: Watch[] = [];
	private readonly halt = new AbortController();

	constructor(
		means: Means,
		private readonly options: RunOptions,
	) {
		const { client, stop, now, sleep, random } = means;
		const over = stop === undefined ? this.halt.signal : AbortSignal.any([stop, this.halt.signal]);
		this.means = { ...means, over };
		this.slots = new Limiter(options.maxActiveTasks);
		this.loop = new PollLoop({
			...{ now, sleep, random, signal: over },
			look: async (watch, timeoutMs) =>
				await lookAtTask(client, { ...watch, timeoutMs, signal: over }, now),
			pausedUntil: () => client.account.pausedUntil('look'),
			slotWanted: () => this.slots.wanted || client.account.queue.full,
		});
	}

	get isHalted(): boolean {
		return this.halt.signal.aborted;
	}

	failed(): void {
		if (this.options.haltOnFailure) this.halt.abort();
	}
}

interface KnownTask {
	kind: 'task';
	taskId: string;
	createdAt: number;
	/** Whether it was made before this run, so that it may be over already. */
	old: boolean;
	/** The creation's answer; undefined of a task that was only named. */
	created: Created | undefined;
}

const failed = (failure: Failure): Failed => ({ kind: 'failed', failure, task: undefined });

export class PartRun {
	private taskId: string | undefined;
	private giveBack = (): void => undefined;
	/** Resolves when its task exists, or will not. Never rejects. */
	readonly submitted: Promise<unknown>;
	readonly end: Promise<PartEnd>;

	constructor(
		private readonly run: Run,
		private readonly item: Item,
		private readonly part: Part,
	) {
		const submitted = this.submit();
		this.submitted = submitted.catch(() => undefined);
		this.end = submitted
			.then(async (task) => (task.kind === 'task' ? await this.follow(task) : task))
			// What the ledger says of a creation that was sent holds the next try back.
			.catch((error: unknown) => failed(broken(error, 'sent', this.taskId)))
			.then((end) => this.judge(end))
			.finally(() => this.giveBack());
	}

	/** The slot is held until the task is over. */
	private async submit(): Promise<KnownTask | PartEnd> {
		const { run, part } = this;
		if (part.kind === 'awaits') {
			const { taskId } = part;
			return { kind: 'task', taskId, createdAt: run.means.now(), old: true, created: undefined };
		}
		if (part.earlier.kind === 'created') this.countEarlier(part, part.earlier.created);
		this.giveBack = await run.slots.take();
		if (run.isHalted) return { kind: 'halted', taskId: this.taskId };
		return await this.taskOf(part);
	}

	/** What an earlier try has created counts before anything is created, and is nobody else's. */
	private countEarlier({ request: { kind } }: CreatedPart, created: Created): void {
		const { client, spending } = this.run.means;
		this.taskId = created.taskId;
		client.account.known.set(created.taskId, true);
		spending.takeUp(created, { kind, route: this.item.settings.pollRoute });
	}

	private async taskOf(part: CreatedPart): Promise<KnownTask | Failed> {
		const { context, spending } = this.run.means;
		const { pollRoute, longText } = this.item.settings;
		const { request, earlier, slot } = part;
		const log = logOf(context);
		const where = `for item ${slot.item} of execution ${context.getExecutionId()}`;
		const known = (created: Created, old: boolean): KnownTask => {
			// Should n8n die before the execution is saved, the log has the ID of every task that is paid for.
			log.info(`Media Generation: task ${created.taskId} ${where}`);
			return { kind: 'task', ...created, created, old };
		};
		const found = await this.findEarlier(part);
		if (found !== undefined) return known(found, true);
		if (earlier.kind === 'unknown') return failed(earlier.failure);
		const refusal = await spending.turn();
		if (refusal !== undefined) return failed(refusal);
		const submitted = await this.createOrFind(part);
		spending.end(submitted, { kind: request.kind, route: pollRoute });
		if (submitted.kind === 'created') return known(submitted.created, false);
		const { failure } = submitted;
		if (failure.taskId !== undefined)
			log.warn(`Media Generation: task ${failure.taskId} ${where} may exist`);
		const advice = adviceOn(failure.message, request, longText);
		return failed({ ...failure, description: `${failure.description}${advice}` });
	}

	/** The task that an earlier try, or the execution that n8n's Retry repeats, has made without a word of it. One reading of the list has to do. */
	private async findEarlier(part: CreatedPart): Promise<Created | undefined> {
		const { request, earlier } = part;
		const { means } = this.run;
		const { beganAt, client, ledger } = means;
		if (earlier.kind === 'created') return earlier.created;
		if (!this.item.settings.findUnclear) return undefined;
		const unsaid = beganAt === undefined ? undefined : { request, sentAt: beganAt };
		const sending = earlier.kind === 'nothing' ? unsaid : earlier.sending;
		if (sending === undefined) return undefined;
		const search = { ...sending, readAfterMs: [0], fewer: earlier.kind === 'nothing' };
		const finding = await creationsOf(client.account).find({ ...means, ...search });
		if (finding.kind !== 'found') return undefined;
		ledger.noteCreated(part, finding.created);
		this.countEarlier(part, finding.created);
		return finding.created;
	}

	/** Where nothing is known of it afterwards it is looked for, and counts as created where it is found. */
	private async createOrFind(part: CreatedPart): Promise<Submitted> {
		const { request, slot } = part;
		const { means } = this.run;
		const { client, ledger, now } = means;
		const { findUnclear, timeoutMs } = this.item.settings;
		try {
			ledger.noteSending(part, { sentAt: now() });
		} catch (error) {
			return { kind: 'failed', failure: broken(error, 'nothing') };
		}
		const submitted = await createTask(means, request, now() + timeoutMs);
		if (submitted.kind === 'created') ledger.noteCreated(part, submitted.created);
		if (submitted.kind === 'failed') ledger.forget(slot);
		if (submitted.kind !== 'unclear') return submitted;
		// Noted before it is looked for, as the execution may be stopped meanwhile.
		quietly(() => ledger.noteSending(part, submitted));
		if (!findUnclear || submitted.failure.taskId !== undefined) return submitted;
		const { sentAt } = submitted;
		const search = { request, sentAt, readAfterMs: READ_AFTER_MS, fewer: false };
		const finding = await creationsOf(client.account).find({ ...means, ...search });
		if (finding.kind === 'found') {
			const created = { ...finding.created, receiveUrl: asText(request.body.receive_url) };
			ledger.noteCreated(part, created);
			return { kind: 'created', created, found: true };
		}
		const failure = withCandidates(submitted.failure, finding.candidates);
		quietly(() => ledger.noteSending(part, { sentAt, failure }));
		return { ...submitted, failure };
	}

	private async follow(task: KnownTask): Promise<PartEnd> {
		const { run, item, part } = this;
		const { client, delivery, spending } = run.means;
		const { created, taskId } = task;
		this.taskId = taskId;
		const { follows, sleeps } = waitingRules[item.settings.waiting.kind];
		if (!follows && created !== undefined) return { kind: 'created', ...created };
		const watch = this.watchOf(task);
		if (sleeps) run.sleepers.push(watch);
		const waited = await run.loop.wait(watch);
		spending.seen(taskId, waited.task);
		if (waited.kind === 'released')
			return { kind: 'open', watch, task: waited.task, receiveUrl: created?.receiveUrl };
		// A task that is over frees its slot at the service for another one, of this run or of any other in this process.
		if (waited.kind === 'done' || waited.failure.outcome === 'failed') client.account.queue.ended();
		if (waited.kind === 'failed') return waited;
		this.giveBack();
		const input = { ...item, number: part.slot.part };
		// What breaks here is the item's end: a task that is done stays done.
		const delivered = await deliverPart(delivery, waited, input).catch(() => undefined);
		return { ...waited, watch, delivered };
	}

	private watchOf({ taskId, createdAt, old }: KnownTask): Watch {
		const { timeoutMs, pollRoute: route } = this.item.settings;
		const request = this.part.kind === 'creates' ? this.part.request : undefined;
		return {
			taskId,
			kind: request?.kind ?? 'task',
			route,
			createdAt,
			// A try that takes a task up waits for it once more.
			deadline: (old ? this.run.means.now() : createdAt) + timeoutMs,
			echoes: addressesIn([request?.body, request?.qs]),
			pace: old ? 'atOnce' : 'poll',
		};
	}

	/** Halts the run where it fails, before the slot goes to the next creation, which would be paid for in vain. */
	private judge(end: PartEnd): PartEnd {
		const { run, item } = this;
		if (end.kind === 'done' && end.delivered?.failure !== undefined) run.failed();
		if (end.kind !== 'failed') return end;
		const { outcome, taskId } = end.failure;
		// What was cancelled because another item failed is not a failure of its own.
		if (outcome === 'cancelled' && run.means.stop?.aborted !== true)
			return { kind: 'halted', taskId };
		if (!goesOnAfter(item, end.failure)) run.failed();
		return end;
	}
}
