/**
 * Searches the service's list for the task of a creation whose answer never came. It takes the one task that is surely it; any other
 * possible task is a candidate. A list without it proves nothing of a request that was sent.
 */
import type { Account } from '../transport/account';
import type { ServiceClient } from '../transport/client';
import type { Answer } from '../answers/reply';
import type { CreationRequest } from '../answers/request';
import { BoundedMap, getOrCreate } from '../base/boundedMap';
import type { Clock } from '../base/clock';
import { attemptAsync, type Failure } from '../base/outcomes';
import { asText } from '../base/json';
import { unreadable } from '../answers/failures';
import { readTaskList, withFullText, type ListedTask } from '../transport/taskList';
import type { Created } from './identity';
import type { Asked } from './earlier';
import { resemblance, type Resemblance } from './resemblance';

export interface SearchDeps extends Clock {
	client: ServiceClient;
	/** IDs of tasks that are known. */
	ledger: { taskIds: readonly string[] };
	/** Aborts when the run has ended. */
	runEnded: AbortSignal;
}

/** A creation whose task is searched for. */
export interface Sought extends Pick<Asked, 'request'> {
	/** Epoch ms by our clock, no later than the request; if undefined, no task is surely its own. */
	sentAt: number | undefined;
	/** Whether an earlier try or execution sent it. */
	isEarlier: boolean;
	/** Epoch ms at which an execution without notes had ended: nobody knows which of the earlier tasks it made. */
	endedBefore?: number;
}

interface Unfound {
	kind: 'unfound';
	candidates: ListedTask[];
	/** Why the list could not be read. */
	unread: Failure | undefined;
}

/** What is created has no receive URL, because a found task may call another execution. */
export type Finding = Created | Unfound;

/** When to read the list, in ms: a task can appear late, and the list can be busy. */
const READ_AFTER_MS = [300, 2_500, 7_000, 15_000];
/** A list counts once this time has passed since the request: until then it may lack a task, this request's or another process's. */
const LISTED_AFTER_MS = 15_000;
const MAX_CANDIDATES = 10;
const DAY_MS = 86_400_000;

const YOUNG = 'it may not show it yet';
const unreadList = (why: string) => unreadable('The list of tasks', why);

/** Requests whose task is not known yet: sent, or searched for. */
const expected = new BoundedMap<Account, Set<{ request: CreationRequest }>>();

const expectedOf = (account: Account) => getOrCreate(expected, account, () => new Set());

/**
 * Notes a request whose task is not known yet: if two of them could have made a listed task, nobody can tell which one did.
 * @returns a function to call once the task is known, or is known not to come
 */
export function expectTask(account: Account, request: CreationRequest): () => void {
	const mine = { request };
	const requests = expectedOf(account).add(mine);
	return () => requests.delete(mine);
}

const isUnread = (finding: Finding): finding is Unfound & { unread: Failure } =>
	finding.kind === 'unfound' && finding.unread !== undefined;

/** Never rejects. */
export async function findLost(deps: SearchDeps, sought: Sought): Promise<Finding> {
	const { client, now, sleep, runEnded } = deps;
	const { isEarlier, sentAt = 0, endedBefore = sentAt } = sought;
	const since = now();
	let finding: Finding = {
		kind: 'unfound',
		candidates: [],
		unread: unreadList('it was not asked for'),
	};
	let [refusals, isYoung] = [0, true];
	for (const ms of isEarlier ? [0, ...READ_AFTER_MS.slice(1)] : READ_AFTER_MS) {
		await sleep(since + ms - now(), runEnded);
		if (runEnded.aborted) break;
		const read = await attemptAsync(async () => await readFor(deps, sought));
		if (read.ok) finding = read.value;
		else if (isUnread(finding)) finding.unread = read.failure;
		const isListed = since + ms >= endedBefore + LISTED_AFTER_MS;
		isYoung = !isListed && ms !== READ_AFTER_MS.at(-1);
		if (!isListed && finding.kind === 'unfound') finding.unread ??= unreadList(YOUNG);
		if (isListed && (finding.kind === 'created' || (isEarlier && !isUnread(finding)))) break;
		// A deployment can make any route answer 404 for a moment.
		if (!read.ok && read.failure.outcome === 'rejected' && (refusals += 1) > 1) break;
	}
	if (finding.kind === 'unfound') return finding;
	const { taskId, answer: raw } = finding;
	if (!isYoung) {
		client.account.made.add(taskId);
		return finding;
	}
	// A search that ended early has not seen what the list shows later.
	const candidate = { taskId, raw, createdAt: undefined, moment: undefined };
	return { kind: 'unfound', candidates: [candidate], unread: unreadList(YOUNG) };
}

type Age = 'older' | 'since' | 'unknown';

