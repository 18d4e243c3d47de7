/**
 * A creation whose answer never came is looked for in the service's list of tasks. All such creations of an account, of whichever
 * execution of this process, share its readings: a task that two of them could have made is neither's.
 */
import type { Account } from '../transport/account';
import type { Answer, ServiceClient } from '../transport/client';
import { onAbort, unlessAborted, type Clock } from '../base/clock';
import { attemptLater, type Failure } from '../base/failures';
import { asText } from '../base/json';
import { unreadable } from '../transport/reading';
import { areOlder, readTaskList, withFullText, type ListedTask } from '../transport/taskList';
import type { Created, Sending } from './creation';
import { assign, isCut, type Listing, type Sought } from './matching';

export interface Unfound {
	kind: 'unfound';
	/** These tasks could be it, but need not be. */
	candidates: ListedTask[];
	/** True if one of the candidates repeats the request. */
	isLikely: boolean;
	/** Says why the list decided nothing. Undefined once the list was read, and where there is none. */
	unread: Failure | undefined;
}

/** A found task has no receive URL here, as it may call another execution. */
export type Finding = { kind: 'found'; created: Created } | Unfound;

export interface Search extends Sought, Clock {
	client: ServiceClient;
	/** Aborts when the run is over. */
	over: AbortSignal;
	/** True if an earlier try or execution sent it: then the first reading that succeeds has to do. */
	isOld: boolean;
}

interface Seeker extends Search {
	/** The last reading that served it began then, in epoch ms. */
	readAt: number;
	finding: Finding;
	/** Aborts when no further reading changes it. */
	readonly settled: AbortController;
}

/** The list is read at these times, in ms, as a task can appear in it late, and the list can be busy. The last reading ends within 20 s. */
const READ_AFTER_MS = [300, 2_500, 7_000, 15_000];
/** One reading serves all searches that are due within this. */
const TOGETHER_MS = 300;
const READING_MS = 5_000;
const PAGES_READ = 5;
const MOST_TASKS = 500;
const MOST_CANDIDATES = 10;

const NOTHING_THERE: Omit<Unfound, 'unread'> = { kind: 'unfound', candidates: [], isLikely: false };
const UNASKED = unreadable('The list of tasks', 'it was not asked for');
const CUT_OFF = unreadable('The list of tasks', 'it has too many tasks since then');

/** Knows all creations of an account, of whichever execution, that are under way or looked for. */
export class Creations {
	private readonly inFlight = new Set<Sending>();
	private readonly seekers = new Set<Seeker>();
	private reading: Promise<void> | undefined;

	constructor(private readonly account: Account) {}

	/** A creation is on its way. @returns to be called when its answer, or what became of it, is known */
	sent(sending: Sending): () => void {
		this.inFlight.add(sending);
		return () => this.inFlight.delete(sending);
	}

	async find(search: Search): Promise<Finding> {
		const { now, sleep, over, isOld } = search;
		const since = now();
		const settled = new AbortController();
		const finding: Finding = { ...NOTHING_THERE, unread: UNASKED };
		const seeker: Seeker = { ...search, readAt: -Infinity, finding, settled };
		this.seekers.add(seeker);
		const forget = onAbort(over, () => this.end(seeker, finding));
		for (const ms of isOld ? [0, ...READ_AFTER_MS.slice(1)] : READ_AFTER_MS) {
			await sleep(since + ms - now(), settled.signal);
			await unlessAborted(settled.signal, this.readFor(seeker, since + ms));
			const { finding: found } = seeker;
			if (isOld && found.kind === 'unfound' && found.unread === undefined) break;
		}
		this.seekers.delete(seeker);
		forget();
		return seeker.finding;
	}

	private end(seeker: Seeker, finding: Finding): void {
		this.seekers.delete(seeker);
		seeker.finding = finding;
		seeker.settled.abort('settled');
	}

	/** Reads the list, unless a reading of another seeker served this one as well. */
	private async readFor(seeker: Seeker, dueAt: number): Promise<void> {
		while (this.reading !== undefined) await this.reading;
		if (seeker.settled.signal.aborted || seeker.readAt + TOGETHER_MS >= dueAt) return;
		this.reading = this.read(seeker).finally(() => (this.reading = undefined));
		await this.reading;
	}

