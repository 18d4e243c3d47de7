/**
 * What became of the items of a run, and the one output that is made of it.
 */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { LeftBefore } from '../create/ledger';
import { failureItem, nodeError, type Left } from '../delivery/failure';
import { showHint } from '../delivery/hint';
import { outcomes } from '../service/failures';
import type { ItemEnd } from './item';
import { spendingHints, type Spending } from './spending';

export class Ends {
	private readonly byIndex = new Map<number, ItemEnd>();
	/** Every task of the run whose ID is known. */
	private readonly taskIds = new Set<string>();
	private unclearBefore: LeftBefore['unclear'] = [];
	/** Undefined where nothing was created. */
	spending: Spending | undefined;

	constructor(private readonly context: IExecuteFunctions) {}

	set(index: number, end: ItemEnd): void {
		this.byIndex.set(index, end);
	}

	get(index: number): ItemEnd | undefined {
		return this.byIndex.get(index);
	}

	/** The log keeps the ID of every paid task, should n8n die before the execution is saved. */
	noteTask(taskId: string, index: number, paidHere: boolean): void {
		this.taskIds.add(taskId);
		if (!paidHere) return;
		const executionId = this.context.getExecutionId();
		this.context.logger.info(
			`Media Generation: task ${taskId} for item ${index} of execution ${executionId}`,
		);
	}

	/** What earlier tries have left: it is paid for, or may be, whether or not this try comes to its item. */
	noteBefore({ taskIds, unclear }: LeftBefore): void {
		for (const taskId of taskIds) this.noteEarlier(taskId);
		this.unclearBefore = unclear;
	}

	/** A task of an earlier try. */
	noteEarlier(taskId: string): void {
		this.taskIds.add(taskId);
	}

	/** A refusal has named a task. */
	noteNamed(taskId: string, index: number): void {
		this.context.logger.warn(
			`Media Generation: task ${taskId} for item ${index} of execution ${this.context.getExecutionId()} may exist`,
		);
	}

	/** The answer to a creation came after the execution had been stopped. */
	noteLate(taskId: string, sure: boolean): void {
		const exists = sure ? 'exists and is paid for' : 'may exist and be paid for';
		this.context.logger.warn(
			`Media Generation: task ${taskId} of the stopped execution ${this.context.getExecutionId()} ${exists}`,
		);
	}

	/** Tasks of this run that are paid for and still of use: all except those that the service calls failed. */
	private useful(): string[] {
		const useless = new Set(
			this.failures().flatMap(([, { failure }]) =>
				outcomes[failure.outcome].useful ? [] : [failure.taskId],
			),
		);
		return [...this.taskIds].filter((taskId) => !useless.has(taskId));
	}

	/** The items of whose creation nothing is known, but for the tasks that their answers may have named. */
	private unclear(): Omit<Left, 'taskIds'> {
		const unclear = [
			...this.unclearBefore,
			...this.failures()
				.filter(([, { failure }]) => outcomes[failure.outcome].unclear)
				.map(([item, { failure }]) => ({ item, failure })),
		];
		const named = unclear.flatMap(({ failure }) =>
			[failure.taskId ?? [], failure.taskIds ?? []].flat(),
		);
		return {
			unclearItems: [...new Set(unclear.map(({ item }) => item))].sort((a, b) => a - b),
			namedTaskIds: [...new Set(named)].filter((taskId) => !this.taskIds.has(taskId)),
		};
	}

	private failures() {
		return [...this.byIndex.entries()]
			.flatMap(([index, end]) => (end.kind === 'failed' ? [[index, end] as const] : []))
			.sort(([a], [b]) => a - b);
	}

	/** Throws for the first failed item, naming what is paid for and still of use, and what may be. */
	throwFirstFailure(): void {
		const [first] = this.failures();
		if (first === undefined) return;
		const [index, { failure }] = first;
		const left = { taskIds: this.useful(), ...this.unclear() };
		this.logLeft('the run failed', left);
		throw nodeError(this.context.getNode(), failure, index, left);
	}

	/** What a stopped execution leaves behind: n8n saves nothing of it, so the log has to. */
	logStop(): void {
		this.logLeft('the execution was stopped', { taskIds: this.useful(), ...this.unclear() });
	}

	/** An execution that goes on has no error that names them, and one that sleeps may be stopped before it has an output. */
	logUnclear(why: string): void {
		this.logLeft(why, { taskIds: [], ...this.unclear() });
	}

	private logLeft(why: string, { taskIds, unclearItems, namedTaskIds }: Left): void {
		const { logger } = this.context;
		if (taskIds.length > 0) {
			logger.warn(
				`Media Generation: ${why}; its tasks go on at the service and are paid for: ${taskIds.join(', ')}`,
			);
		}
		if (unclearItems.length > 0) {
			const named = namedTaskIds.length === 0 ? '' : `; it named ${namedTaskIds.join(', ')}`;
			logger.warn(
				`Media Generation: ${why} before the service had answered for items ${unclearItems.join(', ')}; their tasks may exist and be paid for${named}`,
			);
		}
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
		// With Split Files, the files that were fetched have items of their own, and the failure names no binary field.
		return outputs.some(({ binaryProperty }) => binaryProperty !== undefined)
			? [failureItem(node, failure, index, { outputs, binary })]
			: [...items.filter((item) => item.binary), failureItem(node, failure, index, { outputs })];
	}

	/** All items in the order of the input. Throws for the first failure unless failed items go on as items. */
	output(count: number): INodeExecutionData[] {
		if (!this.context.continueOnFail()) this.throwFirstFailure();
		this.hintAtFailures(count);
		for (const { type, message } of spendingHints(this.spending))
			showHint(this.context, type, message);
		this.logUnclear('the run ended');
		return Array.from({ length: count }, (_, index) => this.itemsOf(index)).flat();
	}

	/** Shows in the editor what went partly wrong. */
	private hintAtFailures(count: number): void {
		const failed = this.failures().length;
		if (failed > 0)
			showHint(
				this.context,
				'warning',
				`${failed} of ${count} items failed, see the field "outcome"`,
			);
	}
}
