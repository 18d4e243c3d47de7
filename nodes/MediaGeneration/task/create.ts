/**
 * Creates a task: sends the request, and repeats it only if `creation.ts` says that nothing can have been created.
 * The limits decide whether to send. A request that was sent gets its full time: giving up on its answer would lose a task.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import type { CreationRequest } from '../answers/request';
import { inBackground, logOf } from '../n8n/log';
import type { ServiceClient } from '../transport/client';
import { backoffMs } from '../base/backoff';
import { unlessAborted } from '../base/abort';
import type { Clock } from '../base/clock';
import type { Failure } from '../base/outcomes';
import { seconds } from '../base/words';
import { asText } from '../base/json';
import { readCreation, type Creation, type Refusal } from '../answers/creation';
import type { Created } from './identity';
import { deadlineOf, lineOf, placeOf, type CreationLimits, type Place } from './creationLine';
import { sendByRoute } from './speechRoute';

export type Submitted =
	| Created
	/** A task may exist, with an ID that is unknown or that only a refusal named: outcome `unknown`. */
	| { kind: 'unclear'; failure: Failure; sentAt: number }
	/** Nothing was created: outcome `rejected` or `cancelled`. */
	| { kind: 'refused'; failure: Failure };

export interface CreateDeps extends Clock {
	client: ServiceClient;
	context: Pick<IExecuteFunctions, 'logger'>;
	/** Keeps the execution ID, because n8n may drop it. */
	ledger: { run: { executionId: string } };
	random: () => number;
	/** Aborts when the run has ended: nothing more is sent, but an outstanding answer is still awaited. */
	runEnded: AbortSignal;
	/** Aborts when the execution is stopped: no answer is awaited either. */
	stop: AbortSignal | undefined;
}

export const NOT_CREATED: Failure = {
	outcome: 'cancelled',
	message: 'The execution was stopped before this task was created',
	description: 'Nothing was created for this item. Run the workflow again to create it.',
};

export async function createTask(
	deps: CreateDeps,
	request: CreationRequest,
	limits: CreationLimits,
): Promise<Submitted> {
	const line = lineOf(deps.client.account);
	const place = placeOf(request, limits);
	try {
		return await sendInTurn(deps, request, place);
	} finally {
		line.leave(place);
	}
}

async function sendInTurn(
	deps: CreateDeps,
	request: CreationRequest,
	place: Place,
): Promise<Submitted> {
	const { now, sleep, random, runEnded, context } = deps;
	const { account } = deps.client;
	const line = lineOf(account);
	let retries = 0;
	/** Epoch ms of the first refusal in a row that is retried for a limited time only. */
	let impatientSince: number | undefined;
	for (;;) {
		const isAdmitted = await line.turn(place, deps, runEnded);
		if (runEnded.aborted) return { kind: 'refused', failure: NOT_CREATED };
		if (!isAdmitted) return { kind: 'refused', failure: lateFailure(place) };
		const sentAt = now();
		const creation = await exchange(deps, request);
		line.answered(place, creation, now());
		if (creation.kind === 'refused') return creation;
		if (creation.kind === 'created') {
			const { taskId, answer } = creation;
			account.made.add(taskId);
			const receiveUrl = asText(request.body.receive_url);
			return { kind: 'created', taskId, createdAt: now(), answer, receiveUrl };
		}
		if (creation.kind === 'unclear') {
			const { taskId } = creation.failure;
			// It may be the task of an earlier request whose notes n8n lost, so nobody knows when it was made.
			if (taskId !== undefined) account.made.add(taskId, 0);
			return { ...creation, sentAt };
		}
		const { kind, failure, patienceMs, retryAfterMs = 0 } = creation;
		if (kind === 'retry') retries += 1;
		const growing = { firstMs: 500, maxMs: 8_000, retryAfterMs };
		const pauseMs = kind === 'retry' ? backoffMs(retries, growing, random()) : retryAfterMs;
		impatientSince = patienceMs === undefined ? undefined : (impatientSince ?? now());
		if (now() + pauseMs >= endOfTries(creation, place, impatientSince))
			return { kind: 'refused', failure };
		// The line waits for a full or limited account.
		if (kind === 'retry') await sleep(pauseMs, runEnded);
		const words = kind === 'retry' ? undefined : line.logLine(now());
		if (words !== undefined) logOf(context).warn(words);
	}
}

/** Returns the epoch ms before which a refused creation must be sent again. */
function endOfTries(
	{ kind, patienceMs = Infinity }: Refusal,
	place: Place,
	impatientSince = 0,
): number {
	const isApart = kind === 'full' && !place.boundsFull;
	return isApart ? Infinity : Math.min(deadlineOf(place), impatientSince + patienceMs);
}

/** Explains why a creation ran out of time before it was sent. */
function lateFailure({ refusal, fullMs }: Place): Failure {
	const notSent: Failure = {
		outcome: 'rejected',
		message:
			"The service did not accept the creation within the option 'Timeout': it asked for a pause, or did not answer the creations before this one",
		description:
			"Raise the option 'Timeout', or run again later. No task was created, and nothing was paid.",
	};
	const why = refusal?.failure ?? notSent;
	if (refusal?.kind !== 'full' || fullMs === 0) return why;
	return { ...why, message: `${why.message}; the account was full for ${seconds(fullMs)}` };
}

async function exchange(deps: CreateDeps, request: CreationRequest): Promise<Creation> {
	const { client, stop, runEnded } = deps;
	const sent = sendByRoute(client, request, runEnded);
	if (stop === undefined) return await sent;
	const creation = await unlessAborted(stop, sent);
	if (creation !== undefined) return creation;
	inBackground(deps.context, logLate(deps, sent));
	const reason = 'the execution was stopped';
	return readCreation({ answered: false, kind: 'unanswered', reason }, request);
}

/** Names the task in the log, which is the only place left after the execution was stopped. Its Retry finds it in the service's list. */
async function logLate({ context, ledger }: CreateDeps, sent: Promise<Creation>): Promise<void> {
	const creation = await sent;
	const isCreated = creation.kind === 'created';
	const taskId = isCreated ? creation.taskId : creation.failure.taskId;
	if (taskId === undefined) return;
	const exists = isCreated ? 'exists and is paid for' : 'may exist and be paid for';
	logOf(context).warn(
		`task ${taskId} of the stopped execution ${ledger.run.executionId} ${exists}`,
	);
}
