/**
 * Searches the service's list for the task of a creation whose answer never came. It takes the one task that is surely it; any other
 * possible task is a candidate. A list without it proves nothing of a request that was sent.
 */
import type { Account } from '../transport/account';
import type { ServiceClient } from '../transport/client';
import type { Answer } from '../answers/reply';
import type { CreationRequest } from '../answers/request';
import { getOrCreate } from '../base/boundedMap';
import type { Clock } from '../base/clock';
import { attemptAsync, type Failure } from '../base/outcomes';
import { asText } from '../base/json';
import { unreadable } from '../answers/failures';
import { readTaskList, withFullText, type ListedTask } from '../transport/taskList';
import type { Asked, Created } from './identity';
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
	/** Why the list does not show whether there is a task; undefined if it does. */
	unread: Failure | undefined;
}

/** A task that is found has no receive URL, because it may call another execution. */
export type Finding = Created | Unfound;

/** When to read the list, in ms: a task can appear late, and the list can be busy. */
const READ_AFTER_MS = [300, 2_500, 7_000, 15_000];
/** A list counts once this time has passed since the request: until then it may lack a task, this request's or another process's. */
const LISTED_AFTER_MS = 15_000;
const MAX_CANDIDATES = 10;
const DAY_MS = 86_400_000;

const unreadList = (why: string) => unreadable('The list of tasks', why);

/**
 * Notes a request whose task is not known yet: if two of them could have made a listed task, nobody can tell which one did.
 * @returns a function to call once the task is known, or is known not to come
 */
export function expectTask({ expected }: Account, request: CreationRequest): () => void {
	const mine = { request };
	expected.add(mine);
	return () => expected.delete(mine);
}

/** Reads the list until it decides. Never rejects. */
export async function findLost(deps: SearchDeps, sought: Sought): Promise<Finding> {
	const { now, sleep, runEnded } = deps;
	const { isEarlier, sentAt = 0, endedBefore = sentAt } = sought;
	const since = now();
	let found: Unfound = {
		kind: 'unfound',
		candidates: [],
		unread: unreadList('it was not asked for'),
	};
	let refusals = 0;
	for (const ms of isEarlier ? [0, ...READ_AFTER_MS.slice(1)] : READ_AFTER_MS) {
		await sleep(since + ms - now(), runEnded);
		if (runEnded.aborted) break;
		const isYoung = since + ms < endedBefore + LISTED_AFTER_MS;
		const reading = await attemptAsync(async () => await readOnce(deps, sought, isYoung));
		const finding = reading.ok ? reading.value : { ...found, unread: reading.failure };
		if (finding.kind === 'created') return finding;
		found = finding;
		if (isEarlier && found.unread === undefined) break;
		// A deployment can make any route answer 404 for a moment.
		if (!reading.ok && reading.failure.outcome === 'rejected' && (refusals += 1) > 1) break;
	}
	return found;
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

/** A listed task that the request may have made. */
interface Fit {
	task: ListedTask;
	resembles: Resemblance;
	age: Age;
}

/** Throws a FailureError if the list can't be read. @param isYoung whether it may not show all tasks yet */
async function readOnce(deps: SearchDeps, sought: Sought, isYoung: boolean): Promise<Finding> {
	const { client, now, sleep, runEnded } = deps;
	const once = { client, clock: { now, sleep }, signal: runEnded, tries: 1, timeoutMs: 5_000 };
	// A page is asked for its age as soon as it has arrived; what is read after it can take a minute.
	const ahead = new Map<Answer, number | undefined>();
	const aheadAt = (answer: Answer) => getOrCreate(ahead, answer, () => aheadOf(answer, now()));
	const isOld = (task: ListedTask, answer: Answer) =>
		ageOf(task, sought, aheadAt(answer)) === 'older';
	const list = await readTaskList({ ...once, limit: 500, mostPages: 5, isOld });
	const fits: Fit[] = [];
	for (const listed of list.entries) {
		const age = ageOf(listed, sought, aheadAt(list.answer));
		const shown = age === 'older' ? 'none' : resemblance(listed.raw, sought.request);
		const isCut = shown === 'cut' && fits.length < MAX_CANDIDATES;
		const task = isCut ? await withFullText(once, listed) : listed;
		const resembles = isCut ? resemblance(task.raw, sought.request) : shown;
		if (resembles !== 'none') fits.push({ task, resembles, age });
	}
	const finding = judge(deps, sought, { fits, isYoung });
	if (finding.kind === 'created') client.account.made.add(finding.taskId);
	else if (isYoung) finding.unread = unreadList('it may not show it yet');
	else if (!list.isWhole)
		finding.unread = unreadList('what it shows may not be all tasks since then');
	return finding;
}

/** Judges one reading. It takes the one task that is surely the request's, and none of a young list, which may show another one later. */
function judge(
	{ client: { account }, ledger, now }: SearchDeps,
	{ request, endedBefore = 0 }: Sought,
	{ fits, isYoung }: { fits: readonly Fit[]; isYoung: boolean },
): Finding {
	// Another search may have taken one meanwhile.
	const noted = new Set(ledger.taskIds);
	const isOthers = ({ task: { taskId } }: Fit) =>
		noted.has(taskId) || account.made.wasMadeSince(taskId, endedBefore);
	const left = fits.filter((fit) => !isOthers(fit));
	const sure = left.filter(({ resembles }) => resembles === 'sure');
	const [only, ...others] = sure;
	const isAlone = only?.age === 'since' && others.length === 0;
	if (!isYoung && isAlone && isNobodys(account, only.task, request)) {
		const { taskId, raw } = only.task;
		// Its full Timeout counts from now, because its creation may have taken longer.
		return { kind: 'created', taskId, createdAt: now(), answer: { ...raw, task_id: taskId } };
	}
	const tasks = [...new Set([...sure, ...left])].map(({ task }) => task);
	return { kind: 'unfound', candidates: tasks.slice(0, MAX_CANDIDATES), unread: undefined };
}

/** Returns whether no other request has made a task, or could have: a list may repeat the text, but not the voice. */
function isNobodys({ made, expected }: Account, task: ListedTask, request: CreationRequest) {
	const others = [...expected].filter((each) => each.request !== request);
	const isTheirs = others.some((each) => resemblance(task.raw, each.request) === 'sure');
	return !isTheirs && !made.has(task.taskId);
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
