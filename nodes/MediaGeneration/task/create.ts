/**
 * Creates a task: sends the request, and repeats it only if `creation.ts` says that nothing can have been created.
 * The limits decide whether to send. A request that was sent gets its full time: giving up on its answer would lose a task.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import type { CreationRequest } from '../answers/request';
import { inBackground, logOf } from '../n8n/clean';
import type { ServiceClient } from '../transport/client';
import { backoffMs } from '../base/backoff';
import { unlessAborted } from '../base/abort';
import type { Clock } from '../base/clock';
import type { Failure } from '../base/outcomes';
import { seconds } from '../base/words';
import { asText } from '../base/json';
import { readCreation, type Creation } from '../answers/creation';
import type { Created } from './identity';
import {
	fullAccountOf,
	placeOf,
	type CreationLimits,
	type FullAccount,
	type Place,
} from './fullAccount';
import { sendByRoute } from './speechRoute';

export type Submitted =
	| Created
	/** A task may exist, with an ID that is unknown or that only a refusal named: outcome `unknown`. */
	| { kind: 'unclear'; failure: Failure; sentAt: number }
	/** Nothing was created: outcome `rejected` or `cancelled`. */
	| { kind: 'failed'; failure: Failure };

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
	const line = fullAccountOf(deps.client.account);
	const place = placeOf(request, limits, deps.now());
	try {
		return await sendInTurn(deps, request, { line, place });
	} finally {
		line.leave(place);
	}
}

async function sendInTurn(
	deps: CreateDeps,
	request: CreationRequest,
	{ line, place }: { line: FullAccount; place: Place },
): Promise<Submitted> {
	const { client, now, sleep, random, runEnded } = deps;
	/** Epoch ms of the first refusal in a row that is retried for a limited time only. */
	let impatientSince: number | undefined;
	let retries = 0;
	for (;;) {
		const isAdmitted = await line.turn(place, deps, runEnded);
		if (runEnded.aborted) return { kind: 'failed', failure: NOT_CREATED };
		if (!isAdmitted) return { kind: 'failed', failure: lateFailure(place) };
		const sentAt = now();
		const creation = await exchange(deps, request);
		line.answered(place, creation, now());
		switch (creation.kind) {
			case 'created': {
				const { taskId, answer } = creation;
				client.account.created(taskId);
				const receiveUrl = asText(request.body.receive_url);
				return { kind: 'created', taskId, createdAt: now(), answer, receiveUrl };
			}
			case 'failed':
				return creation;
			case 'unclear': {
				const { taskId } = creation.failure;
				// Known, but not as this request's: it may be the task of an earlier request whose notes n8n lost.
				if (taskId !== undefined) client.account.created(taskId, 0);
				return { ...creation, sentAt };
			}
			case 'retry': {
				const { failure, patienceMs = Infinity, retryAfterMs } = creation;
				retries += 1;
				const growing = { firstMs: 500, maxMs: 8_000, retryAfterMs };
				const wait = backoffMs(retries, growing, random());
				impatientSince = patienceMs === Infinity ? undefined : (impatientSince ?? now());
				const patientUntil = (impatientSince ?? now()) + patienceMs;
				if (now() + wait >= Math.min(place.deadline, patientUntil))
					return { kind: 'failed', failure };
				await sleep(wait, runEnded);
				break;
			}
			default: {
				// A full account is waited for apart from the Timeout.
				const isApart = creation.kind === 'full' && !place.boundsFull;
				const askedUntil = now() + (creation.retryAfterMs ?? 0);
				if (!isApart && askedUntil >= place.deadline)
					return { kind: 'failed', failure: creation.failure };
				impatientSince = undefined;
				const words = line.logLine(place, now());
				if (words !== undefined) logOf(deps.context).warn(words);
			}
		}
	}
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
