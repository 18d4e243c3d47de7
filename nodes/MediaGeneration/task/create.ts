/**
 * Creates a task: sends the request, and sends it again only where `creation.ts` says that nothing can have been created.
 * The deadline decides whether to send. What was sent gets its full time: giving up its answer would lose a task.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import type { CreationRequest } from '../actions/operation';
import { ensured } from '../base/boundedMap';
import { logOf } from '../n8n/clean';
import type { SpeechRoute } from '../transport/account';
import type { Reply, ServiceClient } from '../transport/client';
import { backoffMs, unlessAborted, type Backoff, type Clock } from '../base/clock';
import { seconds, type Failure } from '../base/failures';
import { asText } from '../base/json';
import { PATIENCE_MS, readCreation, type Created, type Patience, type Refusal } from './creation';
import { Creations } from './find';
import { sendByRoute } from './speechRoute';

export type Submitted =
	/** `found` means in the list, as its answer never came. */
	| { kind: 'created'; created: Created; found?: true }
	/** A task may exist whose ID nobody knows, or only a refusal has named: outcome `unknown`. */
	| { kind: 'unclear'; failure: Failure; sentAt: number }
	/** Nothing was created: outcome `rejected` or `cancelled`. */
	| { kind: 'failed'; failure: Failure };

export interface SubmitDeps extends Clock {
	client: ServiceClient;
	context: Pick<IExecuteFunctions, 'logger'>;
	/** Says which execution it is, also when n8n no longer does. */
	ledger: { run: { executionId: string } };
	random: () => number;
	/** Aborts when the run is over: then nothing more is sent, but an answer that is still due is awaited. */
	over: AbortSignal;
	/** Aborts when the execution is stopped: then no answer is awaited either. */
	stop: AbortSignal | undefined;
	/** Collects the routes that this run has used. */
	speechRoutes?: Set<SpeechRoute>;
}

export interface SubmitLimits {
	/** Epoch ms until which refusals that created nothing are answered with another try. */
	deadline: number;
	/** True if it bounds the wait for a full account as well; else that wait is apart. */
	boundsFull: boolean;
}

const CREATION_TIMEOUT_MS = 120_000;
const CREATION_BACKOFF: Backoff = { firstMs: 500, mostMs: 8_000 };

const NOT_CREATED: Failure = {
	outcome: 'cancelled',
	message: 'The execution was stopped before this task was created',
	description: 'Nothing was created for this item. Run the workflow again to create it.',
};

