/**
 * Creating a task: sent, and sent again only where `creation.ts` says that nothing can have been created.
 * The deadline decides whether to send. What was sent gets its full time: giving up its answer would lose a task.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import type { CreationRequest } from '../operations/operation';
import { ensured } from '../service/boundedMap';
import { logOf } from '../service/clean';
import type { Reply, ServiceClient } from '../service/client';
import { unlessAborted, type Clock } from '../service/clock';
import type { Failure } from '../service/failures';
import { asText } from '../service/json';
import { PATIENCE_MS, readCreation, type Created, type Patience, type Refusal } from './creation';
import { creationsOf } from './find';

export type Submitted =
	/** `found`: in the list, as its answer never came. */
	| { kind: 'created'; created: Created; found?: true }
	/** A task may exist whose ID nobody knows, or only a refusal has named: outcome `unknown`. */
	| { kind: 'unclear'; failure: Failure; sentAt: number }
	/** Nothing was created: outcome `rejected` or `cancelled`. */
	| { kind: 'failed'; failure: Failure };

export interface SubmitDeps extends Clock {
	client: ServiceClient;
	context: Pick<IExecuteFunctions, 'logger' | 'getExecutionId'>;
	random: () => number;
	/** Aborts when the run is over: then nothing more is sent, but an answer that is still due is awaited. */
	over: AbortSignal;
	/** Aborts when the execution is stopped: then no answer is awaited either. */
	stop: AbortSignal | undefined;
}

const CREATION_TIMEOUT_MS = 120_000;
const MAX_BACKOFF_MS = 8_000;

const STOPPED: Failure = {
	outcome: 'cancelled',
	message: 'The execution was stopped before this task was created',
	description: 'Nothing was created for this item. Run the workflow again to create it.',
};

const PAUSED_TOO_LONG: Failure = {
	outcome: 'rejected',
	message: 'The service asked for a pause that is longer than the Timeout option allows',
	description:
		'Raise the Timeout option, or run again later. No task was created and nothing was paid.',
};

class Submission {
	private readonly position: number;
	private lastRefusal: Failure | undefined;
	/** Epoch ms. */
	private readonly firstRefusals = new Map<Patience, number>();
	private tries = 0;

	constructor(
		private readonly deps: SubmitDeps,
		private readonly request: CreationRequest,
		private readonly deadline: number,
	) {
		this.position = this.account.queue.newPosition();
	}

	private get account() {
		return this.deps.client.account;
	}

	async run(): Promise<Submitted> {
		if (!this.account.queue.open) await this.waitInQueue();
		for (;;) {
			const answered = this.account.queue.sent();
			const obstacle = await this.waitOutPause();
			const sentAt = this.deps.now();
			const reply = obstacle ?? (await this.exchange(sentAt));
			answered();
			if ('outcome' in reply) return { kind: 'failed', failure: reply };
			const submitted = await this.read(reply, sentAt);
			if (submitted !== undefined) return submitted;
		}
	}

	private async waitInQueue(): Promise<void> {
		// While a pause lasts beyond the deadline, a turn is of no use.
		const { now, sleep, over: signal } = this.deps;
		if (this.account.pausedUntil('create') < this.deadline)
			await this.account.queue.wait(this.position, { now, sleep, signal }, this.deadline);
		this.lastRefusal = this.account.queue.refusal ?? this.lastRefusal;
	}

	private async waitOutPause(): Promise<Failure | undefined> {
		const { now, sleep, random, over } = this.deps;
		for (;;) {
			if (over.aborted) return STOPPED;
			const until = this.account.pausedUntil('create');
			if (Math.max(until, now()) >= this.deadline) return this.lastRefusal ?? PAUSED_TOO_LONG;
			if (until <= now()) return undefined;
			await sleep(Math.min(until - now() + random() * 250, this.deadline - now()), over);
		}
	}

	private async exchange(sentAt: number): Promise<Reply> {
		const { client, stop } = this.deps;
		const { path, qs, body } = this.request;
		const answered = creationsOf(client.account).sent({ request: this.request, sentAt });
		const sent = client
			.send({ method: 'POST', path, qs, body, purpose: 'create', timeoutMs: CREATION_TIMEOUT_MS })
			.finally(answered);
		if (stop === undefined) return await sent;
		const reply = await unlessAborted(stop, sent);
		if (reply === undefined) void sent.then((late) => this.logLate(late));
		return reply ?? { answered: false, kind: 'unanswered', reason: 'the execution was stopped' };
	}

	/** The execution was stopped before: only the log can still name the task. */
	private logLate(reply: Reply): void {
		const creation = readCreation(reply);
		const isCreated = creation.kind === 'created';
		const taskId = isCreated ? creation.taskId : creation.failure.taskId;
		if (taskId === undefined) return;
		this.account.known.set(taskId, true);
		const { context } = this.deps;
		const exists = isCreated ? 'exists and is paid for' : 'may exist and be paid for';
		logOf(context).warn(
			`Media Generation: task ${taskId} of the stopped execution ${context.getExecutionId()} ${exists}`,
		);
	}

	private async read(reply: Reply, sentAt: number): Promise<Submitted | undefined> {
		const now = this.deps.now();
		const { queue, known } = this.account;
		const creation = readCreation(reply);
		if (creation.kind === 'created') {
			queue.created(now);
			const { taskId, answer } = creation;
			known.set(taskId, true);
			const receiveUrl = asText(this.request.body.receive_url);
			return { kind: 'created', created: { taskId, createdAt: now, answer, receiveUrl } };
		}
		if (creation.kind === 'full') {
			queue.refused(now, creation.failure, creation.retryAfterMs);
			await this.waitInQueue();
			return undefined;
		}
		queue.next();
		if (creation.kind === 'failed') return creation;
		return creation.kind === 'unclear' ? { ...creation, sentAt } : await this.backOff(creation);
	}

	private async backOff(refusal: Refusal): Promise<Submitted | undefined> {
		const { now, sleep, random, over } = this.deps;
		const { failure, retryAfterMs = 0, patience } = refusal;
		this.lastRefusal = failure;
		const backoff = Math.min(500 * 2 ** this.tries, MAX_BACKOFF_MS) * (0.75 + random() / 2);
		this.tries += 1;
		const wait = Math.max(retryAfterMs, backoff);
		// Patience counts from the first refusal of its kind: what came before says nothing about it.
		const patientUntil =
			patience && ensured(this.firstRefusals, patience, now) + PATIENCE_MS[patience];
		if (now() + wait >= Math.min(this.deadline, patientUntil ?? Infinity))
			return { kind: 'failed', failure };
		await sleep(wait, over);
		return undefined;
	}
}

/** Never rejects. @param deadline epoch ms until which refusals that created nothing are answered with another try */
export async function createTask(
	deps: SubmitDeps,
	request: CreationRequest,
	deadline: number,
): Promise<Submitted> {
	return await new Submission(deps, request, deadline).run();
}
