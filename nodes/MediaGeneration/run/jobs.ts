/**
 * All items of one run: submitted concurrently up to a limit, waited for in one loop. Nothing here knows of files or items.
 */
import type { CreationRequest } from '../operations/operation';
import type { PollRouteOption } from '../service/account';
import type { Failure } from '../service/failures';
import { Limiter } from '../service/limiter';
import type { Look } from '../service/look';
import type { Task } from '../service/task';
import type { Ledger } from '../create/ledger';
import { PollLoop, type Watch } from '../wait/poll';
import { createTask, type Created, type SubmitDeps, type Submitted } from '../create/submit';

/** What one item wants: a task to be created, or one that exists to be waited for. */
export interface Job {
	index: number;
	/** Undefined for `task: wait`. */
	request: CreationRequest | undefined;
	/** The task to wait for, for `task: wait`. */
	taskId: string | undefined;
	wait: boolean;
	timeoutMs: number;
	route: PollRouteOption;
}

export type JobResult =
	| { kind: 'finished'; taskId: string; task: Task }
	/** Not waited for: the creation's answer. */
	| { kind: 'created'; created: Created }
	/** Still running when the loop was released, so that the execution can be suspended. */
	| { kind: 'pending'; taskId: string; createdAt: number; lastTask: Task | undefined }
	| { kind: 'failed'; failure: Failure; lastTask: Task | undefined }
	/** Given up because another item failed and the run is going to fail. */
	| { kind: 'halted' };

export interface RunDeps extends SubmitDeps {
	look(watch: Watch, route: PollRouteOption, signal?: AbortSignal): Promise<Look>;
	ledger: Ledger;
	/** Told of every task as soon as its ID is known. */
	onTask(taskId: string, job: Job): void;
	/** Delivers a finished task; false where that failed. Never rejects. */
	onFinished(job: Job, taskId: string, task: Task): Promise<boolean>;
}

export interface RunOptions {
	maxActiveTasks: number;
	/** Whether the first failure ends the run: nothing more is created, nothing more is waited for. */
	haltOnFailure: boolean;
	/** Undefined: wait for every task. Else wait so long after the last creation, in ms, and leave the rest pending. */
	graceMs: number | undefined;
}

/** A signal that aborts when as many different callers as announced have called. */
function countdown(callers: number): { signal: AbortSignal; next(): () => void } {
	const controller = new AbortController();
	let left = callers;
	return {
		signal: controller.signal,
		next() {
			let called = false;
			return () => {
				if (called) return;
				called = true;
				left -= 1;
				if (left === 0) controller.abort();
			};
		},
	};
}

/** One run of the node: all its items, from request to finished task. */
class Run {
	/** Aborts when the run is going to fail anyway. */
	private readonly halt = new AbortController();
	private readonly signal: AbortSignal;
	private readonly routes = new Map<string, PollRouteOption>();
	private readonly loop: PollLoop;
	/** A slot is taken before a task is created and given back when it is over. */
	private readonly slots: Limiter;
	private readonly submitDeps: SubmitDeps;
	private readonly submissions: ReturnType<typeof countdown>;

	constructor(
		private readonly jobs: readonly Job[],
		private readonly deps: RunDeps,
		private readonly options: RunOptions,
	) {
		const { signal: stop } = deps;
		this.signal = stop === undefined ? this.halt.signal : AbortSignal.any([stop, this.halt.signal]);
		this.slots = new Limiter(options.maxActiveTasks);
		this.submissions = countdown(jobs.length);
		const common = { now: deps.now, random: deps.random, signal: this.signal };
		this.loop = new PollLoop({
			...common,
			look: async (watch) =>
				await deps.look(watch, this.routes.get(watch.taskId) ?? 'auto', this.signal),
			sleep: deps.sleep,
			pausedUntil: () => deps.client.account.pausedUntil,
		});
		this.submitDeps = { ...common, client: deps.client, sleep: deps.sleep };
	}

	async execute(): Promise<JobResult[]> {
		const settled = Promise.all(this.jobs.map(async (job) => await this.runAndDeliver(job)));
		if (this.options.graceMs !== undefined)
			await this.releaseAfterGrace(settled, this.options.graceMs);
		const results = await settled;
		this.loop.close();
		return results;
	}

