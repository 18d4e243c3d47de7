/**
 * What happens between reading the items and creating the first task: everything that can still be refused for free.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import type { ServiceClient } from '../service/client';
import { invalid, type Attempt, type Failure } from '../service/failures';
import { readAnswer, unreadable } from '../service/reading';
import { creditsOf } from '../service/task';
import type { NodeRun } from '../create/ledger';
import { isToolRun } from '../sleep/checks';
import type { Item } from './item';

/** By the arguments of an agent's call: the run index of its first try. */
const firstRuns = new WeakMap<object, number>();

/** The execution and the run of the node. The tries of an agent's call have one run, that of the first. */
export function runOf(context: IExecuteFunctions): NodeRun {
	const evaluated = context.evaluateExpression('{{ $runIndex }}', 0);
	const runIndex = typeof evaluated === 'number' ? evaluated : 0;
	const run = { executionId: context.getExecutionId(), runIndex, asTool: isToolRun(context) };
	const [call] = context.getInputData();
	if (!run.asTool || call === undefined) return run;
	// n8n counts each try as a run of its own, but hands the same object to all of them.
	const first = firstRuns.get(call.json) ?? runIndex;
	firstRuns.set(call.json, first);
	return { ...run, runIndex: first };
}

/** For the balance, where a run can do without it. */
const BALANCE_TIMEOUT_MS = 10_000;

/** The account's balance before the run, read once at most. */
export class Balance {
	private read: Promise<Attempt<number>> | undefined;

	constructor(
		private readonly client: ServiceClient,
		private readonly signal?: AbortSignal,
	) {}

	/** Asks again where the service can't answer at the moment. A failure says why there is no balance. */
	async known(): Promise<Attempt<number>> {
		this.read ??= this.ask();
		return await this.read;
	}

	/** Asks once. */
	async ifKnown(): Promise<number | undefined> {
		const read = await (this.read ?? this.ask({ tries: 1, timeoutMs: BALANCE_TIMEOUT_MS }));
		return read.ok ? read.value : undefined;
	}

	private async ask(effort: { tries?: number; timeoutMs?: number } = {}): Promise<Attempt<number>> {
		const { client, signal } = this;
		const answer = await readAnswer({ client, path: '/v1/credits', signal, ...effort });
		if (!answer.ok) return answer;
		const value = creditsOf(answer.value);
		if (value !== undefined) return { ok: true, value };
		return { ok: false, failure: unreadable('/v1/credits', 'the answer holds no balance') };
	}
}

/** Fails the items whose Min Credits the balance does not reach. */
export async function checkCredits(
	balance: Balance,
	items: readonly Item[],
): Promise<Map<number, Failure>> {
	const failures = new Map<number, Failure>();
	const guarded = items.filter(({ settings }) => settings.minimumCredits !== undefined);
	if (guarded.length === 0) return failures;
	const read = await balance.known();
	for (const { index, settings } of guarded) {
		const minimum = settings.minimumCredits ?? 0;
		if (!read.ok) {
			failures.set(
				index,
				invalid(
					`The credit balance could not be read, so nothing was created: ${read.failure.message}`,
					'Run again later, or remove the option Min Credits.',
				).failure,
			);
		} else if (read.value < minimum) {
			failures.set(
				index,
				invalid(
					`The account has ${read.value} credits, fewer than the ${minimum} that Min Credits asks for`,
					'Add credits at the service or lower the option Min Credits. Nothing was created for this item.',
				).failure,
			);
		}
	}
	return failures;
}

/** The credential can't be read at all: none is selected, or it was deleted. */
export function unreadableCredential(error: unknown): Failure {
	return {
		outcome: 'invalid',
		message: `The credential could not be read: ${error instanceof Error ? error.message : 'unknown reason'}`,
		description: 'Select a Media Generation API credential in this node. Nothing was sent.',
	};
}
