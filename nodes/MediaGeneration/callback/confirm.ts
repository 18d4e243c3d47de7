/**
 * Asking the service on behalf of an anonymous caller. A callback must not be a lever: whatever is posted, the service gets
 * few requests, creations are not slowed down, and each call is answered in time. All state is per account and process,
 * bounded, and soon forgotten.
 */
import type { Account, PollRoute } from '../service/account';
import { BoundedMap } from '../service/boundedMap';
import type { ServiceClient } from '../service/client';
import { now, pause } from '../service/clock';
import { Limiter } from '../service/limiter';
import { lookAtTask, type Look } from '../service/look';
import { verifyTask, type Verification } from './verify';

/** What a callback says; only a hint. */
export interface Claim {
	taskId: string;
	type: string | undefined;
	/** Whether it says, or leaves open, that the task is over. */
	over: boolean;
}

/** At a time, for all callbacks of the process. */
const LOOKS_AT_ONCE = 10;
/** More calls than that are not even queued. */
const CLAIMS_AT_ONCE = 500;
const UNKNOWN_FOR_MS = 10_000;
const REMEMBERED = 1_000;
/** Less time than that is not worth another look. */
const WORTH_ASKING_MS = 500;
/** No Retry-After keeps callbacks from asking for longer than this. */
const LONGEST_REST_MS = 30_000;

const turns = new Limiter(LOOKS_AT_ONCE);

interface Asked {
	/** Until when (epoch ms) an ID counts as unknown without asking again. */
	unknown: BoundedMap<string, number>;
	/** Copies that arrive at the same moment share one verification. */
	underWay: Map<string, Promise<Verification>>;
	/** The route that last answered for a type of task, by the service's own word for the type. */
	routes: BoundedMap<string, PollRoute>;
	/** Epoch ms until which the service asked callbacks to wait. Creations and polls have `account.pausedUntil`. */
	restUntil: number;
}

const asked = new WeakMap<Account, Asked>();

function askedOf(account: Account): Asked {
	const present = asked.get(account);
	if (present !== undefined) return present;
	const fresh: Asked = {
		unknown: new BoundedMap(REMEMBERED),
		underWay: new Map(),
		routes: new BoundedMap(REMEMBERED),
		restUntil: 0,
	};
	asked.set(account, fresh);
	return fresh;
}

const typeKey = (type: string | undefined) => (type ?? '').toLowerCase();

/** Waits for a turn to ask, for at most `patienceMs`; undefined if none came. */
async function inTurn(look: () => Promise<Look>, patienceMs: number): Promise<Look | undefined> {
	let waiting = true;
	const over = new AbortController();
	const turn = turns.run(async () => {
		if (!waiting) return undefined;
		waiting = false;
		over.abort();
		return await look();
	});
	await Promise.race([turn, pause(patienceMs, over.signal)]);
	if (!waiting) return await turn;
	waiting = false;
	return undefined;
}

/**
 * One request to one route. For a type whose route is known, both tries go to that route, the second one a while later, as
 * a young task can be unknown for a moment; otherwise each route gets one.
 */
async function lookOnce(
	client: ServiceClient,
	state: Asked,
	{ taskId, type }: Claim,
	{ timeoutMs, misses }: { timeoutMs: number; misses: number },
): Promise<Look> {
	const restMs = Math.max(client.account.pausedUntil('look') - now(), state.restUntil - Date.now());
	if (restMs > 0)
		return { kind: 'busy', detail: 'the service asked for a pause', retryAfterMs: restMs };
	const known = state.routes.get(typeKey(type));
	const route = known ?? (misses === 0 ? 'v1' : 'v1e');
	const at = { taskId, kind: 'callback', route, timeoutMs, purpose: 'outsider' } as const;
	const look = await inTurn(async () => await lookAtTask(client, at), timeoutMs);
	if (look === undefined) return { kind: 'busy', detail: 'too many callbacks at once' };
	if (look.kind === 'busy' && look.retryAfterMs !== undefined)
		state.restUntil = Date.now() + Math.min(look.retryAfterMs, LONGEST_REST_MS);
	if (look.kind === 'task' && look.task.state !== 'running')
		state.routes.set(typeKey(look.task.type), route);
	return look;
}

async function ask(
	client: ServiceClient,
	{ state, claim, budgetMs }: { state: Asked; claim: Claim; budgetMs: number },
): Promise<Verification> {
	const verification = await verifyTask(
		{
			look: async (timeoutMs, misses) =>
				await lookOnce(client, state, claim, { timeoutMs, misses }),
			now: Date.now,
			sleep: pause,
		},
		{ taskId: claim.taskId, budgetMs, claimsEnd: claim.over },
	);
	if (verification.kind === 'unknown') state.unknown.set(claim.taskId, Date.now() + UNKNOWN_FOR_MS);
	return verification;
}

/** What the service itself says of the task that a callback names. @param budgetMs for all looks together */
export async function confirm(
	client: ServiceClient,
	claim: Claim,
	budgetMs: number,
): Promise<Verification> {
	const state = askedOf(client.account);
	if ((state.unknown.get(claim.taskId) ?? 0) > Date.now()) return { kind: 'unknown' };
	const key = `${claim.over}:${claim.taskId}`;
	const present = state.underWay.get(key);
	if (present !== undefined) {
		const end = now() + budgetMs;
		// Each gets a copy: what one workflow does to its item must not affect the others.
		const shared = structuredClone(await present);
		const isOver = shared.kind !== 'running';
		const leftMs = end - now();
		// It gave up in the time of an earlier callback; that of this one is not over.
		return isOver || !claim.over || leftMs < WORTH_ASKING_MS
			? shared
			: await confirm(client, claim, leftMs);
	}
	if (state.underWay.size >= CLAIMS_AT_ONCE)
		return { kind: 'unavailable', reason: 'too many callbacks at once' };
	const verification = ask(client, { state, claim, budgetMs }).finally(() =>
		state.underWay.delete(key),
	);
	state.underWay.set(key, verification);
	return await verification;
}
