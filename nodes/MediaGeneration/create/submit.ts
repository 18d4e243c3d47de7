/**
 * Creating a task: sent, and sent again only where `creation.ts` says that nothing can have been created.
 * The deadline decides whether to send. What was sent gets its full time: giving up its answer would lose a task.
 */
import type { CreationRequest } from '../operations/operation';
import type { Reply, ServiceClient } from '../service/client';
import { untilAborted, type Clock } from '../service/clock';
import type { Failure } from '../service/failures';
import type { JsonObject } from '../service/json';
import { creationsOf } from './find';
import { PATIENCE_MS, readCreation, type Patience, type Refusal } from './creation';

export interface Created {
	taskId: string;
	/** Epoch ms of the answer. */
	createdAt: number;
	/** The service's answer as it came. */
	answer: JsonObject;
}

/** A task may exist whose ID nobody knows, or only a refusal has named. What to look for it with. */
export interface Unclear {
	kind: 'unclear';
	/** Outcome `unknown`. */
	failure: Failure;
	request: CreationRequest;
	/** Epoch ms by our clock at which the request was sent. */
	sentAt: number;
	/** Epoch ms by our clock at which its answer came, or was given up. */
	endedAt: number;
	/** Epoch ms by the service's clock at `endedAt`; undefined where no answer, or none with a `Date`, has come. */
	serviceDate: number | undefined;
}

export type Submitted =
	| { kind: 'created'; created: Created }
	| Unclear
	/** Nothing was created: outcome `rejected` or `cancelled`. */
	| { kind: 'failed'; failure: Failure };

export interface SubmitDeps extends Clock {
	client: ServiceClient;
	/** In [0, 1). */
	random: () => number;
	/** Aborts when the run is over: then nothing more is sent, but an answer that is still due is awaited. */
	signal?: AbortSignal;
	/** Aborts when the execution is stopped: then no answer is awaited either. */
	stop?: AbortSignal;
	/** Receives the ID of a task whose creation was answered after the execution had been stopped; `sure`: by no refusal. */
	noteLate?: (taskId: string, sure: boolean) => void;
}

/** For one creation request, in ms. */
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

const UNANSWERED: Failure = {
	outcome: 'unknown',
	message:
		'The execution was stopped before the service had answered the request; the task may exist',
	description:
		'The service may have created the task and charged for it. Check the task list at the service; if the task is there, fetch it with "Task: Wait" and its ID.',
};

class Submission {
	private readonly position: number;
	private lastRefusal: Failure | undefined;
	/** Epoch ms of the first refusal of each kind. */
	private readonly firstRefusals = new Map<Patience, number>();
	private tries = 0;

	constructor(
		private readonly deps: SubmitDeps,
		private readonly request: CreationRequest,
		private readonly deadline: number,
	) {
		this.position = deps.client.account.queue.newPosition();
	}

	private get queue() {
		return this.deps.client.account.queue;
	}

	async run(): Promise<Submitted> {
		if (!this.queue.open) await this.waitInQueue();
		for (;;) {
			const answered = this.queue.sent();
			const obstacle = await this.waitOutPause();
			const sentAt = this.deps.now();
			const reply = obstacle === undefined ? await this.exchange() : undefined;
			answered();
			if (obstacle !== undefined) return { kind: 'failed', failure: obstacle };
			const submitted = await this.read(reply, sentAt);
			if (submitted !== undefined) return submitted;
		}
	}

	private async waitInQueue(): Promise<void> {
		// While a pause lasts beyond the deadline, a turn is of no use.
		const paused = this.deps.client.account.pausedUntil('create') >= this.deadline;
		if (!paused) await this.queue.wait(this.position, this.deps, this.deadline);
		this.lastRefusal = this.queue.refusal ?? this.lastRefusal;
	}

	/** Waits until the account may be asked again, unless that is too late. Why nothing may be sent, or undefined. */
	private async waitOutPause(): Promise<Failure | undefined> {
		const { client, now, sleep, random, signal } = this.deps;
		for (;;) {
			if (signal?.aborted === true) return STOPPED;
			const until = client.account.pausedUntil('create');
			if (Math.max(until, now()) >= this.deadline) return this.lastRefusal ?? PAUSED_TOO_LONG;
			if (until <= now()) return undefined;
			await sleep(Math.min(until - now() + random() * 250, this.deadline - now()), signal);
		}
	}