/** A full account is waited for this long, apart from the Timeout. */
const MAX_FULL_MS = 3_600_000;

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
	/** True if the last answer said that the account is full. */
	private isFull = false;
	private fullMs = 0;

	constructor(
		private readonly deps: SubmitDeps,
		private readonly request: CreationRequest,
		private readonly limits: SubmitLimits,
	) {
		this.position = this.account.queue.newPosition();
	}

	/** Epoch ms. */
	private get deadline(): number {
		const { deadline, boundsFull } = this.limits;
		if (boundsFull) return deadline;
		return this.isFull ? this.deps.now() + MAX_FULL_MS - this.fullMs : deadline + this.fullMs;
	}

	private get account() {
		return this.deps.client.account;
	}

	async run(): Promise<Submitted> {
		if (!this.account.queue.open) await this.waitInQueue();
		let submitted: Submitted | undefined;
		while (submitted === undefined) submitted = await this.sendOnce();
		return submitted;
	}

	/** Undefined where another try may follow. */
	private async sendOnce(): Promise<Submitted | undefined> {
		const answered = this.account.queue.sent();
		const obstacle = await this.waitOutPause();
		const sentAt = this.deps.now();
		const reply = obstacle ?? (await this.exchange(sentAt));
		answered();
		return 'outcome' in reply ? { kind: 'failed', failure: reply } : await this.read(reply, sentAt);
	}

	private async waitInQueue(): Promise<void> {
		const { now, sleep, over: signal } = this.deps;
		const { queue } = this.account;
		this.isFull = queue.refusal?.kind !== 'limited';
		// While a pause lasts beyond the deadline, a turn is of no use.
		if (this.account.pausedUntil('create') < this.deadline)
			await this.counted(queue.wait(this.position, { now, sleep, signal }, this.deadline));
		this.lastRefusal = queue.refusal?.failure ?? this.lastRefusal;
	}

	/** Waits. The time counts as that of a full account where it is full, and else against the Timeout. */
	private async counted(wait: Promise<void>): Promise<void> {
		const since = this.deps.now();
		await wait;
		if (this.isFull) this.fullMs += this.deps.now() - since;
	}

	private tooLong(): Failure {
		const failure = this.lastRefusal ?? PAUSED_TOO_LONG;
		if (!this.isFull || this.fullMs === 0) return failure;
		const message = `${failure.message}; the account was full for ${seconds(this.fullMs)}`;
		return { ...failure, message };
	}

	private async waitOutPause(): Promise<Failure | undefined> {
		const { now, sleep, random, over } = this.deps;
		while (!over.aborted) {
			const until = this.account.pausedUntil('create');
			if (Math.max(until, now()) >= this.deadline) return this.tooLong();
			if (until <= now()) return undefined;
			const ms = Math.min(until - now() + random() * 250, this.deadline - now());
			await this.counted(sleep(ms, over));
		}
		return NOT_CREATED;
	}

	private async exchange(sentAt: number): Promise<Reply> {
		const { client, stop, over, speechRoutes } = this.deps;
		const answered = client.account.state(Creations).sent({ request: this.request, sentAt });
		const common = { method: 'POST', purpose: 'create', timeoutMs: CREATION_TIMEOUT_MS } as const;
		const sent = sendByRoute(this.request, {
			account: this.account,
			send: async (wire) => await client.send({ ...common, ...wire }),
			isOver: () => over.aborted,
			used: speechRoutes,
		}).finally(answered);
		if (stop === undefined) return await sent;
		const reply = await unlessAborted(stop, sent);
		if (reply === undefined) void sent.then((late) => this.logLate(late));
		return reply ?? { answered: false, kind: 'unanswered', reason: 'the execution was stopped' };
	}

	/** The execution was stopped before, so that only the log can name the task. */
	private logLate(reply: Reply): void {
		const creation = readCreation(reply);
		const isCreated = creation.kind === 'created';
		const taskId = isCreated ? creation.taskId : creation.failure.taskId;
		if (taskId === undefined) return;
		this.account.known.set(taskId, true);
		const { context, ledger } = this.deps;
		const exists = isCreated ? 'exists and is paid for' : 'may exist and be paid for';
		logOf(context).warn(
			`Media Generation: task ${taskId} of the stopped execution ${ledger.run.executionId} ${exists}`,
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
		if (creation.kind === 'full' || creation.kind === 'limited') {
			queue.refused(now, { ...creation, kind: creation.kind });
			const line = queue.news(now);
			if (line !== undefined) logOf(this.deps.context).warn(line);
			await this.waitInQueue();
			return undefined;
		}
		queue.next();
		this.isFull = false;
		if (creation.kind === 'failed') return creation;
		return creation.kind === 'unclear' ? { ...creation, sentAt } : await this.backOff(creation);
	}

	private async backOff(refusal: Refusal): Promise<Submitted | undefined> {
		const { now, sleep, random, over } = this.deps;
		const { failure, retryAfterMs, patience } = refusal;
		this.lastRefusal = failure;
		this.tries += 1;
		const wait = backoffMs(this.tries, { ...CREATION_BACKOFF, retryAfterMs }, random());
		// Patience counts from the first refusal of its kind: what came before says nothing about it.
		const patientUntil =
			patience && ensured(this.firstRefusals, patience, now) + PATIENCE_MS[patience];
		if (now() + wait >= Math.min(this.deadline, patientUntil ?? Infinity))
			return { kind: 'failed', failure };
		await sleep(wait, over);
		return undefined;
	}
}

/** Never rejects. */
export async function createTask(
	deps: SubmitDeps,
	request: CreationRequest,
	limits: SubmitLimits,
): Promise<Submitted> {
	return await new Submission(deps, request, limits).run();
}
