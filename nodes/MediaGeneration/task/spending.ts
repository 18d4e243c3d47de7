/**
 * Counts what the tasks of a node cost by the service's own word. It is kept in the node's context, so that all its runs in an execution
 * count: tries, rounds of a loop, calls of a tool.
 */
import type { Created } from './creation';
import type { LedgerStore } from './entries';
import type { NodeRun } from './ledger';
import type { Submitted } from './create';
import { ensured } from '../base/boundedMap';
import type { ServiceClient } from '../transport/client';
import type { Clock } from '../base/clock';
import { invalid, type Attempt, type Failure } from '../base/failures';
import { broken } from '../transport/taskFailures';
import { isObject, sumOf } from '../base/json';
import { Limiter } from '../base/limiter';
import { lookAtTask } from '../transport/look';
import { BALANCE_TIMEOUT_MS, readBalance } from '../transport/reading';
import { costIn, creditsLeftIn, isDescribed, type Task } from '../transport/task';
import { LOOK_POLICIES, untilClear } from '../transport/until';

export interface SpendingDeps extends Clock {
	client: ServiceClient;
	store: LedgerStore;
	run: NodeRun;
	/** Is in credits; undefined means no limit. */
	maximum: number | undefined;
	/** Was read before the first creation; undefined where it was not. */
	balance: Attempt<number> | undefined;
	signal: AbortSignal | undefined;
}

const COSTS_FIELD = 'taskCosts';
/** Raise this with any change of {@link KeptCosts}. */
const COSTS_FORMAT = 1;
const COST_LOOK_TIMEOUT_MS = 5_000;

interface KeptCosts {
	format: number;
	execution: string;
	/** The keys are task IDs; `credits` is null where the cost is not known. */
	costs: Record<string, { run: string; credits: number | null }>;
	/** This is what creations cost whose answers never came, inferred from the balance. */
	unclearCredits: number;
	/** True if more creations went unanswered since. */
	unclear: boolean;
	/** Holds the last known balance, and what all tasks had cost by then; null where none is known. */
	known: { balance: number; credits: number } | null;
}

/** Ends a creation's turn by what came of it. The next turn begins when the cost is known. */
export type EndTurn = (submitted: Submitted, kind: string) => void;

/** Each node context has one, as several calls of a tool can run in it at the same moment. */
const gates = new WeakMap<LedgerStore, Limiter>();

export class Spending {
	private readonly kept: KeptCosts;
	private readonly gate: Limiter;
	private readonly limited: boolean;
	private readonly runKey: string;
	/** The service described a task without a cost: it will not name the cost of another one. */
	private tasksNameNoCost = false;

	constructor(private readonly deps: SpendingDeps) {
		this.kept = keptOf(deps.store, deps.run.executionId);
		this.runKey = String(deps.run.call?.id ?? deps.run.runIndex);
		this.gate = ensured(gates, deps.store, () => new Limiter(1));
		this.limited = deps.maximum !== undefined;
		// What an earlier try knew comes before a creation of which nothing is known.
		if (!this.kept.unclear) this.knowBalance(deps.balance?.ok ? deps.balance.value : undefined);
	}

	/** Sums up all runs of the node. */
	private get credits(): number {
		const costs = Object.values(this.kept.costs);
		return sumOf([...costs.map(({ credits }) => credits ?? 0), this.kept.unclearCredits]);
	}

	private knowBalance(balance: number | undefined): void {
		this.kept.known = balance === undefined ? null : { balance, credits: this.credits };
	}

	/** Sums up this run. `unnamed` counts the tasks for which the service named no cost. */
	get spent(): { tasks: number; credits: number; unnamed: number } {
		const all = Object.values(this.kept.costs).filter(({ run }) => run === this.runKey);
		const named = all.flatMap(({ credits }) => credits ?? []);
		return { tasks: all.length, credits: sumOf(named), unnamed: all.length - named.length };
	}

	/** Waits for a creation's turn. @returns how to end it, or why the creation is refused */
	async turn(): Promise<Failure | EndTurn> {
		if (!this.limited) return (submitted) => this.noteCreated(submitted);
		const giveBack = await this.gate.take();
		const failure = await this.refusal().catch((error: unknown) => broken(error, 'nothing'));
		if (failure === undefined)
			return (submitted, kind) => void this.learnFrom(submitted, kind).finally(giveBack);
		giveBack();
		return failure;
	}

	private noteCreated(submitted: Submitted): void {
		if (submitted.kind === 'created') this.note(submitted.created);
	}

	private async learnFrom(submitted: Submitted, kind: string): Promise<void> {
		if (submitted.kind === 'unclear') this.kept.unclear = true;
		if (submitted.kind !== 'created') return;
		const { created, found } = submitted;
		const { known } = this.kept;
		const cost = await this.learn(created, kind);
		const balance = creditsLeftIn(created.answer);
		// It can have risen: failed tasks are refunded.
		if (known !== null && balance !== undefined && balance < known.balance)
			cost.credits ??= known.balance - balance;
		// Only the balance tells the cost of a creation without an answer.
		if (found === true && cost.credits === null) this.kept.unclear = true;
		else this.knowBalance(balance);
	}