	/** The answer to the request, or undefined where the execution is stopped before it comes. */
	private async exchange(): Promise<Reply | undefined> {
		const { client, stop, noteLate, now } = this.deps;
		const { request } = this;
		const { path, qs, body } = request;
		const answered = creationsOf(client.account).sent({ request, sentAt: now() });
		const sent = client
			.send({ method: 'POST', path, qs, body, purpose: 'create', timeoutMs: CREATION_TIMEOUT_MS })
			.finally(answered);
		if (stop === undefined) return await sent;
		const stopped = untilAborted(stop);
		const reply = await Promise.race([sent, stopped.promise]);
		stopped.forget();
		if (reply === undefined) {
			void sent.then((late) => {
				const creation = readCreation(late, Date.now());
				const taskId = creation.kind === 'created' ? creation.taskId : creation.failure.taskId;
				if (taskId !== undefined) client.account.known.set(taskId, true);
				if (taskId !== undefined) noteLate?.(taskId, creation.kind === 'created');
			});
		}
		return reply;
	}

	/** What came of one try. Undefined where another one may follow. */
	private async read(reply: Reply | undefined, sentAt: number): Promise<Submitted | undefined> {
		const { now } = this.deps;
		if (reply === undefined) {
			this.queue.next();
			return this.unclear(UNANSWERED, { sentAt });
		}
		const creation = readCreation(reply, Date.now());
		switch (creation.kind) {
			case 'created': {
				this.queue.created(now());
				const { taskId, answer } = creation;
				this.deps.client.account.known.set(taskId, true);
				return { kind: 'created', created: { taskId, createdAt: now(), answer } };
			}
			case 'full':
				this.lastRefusal = creation.failure;
				this.queue.refused(now(), creation.failure, creation.retryAfterMs);
				if (now() + (creation.retryAfterMs ?? 0) >= this.deadline)
					return { kind: 'failed', failure: creation.failure };
				await this.waitInQueue();
				return undefined;
			case 'retry':
				this.queue.next();
				return await this.backOff(creation);
			case 'unclear':
				this.queue.next();
				return this.unclear(creation.failure, { sentAt, reply });
			case 'failed':
				this.queue.next();
				return creation;
		}
	}

	private unclear(failure: Failure, { sentAt, reply }: { sentAt: number; reply?: Reply }): Unclear {
		const date = reply?.answered === true ? Date.parse(String(reply.headers.date)) : NaN;
		return {
			kind: 'unclear',
			failure,
			request: this.request,
			sentAt,
			endedAt: this.deps.now(),
			serviceDate: Number.isNaN(date) ? undefined : date,
		};
	}

	/** Pauses before the next try, or gives up where that would come too late. */
	private async backOff(refusal: Refusal): Promise<Submitted | undefined> {
		const { failure, retryAfterMs = 0, patience } = refusal;
		const { now, sleep, random, signal } = this.deps;
		this.lastRefusal = failure;
		const backoff = Math.min(500 * 2 ** this.tries, MAX_BACKOFF_MS) * (0.75 + random() / 2);
		this.tries += 1;
		const wait = Math.max(retryAfterMs, backoff);
		if (now() + wait >= Math.min(this.deadline, this.patienceEnds(patience)))
			return { kind: 'failed', failure };
		await sleep(wait, signal);
		return undefined;
	}

	/** Patience counts from the first refusal of its kind: what came before says nothing about it. */
	private patienceEnds(patience: Patience | undefined): number {
		if (patience === undefined) return Infinity;
		const first = this.firstRefusals.get(patience) ?? this.deps.now();
		this.firstRefusals.set(patience, first);
		return first + PATIENCE_MS[patience];
	}
}

/**
 * Creates a task, or says why there is none. Never rejects.
 *
 * @param deadline epoch ms until which refusals that created nothing are answered with another try
 */
export async function createTask(
	deps: SubmitDeps,
	request: CreationRequest,
	deadline: number,
): Promise<Submitted> {
	return await new Submission(deps, request, deadline).run();
}