	/** Lets go of what is still running some time after the last creation. */
	private async releaseAfterGrace(settled: Promise<unknown>, graceMs: number): Promise<void> {
		const over = new AbortController();
		void settled.then(() => over.abort());
		const { sleep } = this.deps;
		const either = AbortSignal.any([this.submissions.signal, over.signal]);
		while (!either.aborted) await sleep(3_600_000, either);
		await sleep(graceMs, over.signal);
		this.loop.releaseAll();
	}

	private async runAndDeliver(job: Job): Promise<JobResult> {
		const onSubmitted = this.submissions.next();
		const result = await this.runJob(job, onSubmitted);
		onSubmitted();
		// Addresses of files are temporary, so a finished task is delivered while others are still running.
		const good =
			result.kind === 'finished'
				? await this.deps.onFinished(job, result.taskId, result.task)
				: result.kind !== 'failed';
		if (!good && this.options.haltOnFailure) this.halt.abort();
		return result;
	}

	private async runJob(job: Job, onSubmitted: () => void): Promise<JobResult> {
		const { request, taskId = '' } = job;
		if (request !== undefined) {
			return await this.slots.run(async () => await this.create(job, request, onSubmitted));
		}
		onSubmitted();
		this.deps.onTask(taskId, job);
		return await this.watch(job, taskId, this.deps.now(), true);
	}

	private async create(
		job: Job,
		request: CreationRequest,
		onSubmitted: () => void,
	): Promise<JobResult> {
		if (this.halt.signal.aborted) return { kind: 'halted' };
		const earlier = this.deps.ledger.created(job.index, request);
		const submitted =
			earlier === undefined
				? await this.submit(job, request)
				: { ok: true as const, created: earlier };
		onSubmitted();
		if (!submitted.ok) return this.failed(submitted.failure, undefined);
		const { created } = submitted;
		this.deps.onTask(created.taskId, job);
		if (!job.wait) return { kind: 'created', created };
		return await this.watch(job, created.taskId, created.createdAt, earlier !== undefined);
	}

	private async submit(job: Job, request: CreationRequest): Promise<Submitted> {
		const { ledger, now } = this.deps;
		const unclear = ledger.unknown(job.index, request);
		if (unclear !== undefined) return { ok: false, failure: unclear };
		const submitted = await createTask(this.submitDeps, request, now() + job.timeoutMs);
		if (submitted.ok) ledger.noteCreated(job.index, request, submitted.created);
		else if (submitted.failure.outcome === 'unknown')
			ledger.noteUnknown(job.index, request, submitted.failure);
		return submitted;
	}

	private async watch(
		job: Job,
		taskId: string,
		createdAt: number,
		old: boolean,
	): Promise<JobResult> {
		this.routes.set(taskId, job.route);
		const waited = await this.loop.wait({
			taskId,
			kind: job.request?.kind ?? 'task',
			createdAt,
			deadline: createdAt + job.timeoutMs,
			request: job.request?.body,
			lookAtOnce: old,
		});
		// A task that is over leaves its place at the service to another one, of this run or any other in this process.
		if (waited.ok || waited.failure.outcome === 'failed')
			this.deps.client.account.room.ended(this.deps.now());
		if (waited.ok) return { kind: 'finished', taskId, task: waited.task };
		if (waited.released === true)
			return { kind: 'pending', taskId, createdAt, lastTask: waited.lastTask };
		// A failed task is of no more use: the next try makes a new one.
		if (waited.failure.outcome === 'failed' && job.request !== undefined) {
			this.deps.ledger.forget(job.index, job.request);
		}
		return this.failed(waited.failure, waited.lastTask);
	}

	/** What was cancelled because another item failed is not a failure of its own. */
	private failed(failure: Failure, lastTask: Task | undefined): JobResult {
		const halted = failure.outcome === 'cancelled' && this.deps.signal?.aborted !== true;
		if (halted) return { kind: 'halted' };
		// Before this task's slot goes to the next creation, which would be paid for in vain.
		if (this.options.haltOnFailure) this.halt.abort();
		return { kind: 'failed', failure, lastTask };
	}
}

/** Runs all jobs and returns their results in order. Never rejects. */
export async function runJobs(
	jobs: readonly Job[],
	deps: RunDeps,
	options: RunOptions,
): Promise<JobResult[]> {
	return await new Run(jobs, deps, options).execute();
}
