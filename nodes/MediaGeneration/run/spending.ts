/** What the tasks of a run cost by the service's own word. Kept in the node's context: earlier tries count as well, and all calls of a tool. */
import type { Created } from '../create/creation';
import type { LedgerStore, NodeRun } from '../create/ledger';
import type { Submitted } from '../create/submit';
import { ensured } from '../service/boundedMap';
import type { ServiceClient } from '../service/client';
import type { Clock } from '../service/clock';
import { broken, invalid, type Attempt, type Failure } from '../service/failures';
import { isObject, sumOf } from '../service/json';
import { Limiter } from '../service/limiter';
import { lookAtTask, type LookAt } from '../service/look';
import { BALANCE_TIMEOUT_MS, readBalance, readWithRetries, unreadable } from '../service/reading';
import { costIn, creditsLeftIn, isDescribed, type Task } from '../service/task';

type Route = Pick<LookAt, 'kind' | 'route'>;

export interface SpendingDeps extends Clock {
	client: ServiceClient;
	store: LedgerStore;
	run: NodeRun;
	/** Credits; undefined: no limit. */
	maximum: number | undefined;
	/** Before the first creation, where it was read. */
	balance: Attempt<number> | undefined;
	signal: AbortSignal | undefined;
}

const FIELD = 'taskCosts';
const LONGEST_PAUSE_MS = 10_000;
const LOOK_TIMEOUT_MS = 5_000;
const NO_COST = { kind: 'refused', failure: unreadable('The cost', 'none is named') } as const;

interface Kept {
	run: string;
	/** By task ID; null where the cost is not known. */
	costs: Record<string, number | null>;
	/** Of the creations whose answers never came, as far as the balance has told. */
	unclearCredits: number;
	/** Whether there were more of them since. */
	unclear: boolean;
	/** The last balance that is known, and what all tasks had cost by then; null: none. */
	known: { balance: number; credits: number } | null;
}

/** One for each node context, as several calls of a tool can run in it at the same moment. */
const gates = new WeakMap<LedgerStore, Limiter>();

export class Spending {
	private readonly kept: Kept;
	private readonly gate: Limiter;
	private readonly limited: boolean;
	private giveBack = (): void => undefined;
	/** The service described a task without a cost: it will not name the cost of another one. */
	private tasksNameNoCost = false;

	constructor(private readonly deps: SpendingDeps) {
		this.kept = keptOf(deps.store, deps.run);
		this.gate = ensured(gates, deps.store, () => new Limiter(1));
		this.limited = deps.maximum !== undefined;
		// What an earlier try knew comes before a creation of which nothing is known.
		if (!this.kept.unclear) this.knowBalance(deps.balance?.ok ? deps.balance.value : undefined);
	}

	private get credits(): number {
		return sumOf([this.spent.credits, this.kept.unclearCredits]);
	}

	private knowBalance(balance: number | undefined): void {
		this.kept.known = balance === undefined ? null : { balance, credits: this.credits };
	}

	/** `unnamed`: for how many of the tasks the service named no cost. */
	get spent(): { tasks: number; credits: number; unnamed: number } {
		const costs = Object.values(this.kept.costs);
		const named = costs.filter((cost) => cost !== null);
		return { tasks: costs.length, credits: sumOf(named), unnamed: costs.length - named.length };
	}

	/** Waits for a creation's turn. @returns why it is refused; where it is not, {@link end} has to follow */
	async turn(): Promise<Failure | undefined> {
		if (!this.limited) return undefined;
		this.giveBack = await this.gate.take();
		const failure = await this.refusal().catch((error: unknown) => broken(error, 'nothing'));
		if (failure !== undefined) this.giveBack();
		return failure;
	}

	/** Returns at once; the turn lasts until the cost is known. */
	end(submitted: Submitted, route: Route): void {
		void this.learnFrom(submitted, route).finally(this.giveBack);
	}

	private async learnFrom(submitted: Submitted, route: Route): Promise<void> {
		if (submitted.kind === 'unclear') this.kept.unclear = true;
		if (submitted.kind !== 'created') return;
		const { created, found } = submitted;
		if (!this.limited) return this.note(created);
		const { costs, known } = this.kept;
		await this.learn(created, route);
		const balance = creditsLeftIn(created.answer);
		// It can have risen: failed tasks are refunded.
		if (known !== null && balance !== undefined && balance < known.balance)
			costs[created.taskId] ??= known.balance - balance;
		// Only the balance tells the cost of a creation without an answer.
		if (found === true && costs[created.taskId] === null) this.kept.unclear = true;
		else this.knowBalance(balance);
	}

	/** A task that an earlier try or an earlier execution has made, and that this run takes up. Before the first turn. */
	takeUp(created: Created, route: Route): void {
		if (!this.limited) return this.note(created);
		void this.gate.run(async () => {
			await this.learn(created, route);
			// The balance at the start of the run is one after it.
			if (!this.kept.unclear) this.knowBalance(this.kept.known?.balance);
		});
	}