	/** Never rejects. Serves only the searches that exist at its beginning, as it reads back to the oldest of them and no further. */
	private async read(seeker: Seeker): Promise<void> {
		const served = [...this.seekers];
		for (const each of served) each.readAt = seeker.now();
		const list = await attemptLater(async () => await this.listFor(served, seeker));
		const left = served.filter((each) => this.seekers.has(each));
		if (list.ok) return this.settle(left, list.value, seeker.now());
		for (const each of left) {
			const { finding } = each;
			if (finding.kind === 'unfound' && finding.unread !== undefined)
				each.finding = { ...finding, unread: list.failure };
		}
	}

	/** Reads the tasks that nobody knows, the cut ones among them in full. Undefined where the service has no list. */
	private async listFor(served: readonly Seeker[], { client, now, sleep, over }: Seeker) {
		const since = served.reduce((min, { sentAt }) => Math.min(min, sentAt), Infinity);
		const once = { client, clock: { now, sleep }, signal: over, tries: 1, timeoutMs: READING_MS };
		const limits = { limit: MOST_TASKS, mostPages: PAGES_READ };
		const isOver = (page: readonly ListedTask[], answer: Answer) =>
			areOlder(page, since + (aheadOf(answer, now()) ?? 0));
		const list = await readTaskList({ ...once, ...limits, isOver });
		if (list.kind === 'none') return undefined;
		const { answer, whole } = list;
		const aheadMs = aheadOf(answer, now());
		const tasks = list.tasks.filter(({ taskId }) => !this.account.known.has(taskId));
		const typeOf = (kind: string) => this.account.types.get(kind);
		const cut = tasks.filter((task) => served.some(({ request }) => isCut(task, request, typeOf)));
		const read = cut.slice(0, MOST_CANDIDATES).map(async (task) => await withFullText(once, task));
		const full = new Map((await Promise.all(read)).map((task) => [task.taskId, task]));
		return { tasks: tasks.map((task) => full.get(task.taskId) ?? task), aheadMs, typeOf, whole };
	}

	private settle(
		left: Seeker[],
		list: (Listing & { whole: boolean }) | undefined,
		now: number,
	): void {
		if (list === undefined) {
			for (const seeker of left) this.end(seeker, { ...NOTHING_THERE, unread: undefined });
			return;
		}
		const { known } = this.account;
		const tasks = list.tasks.filter(({ taskId }) => !known.has(taskId));
		const later = [...this.seekers].filter((seeker) => !left.includes(seeker));
		for (const verdict of assign(left, [...this.inFlight, ...later], { ...list, tasks })) {
			const { sending: seeker } = verdict;
			if (verdict.kind === 'found') {
				const { taskId, raw, createdAt = now } = verdict.task;
				known.set(taskId, true);
				const began = Math.min(now, Math.max(seeker.sentAt, createdAt - (list.aheadMs ?? 0)));
				const created = { taskId, createdAt: began, answer: { ...raw, task_id: taskId } };
				this.end(seeker, { kind: 'found', created });
			} else {
				const candidates = verdict.candidates.filter(({ taskId }) => !known.has(taskId));
				const isLikely = verdict.isLikely && candidates.length > 0;
				const unread = list.whole ? undefined : CUT_OFF;
				seeker.finding = {
					...{ kind: 'unfound', isLikely, unread },
					candidates: candidates.slice(0, MOST_CANDIDATES),
				};
				if (verdict.kind === 'several') this.end(seeker, seeker.finding);
			}
		}
	}
}

/** Says how far the service's clock is ahead of ours at least: its Date is cut to a second, and older than its arrival. */
function aheadOf({ headers }: Answer, nowMs: number): number | undefined {
	const date = Date.parse(String(headers.date));
	return Number.isNaN(date) ? undefined : date - nowMs;
}

export function withCandidates(failure: Failure, tasks: readonly ListedTask[]): Failure {
	if (tasks.length === 0) return failure;
	const candidates = tasks.map(({ taskId, createdAt, raw }) => ({
		task_id: taskId,
		created_at:
			createdAt === undefined ? (asText(raw.created_at) ?? '') : new Date(createdAt).toISOString(),
	}));
	const named = candidates.map((one) => `${one.task_id} (${one.created_at})`).join(', ');
	const count = tasks.length === 1 ? 'a task' : `${tasks.length} tasks`;
	return {
		...failure,
		message: `${failure.message}; the service lists ${count} that could be it: ${named}`,
		candidates,
	};
}
