/**
 * A creation whose answer never came is looked for in the service's list of tasks. All such creations of an account, of whichever
 * execution of this process, share its readings: a task that two of them could have made is neither's.
 */
import type { Account } from '../service/account';
import { ensured } from '../service/boundedMap';
import type { Answer, ServiceClient } from '../service/client';
import { onAbort, unlessAborted, type Clock } from '../service/clock';
import type { Failure } from '../service/failures';
import { asText } from '../service/json';
import { readTaskList, type ListedTask } from '../service/taskList';
import type { Created, Sending } from './creation';
import { assign, type Sought } from './matching';

export type Finding =
	/** Without a receive URL: it may call another execution. */
	| { kind: 'found'; created: Created }
	/** The tasks that could be it, but need not be. */
	| { kind: 'unfound'; candidates: ListedTask[] };

export interface Search extends Sought, Clock {
	client: ServiceClient;
	/** Aborts when the run is over. */
	over: AbortSignal;
	/** When to read the list, in ms from now. */
	readAfterMs: readonly number[];
}

interface Seeker extends Search {
	/** When the last reading began that it had a part in, in epoch ms. */
	readAt: number;
	finding: Finding;
	/** Aborts when no further reading changes it. */
	readonly settled: AbortController;
}

/** For a creation of just now, as a task can appear in the list late. The last reading ends within 20 s. */
export const READ_AFTER_MS: readonly number[] = [300, 2_500, 7_000, 15_000];
/** One reading serves all that are due so soon. */
const TOGETHER_MS = 300;
const READING_MS = 5_000;
const MOST_PAGES = 5;
const MOST_TASKS = 500;
const MOST_CANDIDATES = 10;

const UNFOUND: Finding = { kind: 'unfound', candidates: [] };

class Creations {
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
		const { now, sleep, over } = search;
		const since = now();
		const settled = new AbortController();
		const seeker: Seeker = { ...search, readAt: -Infinity, finding: UNFOUND, settled };
		this.seekers.add(seeker);
		const forget = onAbort(over, () => this.end(seeker, UNFOUND));
		for (const ms of search.readAfterMs) {
			await sleep(since + ms - now(), settled.signal);
			await unlessAborted(settled.signal, this.readFor(seeker, since + ms));
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
		const startedAt = seeker.now();
		this.reading = this.read(seeker)
			.catch(() => undefined)
			.then(() => {
				for (const each of this.seekers) each.readAt = startedAt;
				this.reading = undefined;
			});
		await this.reading;
	}

	private async read({ client, now, sleep, over: signal }: Seeker): Promise<void> {
		const since = [...this.seekers].reduce((min, { sentAt }) => Math.min(min, sentAt), Infinity);
		const list = await readTaskList({
			client,
			clock: { now, sleep },
			signal,
			limit: MOST_TASKS,
			mostPages: MOST_PAGES,
			tries: 1,
			timeoutMs: READING_MS,
			isOver: (tasks, answer) => areOlder(tasks, since + (aheadOf(answer, now()) ?? 0)),
		});
		if (list.kind === 'none') {
			for (const seeker of this.seekers) this.end(seeker, UNFOUND);
			return;
		}
		this.settle(list.tasks, aheadOf(list.answer, now()), now());
	}

	private settle(tasks: ListedTask[], aheadMs: number | undefined, now: number): void {
		const { known, types } = this.account;
		const unknown = tasks.filter(({ taskId }) => !known.has(taskId));
		const reading = { tasks: unknown, aheadMs, typeOf: (kind: string) => types.get(kind) };
		for (const verdict of assign([...this.seekers], [...this.inFlight], reading)) {
			const { sending: seeker } = verdict;
			if (verdict.kind === 'found') {
				const { taskId, raw, createdAt = now } = verdict.task;
				known.set(taskId, true);
				const began = Math.min(now, Math.max(seeker.sentAt, createdAt - (aheadMs ?? 0)));
				const created = { taskId, createdAt: began, answer: { ...raw, task_id: taskId } };
				this.end(seeker, { kind: 'found', created });
			} else {
				const left = verdict.candidates.filter(({ taskId }) => !known.has(taskId));
				seeker.finding = { kind: 'unfound', candidates: left.slice(0, MOST_CANDIDATES) };
				if (verdict.kind === 'several') this.end(seeker, seeker.finding);
			}
		}
	}
}

/** How far the service's clock is ahead of ours at least: its Date is cut to a second, and older than its arrival. */
function aheadOf({ headers }: Answer, nowMs: number): number | undefined {
	const date = Date.parse(String(headers.date));
	return Number.isNaN(date) ? undefined : date - nowMs;
}

function areOlder(tasks: readonly ListedTask[], thanMs: number): boolean {
	return tasks.every(({ createdAt = Infinity }) => createdAt + 1_000 < thanMs);
}

const accounts = new WeakMap<Account, Creations>();

export function creationsOf(account: Account): Creations {
	return ensured(accounts, account, () => new Creations(account));
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
