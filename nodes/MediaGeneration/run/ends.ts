/**
 * What became of each input item, and the one output that is made of it.
 */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { failureItem, nodeError } from '../delivery/failure';
import type { Delivered } from '../delivery/item';
import type { Failure } from '../service/failures';
import type { Task } from '../service/task';

export type ItemEnd =
	| { kind: 'items'; items: INodeExecutionData[] }
	| { kind: 'failed'; failure: Failure; delivered?: Delivered }
	/** Still running, when the execution is going to be suspended. */
	| { kind: 'pending'; taskId: string; createdAt: number; lastTask: Task | undefined }
	/** Given up because another item failed. */
	| { kind: 'halted' };

export class Ends {
	private readonly byIndex = new Map<number, ItemEnd>();
	/** Every task of the run whose ID is known. */
	readonly knownTaskIds = new Set<string>();

	constructor(private readonly context: IExecuteFunctions) {}

	set(index: number, end: ItemEnd): void {
		this.byIndex.set(index, end);
	}

	has(index: number): boolean {
		return this.byIndex.has(index);
	}

	pending() {
		return [...this.byIndex.entries()].flatMap(([index, end]) =>
			end.kind === 'pending' ? [{ index, ...end }] : [],
		);
	}

	/** The items of whose creation nothing is known. */
	unclear(): number[] {
		return [...this.byIndex.entries()].flatMap(([index, end]) =>
			end.kind === 'failed' && end.failure.outcome === 'unknown' ? [index] : [],
		);
	}

	/** Throws for the first failed item, naming the tasks of the run that are still of use. */
	throwFirstFailure(): void {
		const failures = [...this.byIndex.entries()].filter(([, end]) => end.kind === 'failed');
		const [first] = failures.sort(([a], [b]) => a - b);
		if (first === undefined || first[1].kind !== 'failed') return;
		const [index, { failure }] = first;
		const useless = new Set(
			failures.flatMap(([, end]) =>
				end.kind === 'failed' && end.failure.outcome === 'failed' ? [end.failure.taskId] : [],
			),
		);
		const useful = [...this.knownTaskIds].filter((taskId) => !useless.has(taskId));
		throw nodeError(this.context.getNode(), failure, index, useful);
	}

	/** The items of one input item; none where it was given up or is still running. */
	itemsOf(index: number): INodeExecutionData[] {
		const end = this.byIndex.get(index);
		if (end?.kind === 'items') return end.items;
		if (end?.kind !== 'failed') return [];
		const { failure, delivered } = end;
		const node = this.context.getNode();
		if (delivered === undefined) return [failureItem(node, failure, index, undefined)];
		const { items, outputs } = delivered;
		const binary = items[0]?.binary;
		// With Split Files, what is there has items of its own, and the failure names no binary field.
		return outputs.some(({ binaryProperty }) => binaryProperty !== undefined)
			? [
					failureItem(node, failure, index, {
						outputs,
						...(binary === undefined ? {} : { binary }),
					}),
				]
			: [...items.filter((item) => item.binary), failureItem(node, failure, index, { outputs })];
	}

	/** All items in the order of the input. Throws for the first failure unless failed items go on as items. */
	output(count: number): INodeExecutionData[] {
		if (!this.context.continueOnFail()) this.throwFirstFailure();
		this.hintAtFailures(count);
		return Array.from({ length: count }, (_, index) => this.itemsOf(index)).flat();
	}

	/** Tells in the editor what went partly wrong. */
	private hintAtFailures(count: number): void {
		const failed = [...this.byIndex.values()].filter((end) => end.kind === 'failed').length;
		// Hints are younger than the oldest n8n that this node runs on, and tools of agents have none.
		if (failed === 0 || !('addExecutionHints' in this.context)) return;
		this.context.addExecutionHints({
			type: 'warning',
			location: 'outputPane',
			message: `${failed} of ${count} items failed, see the field "outcome"`,
		});
	}
}
