/** Asks what the service itself says of a task that an anonymous caller names: by few requests, whatever is posted, and in time for the answer. */
import type { PollRoute } from '../transport/account';
import { BoundedMap } from '../base/boundedMap';
import type { ServiceClient } from '../transport/client';
import { now, timeLimit } from '../base/clock';
import { realClock } from '../n8n/clock';
import { Limiter } from '../base/limiter';
import { lookOnRoute, type Look } from '../transport/look';
import { LOOK_POLICIES, untilClear } from '../transport/until';
import { verdictOf, type Verdict } from '../transport/verdict';
import type { Posted } from './webhook';

/** Is the verdict, or the last look, which brought none. Copies of a call share it. */
type Confirmed = Verdict | Exclude<Look, { kind: 'task' }>;

const CALLBACK_LOOK_TIMEOUT_MS = 5_000;
/** A task is unknown after this many 404s. */
const CALLBACK_MISSES = 2;
const CALLBACK_LOOKS_AT_ONCE = 10;
/** Calls beyond this number are not even queued. */
const CALLS_AT_ONCE = 500;
const UNKNOWN_FOR_MS = 10_000;
const REMEMBERED_IDS = 1_000;
const WORTH_ASKING_MS = 500;

const TOO_MANY_CALLBACKS: Look & Confirmed = { kind: 'busy', detail: 'too many callbacks at once' };

/** The callbacks of an account share this state. */
class Callbacks {
	readonly turns = new Limiter(CALLBACK_LOOKS_AT_ONCE);
	/** Counts the calls that are not answered yet. */
	calls = 0;
	/** An ID counts as unknown until then (epoch ms), without another request. */
	readonly unknown = new BoundedMap<string, number>(REMEMBERED_IDS);
	/** Copies that arrive at the same moment share one. */
	readonly underWay = new Map<string, Promise<Confirmed>>();
	/** The keys are the types of tasks that were over, as the service names them. */
	readonly routes = new BoundedMap<string, PollRoute>(REMEMBERED_IDS);
}

const typeKey = (type: string | undefined) => (type ?? '').toLowerCase();

/** Unless a callback says that its task still runs, such a task is looked at again. */
const mayBeOver = ({ task }: Posted) => task?.state !== 'running';

/** Sends one request to one route. For a type whose route is known both tries go to it, as a young task can be unknown for a moment. */
async function lookOnce(
	client: ServiceClient,
	{ taskId, task }: Posted,
	{ deadline, misses }: { deadline: number; misses: number },
): Promise<Look> {
	const state = client.account.state(Callbacks);
	const timeoutMs = Math.min(CALLBACK_LOOK_TIMEOUT_MS, deadline - now());
	const patience = timeLimit(timeoutMs);
	const turn = await state.turns.take(1, patience.signal).catch(() => undefined);
	patience.end();
	if (turn === undefined) return TOO_MANY_CALLBACKS;
	const route = state.routes.get(typeKey(task?.type)) ?? (misses === 0 ? 'v1' : 'v1e');
	const at = { taskId, route, timeoutMs, purpose: 'outsider' } as const;
	const look = await lookOnRoute(client, at).finally(turn);
	if (look.kind === 'task' && look.task.state !== 'running')
		state.routes.set(typeKey(look.task.type), route);
	return look;
}

/** A callback can be faster than the service's own read of its task or its files. */
async function ask(client: ServiceClient, posted: Posted, deadline: number): Promise<Confirmed> {
	const { account } = client;
	let misses = 0;
	const look = async () => {
		const seen = await lookOnce(client, posted, { deadline, misses });
		if (seen.kind === 'missing') misses += 1;
		return seen;
	};
	const said = await untilClear(look, LOOK_POLICIES.callback, {
		...realClock,
		deadline,
		reportedFailed: posted.task?.state === 'failed',
		pausedUntil: () => Math.max(account.pausedUntil('look'), account.pausedUntil('outsider')),
		isEnough: (task) =>
			verdictOf(posted.taskId, task).kind !== 'running' ||
			(task.state === 'running' && !mayBeOver(posted)),
	});
	if (said.kind === 'task') {
		const verdict = verdictOf(posted.taskId, said.task);
		// Only the end of a task of this process frees a slot that its creations wait for.
		const frees = verdict.kind !== 'running' && account.known.has(posted.taskId);
		if (frees) account.taskEnded(posted.taskId);
		return verdict;
	}
	// One of the two refusals was about the key, so that not every route has denied the task.
	if (said.kind === 'missing' && misses < CALLBACK_MISSES) return { ...said, kind: 'busy' };
	return said;
}

/** @param budgetMs for all looks together */
export async function confirm(
	client: ServiceClient,
	posted: Posted,
	budgetMs: number,
): Promise<Confirmed> {
	const state = client.account.state(Callbacks);
	if (state.calls >= CALLS_AT_ONCE) return TOO_MANY_CALLBACKS;
	state.calls += 1;
	try {
		return await shared(client, posted, now() + budgetMs);
	} finally {
		state.calls -= 1;
	}
}

async function shared(client: ServiceClient, posted: Posted, deadline: number): Promise<Confirmed> {
	const { unknown, underWay } = client.account.state(Callbacks);
	const { taskId } = posted;
	if ((unknown.get(taskId) ?? 0) > now())
		return { kind: 'missing', detail: 'unknown a moment ago' };
	const key = `${mayBeOver(posted)}:${taskId}`;
	const present = underWay.get(key);
	if (present !== undefined) {
		const confirmed = await present;
		const isOpen =
			confirmed.kind === 'running' && mayBeOver(posted) && deadline - now() >= WORTH_ASKING_MS;
		// It gave up when an earlier callback ran out of time; this one still has some.
		return isOpen ? await shared(client, posted, deadline) : confirmed;
	}
	const asking = ask(client, posted, deadline).finally(() => underWay.delete(key));
	underWay.set(key, asking);
	const confirmed = await asking;
	if (confirmed.kind === 'missing') unknown.set(taskId, now() + UNKNOWN_FOR_MS);
	return confirmed;
}