/** Returns whether a task was made before the request. Without its time or the service's clock, hardly anything is known. */
function ageOf(
	{ moment }: ListedTask,
	{ sentAt, endedBefore }: Sought,
	aheadMs: number | undefined,
): Age {
	if (moment === undefined || sentAt === undefined) return 'unknown';
	if (aheadMs === undefined) return moment + DAY_MS < sentAt ? 'older' : 'unknown';
	const sent = sentAt + aheadMs;
	// Services truncate times to a second, a minute or a day.
	const unit = [DAY_MS, 60_000, 1_000].find((ms) => moment % ms === 0) ?? 1;
	// The clocks of two processes may differ.
	const apartMs = endedBefore === undefined ? 0 : 60_000;
	if (moment + unit <= sent - apartMs) return 'older';
	return moment + Math.min(unit, 1_000) > sent ? 'since' : 'unknown';
}

/** Returns the least by which the service's clock is ahead of ours: its Date is truncated to a second, and older than its arrival. */
function aheadOf({ headers }: Answer, nowMs: number): number | undefined {
	const date = Date.parse(String(headers.date));
	return Number.isNaN(date) ? undefined : date - nowMs;
}

/** Throws a FailureError if the list can't be read. */
async function readFor(deps: SearchDeps, sought: Sought): Promise<Finding> {
	const { client, now, sleep, runEnded } = deps;
	const once = { client, clock: { now, sleep }, signal: runEnded, tries: 1, timeoutMs: 5_000 };
	// A page is asked for its age as soon as it has arrived; what is read after it can take a minute.
	const ahead = new Map<Answer, number | undefined>();
	const aheadAt = (answer: Answer) => getOrCreate(ahead, answer, () => aheadOf(answer, now()));
	const isOld = (task: ListedTask, answer: Answer) =>
		ageOf(task, sought, aheadAt(answer)) === 'older';
	const list = await readTaskList({ ...once, limit: 500, mostPages: 5, isOld });
	const aheadMs = aheadAt(list.answer);
	const listed = list.entries.filter((task) => !isOld(task, list.answer));
	const fits = await resembling(listed, sought.request, once);
	const chosen = choose(deps, sought, { fits, aheadMs });
	if (chosen.kind === 'unfound' && !list.isWhole)
		chosen.unread = unreadList('what it shows may not be all tasks since then');
	return chosen;
}

/** Drops those that were made from another text; of some that are cut off, the whole text is read. */
async function resembling(
	listed: readonly ListedTask[],
	request: CreationRequest,
	once: Parameters<typeof withFullText>[0],
): Promise<Map<ListedTask, Resemblance>> {
	const fits = new Map<ListedTask, Resemblance>();
	for (const task of listed) {
		const shown = resemblance(task.raw, request);
		const isCut = shown === 'cut' && fits.size < MAX_CANDIDATES;
		const whole = isCut ? await withFullText(once, task) : task;
		const fit = isCut ? resemblance(whole.raw, request) : shown;
		if (fit !== 'none') fits.set(whole, fit);
	}
	return fits;
}

/** Takes the one task that is surely the request's. */
function choose(
	{ client: { account }, ledger, now }: SearchDeps,
	sought: Sought,
	{ fits, aheadMs }: { fits: Map<ListedTask, Resemblance>; aheadMs: number | undefined },
): Finding {
	const { request, endedBefore = 0 } = sought;
	// Another search may have taken one meanwhile.
	const noted = new Set(ledger.taskIds);
	const isOthers = ({ taskId }: ListedTask) =>
		noted.has(taskId) || account.made.wasMadeSince(taskId, endedBefore);
	const left = [...fits.keys()].filter((task) => !isOthers(task));
	const sure = left.filter((task) => fits.get(task) === 'sure');
	const [only, ...others] = sure;
	const isAlone = only && others.length === 0 && isNobodys(account, only, request);
	if (isAlone && ageOf(only, sought, aheadMs) === 'since') {
		const { taskId, raw } = only;
		// Its whole Timeout counts from now, because its creation may have taken longer.
		return { kind: 'created', taskId, createdAt: now(), answer: { ...raw, task_id: taskId } };
	}
	const candidates = [...new Set([...sure, ...left])].slice(0, MAX_CANDIDATES);
	return { kind: 'unfound', candidates, unread: undefined };
}

/** Returns whether no other request has made a task, or could have: a list may repeat the text, but not the voice. */
function isNobodys(account: Account, task: ListedTask, request: CreationRequest): boolean {
	if (account.made.has(task.taskId)) return false;
	const others = [...expectedOf(account)].filter((each) => each.request !== request);
	return others.every((other) => resemblance(task.raw, other.request) !== 'sure');
}

export function withCandidates(failure: Failure, tasks: readonly ListedTask[]): Failure {
	if (tasks.length === 0) return failure;
	const candidates = tasks.map(({ taskId, moment, raw }) => ({
		task_id: taskId,
		created_at:
			moment === undefined ? (asText(raw.created_at) ?? '') : new Date(moment).toISOString(),
	}));
	const named = candidates
		.map(({ task_id: id, created_at: at }) => (at === '' ? id : `${id} (${at})`))
		.join(', ');
	const count = tasks.length === 1 ? 'a task' : `${tasks.length} tasks`;
	return {
		...failure,
		message: `${failure.message}; the service lists ${count} that could be it: ${named}`,
		candidates,
	};
}
