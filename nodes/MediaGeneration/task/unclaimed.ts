/** Entries that nobody uses: those of executions that n8n's Retry repeats, and those of an agent's calls that have ended. */
import { getOrCreate } from '../base/boundedMap';
import type { NodeRun } from './identity';
import type { Entry } from './entries';

/** Names who got what a run handed out: the agent, or the nodes after that run. n8n's Retry repeats all of it. */
export const readerOf = ({ call, runIndex }: NodeRun): string => call?.agent ?? String(runIndex);

/** An entry with a task is worth most, then one that may have become a task. */
function worthOf({ taskId, failure }: Entry): number {
	return taskId !== undefined ? 2 : failure?.taskId !== undefined ? 1 : 0;
}

export class Unclaimed {
	/** By the request's hash: the entry to take first is the last one. */
	private readonly byHash = new Map<string, Entry[]>();

	constructor(
		private readonly run: NodeRun,
		entries: readonly Entry[],
	) {
		for (const entry of entries)
			if (this.isFree(entry)) getOrCreate(this.byHash, entry.hash, () => []).push(entry);
		for (const equal of this.byHash.values())
			equal.reverse().sort((one, other) => worthOf(one) - worthOf(other));
	}

	private isFree({ execution, usedBy, handedOut }: Entry): boolean {
		if (execution !== this.run.executionId)
			return handedOut === undefined || handedOut === readerOf(this.run);
		return this.run.call !== undefined && usedBy === undefined && handedOut === undefined;
	}

	/** Returns the best entry of an equal request, once. */
	take(hash: string): Entry | undefined {
		const equal = this.byHash.get(hash) ?? [];
		let entry = equal.pop();
		// Another call of the agent may have taken it meanwhile.
		while (entry !== undefined && !this.isFree(entry)) entry = equal.pop();
		return entry;
	}
}
