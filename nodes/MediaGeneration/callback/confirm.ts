/** What the service itself says of a task that an anonymous caller names: by few requests, whatever is posted, and in time for the answer. */
import type { Account, PollRoute } from '../service/account';
import { BoundedMap, ensured } from '../service/boundedMap';
import type { ServiceClient } from '../service/client';
import { now, pause, timeLimit } from '../service/clock';
import { Limiter } from '../service/limiter';
import { CONFIRM_MS, lookAtTask, type Look } from '../service/look';
import { verdictOf, type Verdict } from '../service/verdict';
import type { Posted } from './webhook';

/** The verdict, or the last look, which brought none. */
type Confirmed = Verdict | Exclude<Look, { kind: 'task' }>;

const LOOK_TIMEOUT_MS = 5_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2_000;
/** A task can be unknown for a short time after its creation (docs/service.md, "Poll routes"). */
const PAUSE_AFTER_MISS_MS = 1_500;
/** An anonymous call must not cost many requests. */
const MISSES_ALLOWED = 2;
/** A single 401 can come from an edge, or from throttling (docs/service.md, "More routes"). */
const DENIALS_ALLOWED = 2;
const LOOKS_AT_ONCE = 10;
/** More calls than that are not even queued. */
const CLAIMS_AT_ONCE = 500;
const UNKNOWN_FOR_MS = 10_000;
const REMEMBERED = 1_000;
const WORTH_ASKING_MS = 500;
/** No Retry-After keeps callbacks from asking for longer than this. */
const LONGEST_REST_MS = 30_000;

const TOO_MANY: Look & Confirmed = { kind: 'busy', detail: 'too many callbacks at once' };

class Asked {
	readonly turns = new Limiter(LOOKS_AT_ONCE);
	/** Until when (epoch ms) an ID counts as unknown without asking again. */
	readonly unknown = new BoundedMap<string, number>(REMEMBERED);
	/** Copies that arrive at the same moment share one. */
	readonly underWay = new Map<string, Promise<Confirmed>>();
	/** By the service's own word for the type of a task that was over. */
	readonly routes = new BoundedMap<string, PollRoute>(REMEMBERED);
	/** Epoch ms until which the service asked callbacks to wait. Creations and polls have `account.pausedUntil`. */
	restUntil = 0;
}

const asked = new WeakMap<Account, Asked>();
const askedOf = (account: Account) => ensured(asked, account, () => new Asked());

const typeKey = (type: string | undefined) => (type ?? '').toLowerCase();

/** Whether it leaves open, at least, that the task is over: then a task that still runs is looked at again. */
const mayBeOver = ({ task }: Posted) => task?.state !== 'running';

/** One request to one route. For a type whose route is known both tries go to it, as a young task can be unknown for a moment. */
async function lookOnce(
	client: ServiceClient,
	{ taskId, task }: Posted,
	{ timeoutMs, misses }: { timeoutMs: number; misses: number },
): Promise<Look> {
	const state = askedOf(client.account);
	const restMs = Math.max(client.account.pausedUntil('look') - now(), state.restUntil - Date.now());
	if (restMs > 0)
		return { kind: 'busy', detail: 'the service asked for a pause', retryAfterMs: restMs };
	const patience = timeLimit(timeoutMs);
	const turn = await state.turns.take(1, patience.signal).catch(() => undefined);
	patience.end();
	if (turn === undefined) return TOO_MANY;
	const route = state.routes.get(typeKey(task?.type)) ?? (misses === 0 ? 'v1' : 'v1e');
	const at = { taskId, kind: 'callback', route, timeoutMs, purpose: 'outsider' } as const;
	const look = await lookAtTask(client, at).finally(turn);
	if (look.kind === 'busy' && look.retryAfterMs !== undefined)
		state.restUntil = Date.now() + Math.min(look.retryAfterMs, LONGEST_REST_MS);
	if (look.kind === 'task' && look.task.state !== 'running')
		state.routes.set(typeKey(look.task.type), route);
	return look;
}

function pauseAfter(look: Look, attempt: number): number {
	if (look.kind === 'missing') return PAUSE_AFTER_MISS_MS;
	if (look.kind === 'doubtful') return CONFIRM_MS;
	const own = Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS);
	return look.kind === 'busy' ? Math.max(own, look.retryAfterMs ?? 0) : own;
}

/** Until the answer is clear; else the last one counts. A callback can be faster than the service's own read of its task or its files. */
async function ask(client: ServiceClient, posted: Posted, budgetMs: number): Promise<Confirmed> {
	const { taskId } = posted;
	const end = Date.now() + budgetMs;
	let last: Confirmed = { kind: 'busy', detail: 'the service was not asked' };
	const seen = { missing: 0, denied: 0, doubtful: 0, task: 0, busy: 0 };
	for (let attempt = 0; Date.now() < end; attempt += 1) {
		const timeoutMs = Math.min(LOOK_TIMEOUT_MS, end - Date.now());
		const look = await lookOnce(client, posted, { timeoutMs, misses: seen.missing });
		seen[look.kind] += 1;
		if (look.kind === 'doubtful' && seen.doubtful > 1) return verdictOf(taskId, look.task);
		last = look.kind === 'task' ? verdictOf(taskId, look.task) : look;
		if (last.kind === 'done' || last.kind === 'failed') return last;
		if (last.kind === 'running' && last.task.state === 'running' && !mayBeOver(posted)) return last;
		if (seen.missing >= MISSES_ALLOWED || seen.denied >= DENIALS_ALLOWED) return last;
		const pauseMs = pauseAfter(look, attempt);
		if (Date.now() + pauseMs >= end) return last;
		await pause(pauseMs);
	}
	return last;
}

/** @param budgetMs for all looks together */
export async function confirm(
	client: ServiceClient,
	posted: Posted,
	budgetMs: number,
): Promise<Confirmed> {
	const { unknown, underWay } = askedOf(client.account);
	const { taskId } = posted;
	if ((unknown.get(taskId) ?? 0) > Date.now())
		return { kind: 'missing', detail: 'unknown a moment ago' };
	const key = `${mayBeOver(posted)}:${taskId}`;
	const present = underWay.get(key);
	if (present !== undefined) {
		const end = now() + budgetMs;
		// Each gets a copy: what one workflow does to its item must not affect the others.
		const shared = structuredClone(await present);
		const leftMs = end - now();
		const isOpen = shared.kind === 'running' && mayBeOver(posted) && leftMs >= WORTH_ASKING_MS;
		// It gave up in the time of an earlier callback; that of this one is not over.
		return isOpen ? await confirm(client, posted, leftMs) : shared;
	}
	if (underWay.size >= CLAIMS_AT_ONCE) return TOO_MANY;
	const asking = ask(client, posted, budgetMs).finally(() => underWay.delete(key));
	underWay.set(key, asking);
	const confirmed = await asking;
	if (confirmed.kind === 'missing') unknown.set(taskId, Date.now() + UNKNOWN_FOR_MS);
	return confirmed;
}