	/** What the service says later replaces what it said first: a failed task may cost nothing in the end. Ignores tasks of others. */
	seen(taskId: string, task: Task | undefined): void {
		const { costs } = this.kept;
		const cost = task === undefined ? undefined : costIn(task.raw);
		if (cost !== undefined && Object.hasOwn(costs, taskId)) costs[taskId] = cost;
	}

	/** Resolves when no look for a cost is under way. */
	async settled(): Promise<void> {
		if (this.limited) (await this.gate.take())();
	}

	private async refusal(): Promise<Failure | undefined> {
		if (this.kept.unclear) await this.learnFromBalance();
		if (this.kept.unclear)
			return invalid(
				'Max Credits can no longer be kept: a creation before this one may have been paid for, and the balance does not tell',
				'No task was created for this item. Check the credits at the service, then run the items that are left again.',
			).failure;
		const { credits } = this;
		const { maximum = Infinity } = this.deps;
		if (credits < maximum) return undefined;
		return invalid(
			`Max Credits is reached: the tasks of this run cost ${credits} credits, and the option allows ${maximum}`,
			'No task was created for this item. Raise the option Max Credits, or run the items that are left again.',
		).failure;
	}

	/** What the balance has fallen by beyond what is known is the cost of the creations whose answers never came. */
	private async learnFromBalance(): Promise<void> {
		const { kept } = this;
		const { client, signal } = this.deps;
		if (kept.known === null) return;
		const now = await readBalance({ client, signal, tries: 2, timeoutMs: BALANCE_TIMEOUT_MS });
		if (!now.ok) return;
		const fallenBy = kept.known.balance - now.value;
		kept.unclearCredits += Math.max(0, fallenBy - (this.credits - kept.known.credits));
		kept.unclear = false;
		this.knowBalance(now.value);
	}

	private note({ taskId, answer }: Created): void {
		this.kept.costs[taskId] ??= costIn(answer) ?? null;
	}

	/** The cost is that of the creation's answer, else of the task itself; else it can be the difference between two balances. */
	private async learn(created: Created, route: Route): Promise<void> {
		this.note(created);
		const { costs } = this.kept;
		if (costs[created.taskId] !== null) return;
		const cost = await this.costByLook(created.taskId, route);
		costs[created.taskId] ??= cost ?? null;
	}

	private async costByLook(taskId: string, route: Route): Promise<number | undefined> {
		const { client, now, sleep, signal } = this.deps;
		const at = { taskId, ...route, timeoutMs: LOOK_TIMEOUT_MS, signal };
		// A task can be unknown to the service for a moment after its creation.
		const patience = { clock: { now, sleep }, longestPauseMs: LONGEST_PAUSE_MS };
		const retries = { client, signal, purpose: 'look', ...patience } as const;
		const reading = readWithRetries<number>(retries, async () => {
			if (this.tasksNameNoCost || signal?.aborted === true) return NO_COST;
			const look = await lookAtTask(client, at, now);
			if (look.kind !== 'task')
				return { ...NO_COST, kind: look.kind === 'denied' ? 'refused' : 'busy' };
			const value = costIn(look.task.raw);
			if (value === undefined) this.tasksNameNoCost = isDescribed(look.task);
			return value === undefined ? NO_COST : { kind: 'read', value };
		});
		return await reading.catch(() => undefined);
	}

	/** What the editor says of a run's costs, in lines of at most 120 characters. */
	hints(): Array<{ type: 'info' | 'warning'; message: string }> {
		const { tasks: created, credits, unnamed } = this.spent;
		if (created === 0) return [];
		const said = `${credits} credits according to the service`;
		const message =
			unnamed === created
				? `${tasks(created)} created; ${created === 1 ? 'its' : 'their'} cost is not known`
				: unnamed === 0
					? `${tasks(created)} created, ${said}`
					: `${tasks(created)} created, at least ${said}; not known for ${unnamed} of them`;
		const info = { type: 'info', message } as const;
		if (!this.limited || unnamed === 0) return [info];
		const them = unnamed === 1 ? 'it' : 'them';
		const uncounted = `Max Credits could not count ${tasks(unnamed)}, as the service named no cost for ${them}`;
		return [info, { type: 'warning', message: uncounted }];
	}
}

const tasks = (count: number) => (count === 1 ? '1 task' : `${count} tasks`);

/** What is known of this run so far. That of another run is dropped. */
function keptOf(store: LedgerStore, { executionId, runIndex, call }: NodeRun): Kept {
	const run = call === undefined ? `${executionId}:${runIndex}` : executionId;
	const nothing = { unclearCredits: 0, unclear: false, known: null };
	const present = store[FIELD];
	if (isObject(present) && present.run === run && isObject(present.costs))
		return Object.assign(present, { ...nothing, ...present }) as unknown as Kept;
	const kept: Kept = { run, costs: {}, ...nothing };
	store[FIELD] = kept;
	return kept;
}
