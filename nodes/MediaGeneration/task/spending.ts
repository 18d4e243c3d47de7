/**
 * What a run's tasks cost, and when 'Stop After Credits' ends their creation. The option adds up the falls of the account's balance,
 * whoever spent the credits, in the node's context: tries, rounds of a loop and calls of a tool count together.
 */
import { getOrCreate } from '../base/boundedMap';
import { invalid, type Failure } from '../base/outcomes';
import { isObject, sumOf } from '../base/json';
import { Limiter } from '../base/limiter';
import type { ServiceClient } from '../transport/client';
import { readBalance } from '../transport/reading';
import type { Task } from '../answers/task';
import { costIn, creditsLeftIn } from '../answers/balance';
import type { Submitted } from './create';
import type { Created } from './identity';

export interface SpendingDeps {
	client: ServiceClient;
	/** The node's context. */
	store: Record<string, unknown>;
	run: { executionId: string };
	/** Credits; undefined without the option. */
	maximum: number | undefined;
	signal: AbortSignal | undefined;
}

const SPENT_FIELD = 'spentCredits';

interface Spent {
	execution: string;
	/** Credits by which the balance has fallen. A rise, such as a refund, is not subtracted. */
	fallen: number;
	/** The balance as last seen. */
	balance?: number;
	/** Whether nothing was created since that was seen. */
	isCurrent: boolean;
}

/** Concurrent calls of a tool share nothing but the node's context. */
const turns = new WeakMap<SpendingDeps['store'], Limiter>();

export class Spending {
	/** The cost that the service named for each task of this run. */
	private readonly costs = new Map<string, number | undefined>();
	private readonly takenUp = new Set<string>();
	private readonly kept: Spent;
	private refused: Failure | undefined;

	constructor(private readonly deps: SpendingDeps) {
		const { store, run } = deps;
		const kept = store[SPENT_FIELD];
		const isOwn = isObject(kept) && kept.execution === run.executionId;
		const none: Spent = { execution: run.executionId, fallen: 0, isCurrent: false };
		this.kept = isOwn ? (kept as unknown as Spent) : (store[SPENT_FIELD] = none);
		// What happened between two runs is unknown.
		this.kept.isCurrent = false;
	}

	/** With the option, creations are sent one after another. @returns a function that ends the turn */
	async turn(): Promise<() => void> {
		const { maximum, store } = this.deps;
		if (maximum === undefined) return () => undefined;
		return await getOrCreate(turns, store, () => new Limiter(1)).take();
	}

	/** Explains why this run may create no further task. That is final: what was spent stays spent, and a balance that can't be read is not asked for by each item. */
	async refusal(): Promise<Failure | undefined> {
		const { maximum } = this.deps;
		if (maximum !== undefined) this.refused ??= await this.excess(maximum);
		return this.refused;
	}

	private async excess(maximum: number): Promise<Failure | undefined> {
		const { client, signal } = this.deps;
		const answer = this.kept.isCurrent ? undefined : await readBalance({ client, signal });
		if (answer?.ok === false)
			return invalid(
				`'Stop After Credits' needs the balance of the account: ${answer.failure.message}`,
				'No task was created for this item. Run the remaining items later, or remove the option.',
			).failure;
		this.updateBalance(answer?.value);
		const { fallen } = this.kept;
		if (fallen < maximum) return undefined;
		return invalid(
			`'Stop After Credits' is reached: the balance of the account has fallen by ${fallen} credits since this node began, and the option allows ${maximum}`,
			'No task was created for this item. Raise the option, or run the remaining items again.',
		).failure;
	}

	private updateBalance(balance: number | undefined): void {
		if (balance === undefined) return;
		const { balance: before = balance, fallen } = this.kept;
		this.kept.fallen = sumOf([fallen, Math.max(0, before - balance)]);
		this.kept.balance = balance;
	}

	/** Call this with a creation's result, before its turn ends. */
	onCreation(submitted: Submitted): void {
		const created = submitted.kind === 'created' ? submitted : undefined;
		const balance = created && creditsLeftIn(created.answer);
		this.kept.isCurrent = balance !== undefined;
		this.updateBalance(balance);
		if (created !== undefined) this.addCost(created);
	}

	/** Counts a task that this execution created, or took up from another one, which paid for it. */
	addCost({ taskId, answer, isTakenUp }: Created): void {
		if (isTakenUp === true) this.takenUp.add(taskId);
		else this.costs.set(taskId, costIn(answer));
	}

	/** A later cost replaces the first one: a failed task may cost nothing in the end. */
	onPoll(taskId: string, task: Task | undefined): void {
		const credits = task && costIn(task.raw);
		if (credits !== undefined && this.costs.has(taskId)) this.costs.set(taskId, credits);
	}

	/** `unnamed` counts the tasks for which the service named no cost. */
	get spent(): { tasks: number; credits: number; unnamed: number } {
		const named = [...this.costs.values()].filter((credits) => credits !== undefined);
		const { size } = this.costs;
		return { tasks: size, credits: sumOf(named), unnamed: size - named.length };
	}

	/** Returns hints for the editor on what a run cost. */
	hints(): Array<{ type: 'info' | 'warning'; message: string }> {
		const { spent, takenUp } = this;
		if (spent.tasks + takenUp.size === 0) return [];
		const again = `${tasksInWords(takenUp.size)} taken up again, nothing paid; `;
		const message = `${takenUp.size > 0 ? again : ''}${costsInWords(spent)}`;
		const info = { type: 'info', message } as const;
		const { maximum = Infinity } = this.deps;
		const credits = Math.max(this.kept.fallen, spent.credits);
		if (credits <= maximum) return [info];
		const beyond = `${credits} credits: more than 'Stop After Credits' (${maximum})`;
		const why = `${beyond}. The price of a task is known only after its creation`;
		return [info, { type: 'warning', message: why }];
	}
}

const tasksInWords = (count: number) => (count === 1 ? '1 task' : `${count} tasks`);

function costsInWords({ tasks, credits, unnamed }: Spending['spent']): string {
	if (tasks === 0) return '0 created';
	const created = `${tasksInWords(tasks)} created`;
	const said = `${credits} credits according to the service`;
	if (unnamed === 0) return `${created}, ${said}`;
	if (unnamed < tasks) return `${created}, at least ${said}; not known yet for ${unnamed} of them`;
	return `${created}; ${tasks === 1 ? 'its' : 'their'} cost is not known yet`;
}
