/**
 * What happens between reading the items and creating the first task: everything that can still be refused for free.
 */
import { randomUUID } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';
import type { ServiceClient } from '../service/client';
import { invalid, type Attempt, type Failure } from '../service/failures';
import { readAnswer, unreadable } from '../service/reading';
import { creditsOf } from '../service/task';
import type { AgentCall, NodeRun } from '../create/ledger';
import { isToolRun } from '../sleep/checks';
import type { Item } from './item';

/** The execution, the run of the node and, as a tool, the agent's call that it is for. */
export function runOf(context: IExecuteFunctions): NodeRun {
	const evaluated = context.evaluateExpression('{{ $runIndex }}', 0);
	const runIndex = typeof evaluated === 'number' ? evaluated : 0;
	const run = { executionId: context.getExecutionId(), runIndex };
	return isToolRun(context) ? { ...run, call: callOf(context, runIndex) } : run;
}

/** The calls of agents, by their arguments. */
const callIds = new WeakMap<object, string>();

/** The call is what its tries have in common. */
function callOf(context: IExecuteFunctions, runIndex: number): AgentCall {
	const [source] = context.getExecuteData().source?.main ?? [];
	const agent = `${source?.previousNode ?? ''}:${source?.previousNodeRun ?? 0}`;
	const [input] = context.getInputData();
	if (input === undefined) return { id: `run ${runIndex}`, agent };
	const { toolCallId } = input.json;
	// The engine runs a tool with the model's ID of the call; all tries are one run. A model can give several calls the same ID.
	if (typeof toolCallId === 'string')
		return { id: `${runIndex} ${toolCallId.replaceAll(':', ' ')}`, agent };
	// The agent itself runs it with the arguments only: each try is a run of its own, and gets the same object.
	const id = callIds.get(input.json) ?? randomUUID();
	callIds.set(input.json, id);
	return { id, agent };
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

	/** As it is at this moment. */
	async now(): Promise<number | undefined> {
		const read = await this.ask({ tries: 2, timeoutMs: BALANCE_TIMEOUT_MS });
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