	/** Counts a task that an earlier try or execution has made, and that this run takes up. Call it before the first turn. */
	adopt(created: Created, kind: string): void {
		if (!this.limited) return void this.note(created);
		void this.gate.run(async () => {
			await this.learn(created, kind);
			// The balance at the start of the run is one after it.
			if (!this.kept.unclear) this.knowBalance(this.kept.known?.balance);
		});
	}

	/** What the service says later replaces what it said first: a failed task may cost nothing in the end. Ignores tasks of others. */
	seen(taskId: string, task: Task | undefined): void {
		const cost = Object.hasOwn(this.kept.costs, taskId) ? this.kept.costs[taskId] : undefined;
		const credits = task === undefined ? undefined : costIn(task.raw);
		if (cost !== undefined && credits !== undefined) cost.credits = credits;
	}

	/** Resolves when no look for a cost is under way. */
	async settled(): Promise<void> {
		if (this.limited) (await this.gate.take())();
	}

	private async refusal(): Promise<Failure | undefined> {
		if (this.kept.unclear) await this.learnFromBalance();
		if (this.kept.unclear)
			return invalid(
				'Max Credits can no longer be enforced: an earlier creation may have been charged, and the balance does not show it',
				'No task was created for this item. Check the credits at the service, then run the items that are left again.',
			).failure;
		const { credits } = this;
		const { maximum = Infinity } = this.deps;
		if (credits < maximum) return undefined;
		return invalid(
			`Max Credits is reached: in this execution, the tasks of this node cost ${credits} credits, and the option allows ${maximum}`,
			'No task was created for this item. Raise the option Max Credits, or run the items that are left again.',
		).failure;
	}

	/** If the balance has fallen by more than is known, the rest is the cost of the creations whose answers never came. */
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

	private note({ taskId, answer }: Created) {
		const { costs } = this.kept;
		const present = Object.hasOwn(costs, taskId) ? costs[taskId] : undefined;
		const cost = present ?? { run: this.runKey, credits: null };
		costs[taskId] = cost;
		cost.credits ??= costIn(answer) ?? null;
		return cost;
	}

	/** The cost is that of the creation's answer, else of the task itself; else it can be the difference between two balances. */
	private async learn(created: Created, kind: string) {
		const cost = this.note(created);
		if (cost.credits === null) {
			const credits = await this.costByLook(created.taskId, kind);
			cost.credits ??= credits ?? null;
		}
		return cost;
	}

	private async costByLook(taskId: string, kind: string): Promise<number | undefined> {
		const { client, now, sleep, signal } = this.deps;
		if (this.tasksNameNoCost) return undefined;
		const at = { taskId, kind, timeoutMs: COST_LOOK_TIMEOUT_MS, signal };
		const look = await untilClear(
			async () => await lookAtTask(client, at, now),
			LOOK_POLICIES.cost,
			{ now, sleep, signal, pausedUntil: () => client.account.pausedUntil('look') },
		);
		if (look.kind !== 'task') return undefined;
		const cost = costIn(look.task.raw);
		if (cost === undefined) this.tasksNameNoCost = isDescribed(look.task);
		return cost;
	}

	/** Says in the editor what a run cost, in lines of at most 120 characters. */
	hints(): Array<{ type: 'info' | 'warning'; message: string }> {
		const { tasks: created, unnamed } = this.spent;
		if (created === 0) return [];
		const info = { type: 'info', message: costsInWords(this.spent) } as const;
		if (!this.limited || unnamed === 0) return [info];
		const them = unnamed === 1 ? 'it' : 'them';
		const uncounted = `Max Credits could not count ${tasks(unnamed)}, as the service named no cost for ${them}`;
		return [info, { type: 'warning', message: uncounted }];
	}
}

const tasks = (count: number) => (count === 1 ? '1 task' : `${count} tasks`);

function costsInWords({ tasks: created, credits, unnamed }: Spending['spent']): string {
	const said = `${credits} credits according to the service`;
	if (unnamed === 0) return `${tasks(created)} created, ${said}`;
	if (unnamed < created)
		return `${tasks(created)} created, at least ${said}; not known for ${unnamed} of them`;
	return `${tasks(created)} created; ${created === 1 ? 'its' : 'their'} cost is not known`;
}

/** Returns what is known of this execution so far; that of another one is dropped. What can't be read may hold any costs. */
function keptOf(store: LedgerStore, execution: string): KeptCosts {
	const present = store[COSTS_FIELD];
	const isOther = isObject(present) && present.execution !== execution;
	const isRead = isObject(present) && present.format === COSTS_FORMAT && isObject(present.costs);
	if (isRead && !isOther) return present as unknown as KeptCosts;
	const unclear = present !== undefined && !isOther;
	const kept: KeptCosts = {
		...{ format: COSTS_FORMAT, execution, costs: {} },
		...{ unclearCredits: 0, unclear, known: null },
	};
	store[COSTS_FIELD] = kept;
	return kept;
}
