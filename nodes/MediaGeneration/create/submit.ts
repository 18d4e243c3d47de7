/**
 * Creating a task: sent, and sent again only where `creation.ts` says that nothing can have been created.
 */
import type { CreationRequest } from '../operations/operation';
import type { ServiceClient } from '../service/client';
import type { Failure } from '../service/failures';
import type { JsonObject } from '../service/json';
import { readCreation } from './creation';
import { learnFromThrottling } from '../service/look';

export interface Created {
	taskId: string;
	/** Epoch ms of the answer. */
	createdAt: number;
	/** The service's answer as it came. */
	answer: JsonObject;
}

export type Submitted = { ok: true; created: Created } | { ok: false; failure: Failure };

export interface SubmitDeps {
	client: ServiceClient;
	now: () => number;
	/** Resolves after `ms`, or earlier when the signal aborts. Never rejects. */
	sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
	random: () => number;
	signal?: AbortSignal;
}

/** One creation request is given so long, in ms: an answer that is given up is a task that may be paid for. */
const CREATION_TIMEOUT_MS = 120_000;
const MAX_PAUSE_MS = 8_000;

const STOPPED: Failure = {
	outcome: 'cancelled',
	message: 'The execution was stopped before this task was created',
	description: 'Nothing was created for this item. Run the workflow again to create it.',
};

const PAUSED_TOO_LONG: Failure = {
	outcome: 'rejected',
	message: 'The service asked to be left alone for longer than the Timeout option allows',
	description:
		'Raise the Timeout option, or run again later. No task was created and nothing was paid.',
};

/** Waits until the account may be asked again, and for `ms`, whichever is longer. */
async function pause(deps: SubmitDeps, ms: number): Promise<void> {
	const { account } = deps.client;
	await deps.sleep(Math.max(ms, account.pausedUntil - deps.now()), deps.signal);
	while (deps.now() < account.pausedUntil && deps.signal?.aborted !== true) {
		await deps.sleep(account.pausedUntil - deps.now(), deps.signal);
	}
}

/**
 * Creates a task, or says why there is none: outcome `rejected`, `unknown` or `cancelled`. Never rejects.
 *
 * @param deadline epoch ms until which refusals that created nothing are answered with another try
 */
export async function createTask(
	deps: SubmitDeps,
	request: CreationRequest,
	deadline: number,
): Promise<Submitted> {
	const { client, now, signal } = deps;
	const { room } = client.account;
	const place = room.newPlace();
	const startedAt = now();
	let lastRefusal: Failure | undefined;
	if (room.full) {
		await room.wait(place, deps, deadline);
		lastRefusal = room.refusal;
	}
	for (let attempt = 0; ; attempt += 1) {
		if (client.account.pausedUntil > now()) await pause(deps, deps.random() * 250);
		if (signal?.aborted === true) return { ok: false, failure: STOPPED };
		const left = deadline - now();
		if (left <= 0) return { ok: false, failure: lastRefusal ?? PAUSED_TOO_LONG };
		const reply = await client.send({
			method: 'POST',
			path: request.path,
			qs: request.qs,
			body: request.body,
			timeoutMs: Math.min(CREATION_TIMEOUT_MS, Math.max(left, 1_000)),
		});
		learnFromThrottling(client, reply, now());
		const creation = readCreation(reply, now());
		if (creation.kind === 'created') {
			room.found(now());
			const { taskId, answer } = creation;
			return { ok: true, created: { taskId, createdAt: now(), answer } };
		}
		if (creation.kind === 'retry' && creation.full === true) {
			lastRefusal = creation.failure;
			room.refused(now(), creation.failure, creation.retryAfterMs);
			await room.wait(place, deps, deadline);
			continue;
		}
		// This was no question of room.
		room.next();
		if (creation.kind === 'failed') return { ok: false, failure: creation.failure };

		lastRefusal = creation.failure;
		const backoff = Math.min(500 * 2 ** attempt, MAX_PAUSE_MS) * (0.75 + deps.random() / 2);
		const wait = creation.retryAfterMs ?? backoff;
		const patience = Math.min(deadline, startedAt + (creation.patienceMs ?? Infinity));
		if (now() + wait >= patience) return { ok: false, failure: lastRefusal };
		await pause(deps, wait);
	}
}
