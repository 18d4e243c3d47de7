/**
 * What happens between reading the items and creating the first task: everything that can still be refused for free.
 */
import type { IExecuteFunctions } from 'n8n-workflow';
import type { ServiceClient } from '../service/client';
import { invalid, type Failure } from '../service/failures';
import { creditsOf } from '../service/task';
import { Ledger } from '../create/ledger';
import { isToolRun } from '../sleep/checks';
import type { Item } from './item';
import { fetchAnswer } from './readItems';

/** Which execution, which run of the node and which account the ledger speaks of. */
export function ledgerOf(context: IExecuteFunctions, baseUrl: string): Ledger {
	const runIndex = context.evaluateExpression('{{ $runIndex }}', 0);
	return new Ledger(context.getContext('node'), {
		executionId: context.getExecutionId(),
		runIndex: typeof runIndex === 'number' ? runIndex : 0,
		baseUrl,
		asTool: isToolRun(context),
	});
}

/** Fails the items whose Minimum Credits the balance does not reach. Nothing has been created by then. */
export async function checkCredits(
	client: ServiceClient,
	items: readonly Item[],
	signal?: AbortSignal,
): Promise<Map<number, Failure>> {
	const failures = new Map<number, Failure>();
	const guarded = items.filter(({ settings }) => settings.minimumCredits !== undefined);
	if (guarded.length === 0) return failures;
	let credits: number | undefined;
	let reason = 'the answer holds no balance';
	try {
		credits = creditsOf(await fetchAnswer(client, '/v1/credits', signal));
	} catch (error) {
		reason = error instanceof Error ? error.message : reason;
	}
	for (const { index, settings } of guarded) {
		const minimum = settings.minimumCredits ?? 0;
		if (credits === undefined) {
			failures.set(
				index,
				invalid(
					`The credit balance could not be read, so nothing was created: ${reason}`,
					'Run again later, or remove the option Minimum Credits.',
				).failure,
			);
		} else if (credits < minimum) {
			failures.set(
				index,
				invalid(
					`The account has ${credits} credits, fewer than the ${minimum} that Minimum Credits asks for`,
					'Add credits at the service or lower the option Minimum Credits. Nothing was created.',
				).failure,
			);
		}
	}
	return failures;
}

/** The credential can't be had at all: none selected, or deleted. */
export function unreadableCredential(error: unknown): Failure {
	return {
		outcome: 'invalid',
		message: `The credential could not be read: ${error instanceof Error ? error.message : 'unknown reason'}`,
		description: 'Select a Media Generation API credential in this node. Nothing was sent.',
	};
}
