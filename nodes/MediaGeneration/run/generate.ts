/**
 * The operations that create tasks or wait for them: read all items, create, wait, deliver, and make one output of it.
 */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { prepareReceiveUrl, withoutReceiveUrls } from '../callback/receiveUrl';
import { warnOfTestUrls } from '../callback/testUrlHint';
import { Ledger, type RunIdentity } from '../create/ledger';
import { assemble, deliverPart } from '../delivery/assembly';
import { nodeError } from '../delivery/failure';
import { Delivery } from '../delivery/item';
import { failureOfPart } from '../delivery/partFailure';
import type { Operation } from '../operations/operation';
import type { RunSettings } from '../operations/waiting';
import { createClient, type ServiceClient } from '../service/client';
import { realClock } from '../service/clock';
import * as failures from '../service/failures';
import { attempt, attemptLater, FailureError } from '../service/failures';
import { lookAtTask } from '../service/look';
import type { Verdict } from '../service/verdict';
import { checkSuspension, isToolRun, type Waking } from '../sleep/checks';
import type { SleepingTask } from '../sleep/notes';
import { lookOnceMore, sleepingInput, suspend, type Sleeper } from '../sleep/suspend';
import { Balance, checkCredits, runOf, unreadableCredential } from './checks';
import { Ends } from './ends';
import { isOver, type Item, type ItemEnd, type PartEnd, type Part } from './item';
import { allFinished, runItems } from './jobs';
import { itemFor, planItem } from './plan';
import { Spending } from './spending';

/** For one look at a task for its cost. */
const COST_LOOK_MS = 5_000;

/** What a run works with, once the credential is read. */
interface Tools {
	client: ServiceClient;
	ledger: Ledger;
	spending: Spending;
	delivery: Delivery;
	/** Undefined where no item suspends. */
	waking: Waking | undefined;
}

class Generation {
	private readonly ends: Ends;
	private readonly signal: AbortSignal | undefined;
	private readonly count: number;
	/** Those of the first item. */
	private settings: RunSettings | undefined;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly operation: Operation,
	) {
		this.ends = new Ends(context);
		this.signal = context.getExecutionCancelSignal();
		this.count = context.getInputData().length;
	}

	async execute(): Promise<INodeExecutionData[]> {
		const planned = this.plan();
		const client = planned.length === 0 ? undefined : await this.clientFor(planned);
		if (client === undefined) return this.ends.output(this.count);
		const run = runOf(this.context, client.credentials.baseUrl);
		const ledger = new Ledger(this.context.getContext('node'), run);
		let handedOut = false;
		try {
			const tools = await this.prepare({ client, ledger, run }, planned);
			const items = planned
				.filter(({ index }) => this.ends.get(index) === undefined)
				.map((item) => this.asCutFirst(tools, item));
			await this.run(tools, items);
			const output = await this.outputOrSleep(tools, items);
			// The service may echo where it was told to call: whoever reads the output could call there, too.
			const sent = items.flatMap(({ parts }) => parts.flatMap(receiveUrlOf));
			for (const item of output) withoutReceiveUrls(item.json, sent);
			handedOut = true;
			return output;
		} finally {
			// Whatever the stop has cut short: creations, waiting, downloads, or the last look before the sleep.
			if (this.isStopped()) this.ends.logStop();
			ledger.close((index) => handedOut && this.ends.get(index)?.kind === 'items');
		}
	}

	private isStopped(): boolean {
		return this.signal?.aborted === true;
	}

	/** The items that are to be run; what is over already, or wrong, has its end. */
	private plan(): Item[] {
		const items: Item[] = [];
		for (let index = 0; index < this.count; index += 1) {
			const planned = planItem(this.context, this.operation, index);
			if (planned.kind === 'item') {
				items.push(planned.item);
				this.settings ??= planned.run;
			} else if (planned.kind === 'failed') this.ends.set(index, planned);
			else
				this.ends.set(index, {
					kind: 'items',
					items: [{ ...planned.item, pairedItem: { item: index } }],
				});
		}
		if (!this.context.continueOnFail()) this.ends.throwFirstFailure();
		return items;
	}

	/** The client, or undefined when the credential is wrong and failed items go on as items. */
	private async clientFor(items: readonly Item[]): Promise<ServiceClient | undefined> {
		try {
			return await createClient(this.context);
		} catch (error) {
			if (!(error instanceof FailureError))
				throw nodeError(this.context.getNode(), unreadableCredential(error), 0);
			const { failure } = error;
			for (const { index } of items) this.ends.set(index, { kind: 'failed', failure });
			return undefined;
		}
	}

	/** Everything that can be refused before anything is created. */
	private async prepare(
		{ client, ledger, run }: { client: ServiceClient; ledger: Ledger; run: RunIdentity },
		items: readonly Item[],
	): Promise<Tools> {
		const { context, signal } = this;
		const { baseUrl } = client.credentials;
		const waking = await this.prepareSuspension(baseUrl, items);
		for (const item of items) {
			const addressed = attempt(() => this.setReceiveUrls(client, item, waking));
			if (!addressed.ok) this.ends.set(item.index, { kind: 'failed', failure: addressed.failure });
		}
		warnOfTestUrls(
			context,
			items.map(({ settings: { waiting } }) =>
				waiting.kind === 'no' ? waiting.callbackUrl : undefined,
			),
		);
		const creating = items.filter(
			(item) => this.ends.get(item.index) === undefined && !isPaidFor(ledger, item),
		);
		const balance = new Balance(client, signal);
		const poor = await checkCredits(balance, creating);
		poor.forEach((failure, index) => this.ends.set(index, { kind: 'failed', failure }));
		if (!context.continueOnFail()) this.ends.throwFirstFailure();
		const spending = await this.prepareSpending(client, run, balance);
		this.ends.spending = spending;
		return {
			client,
			waking,
			ledger,
			spending,
			delivery: new Delivery(context, { signal, baseUrl }),
		};
	}

	/** What the run costs; with a limit, from which balance on. */
	private async prepareSpending(
		client: ServiceClient,
		run: RunIdentity,
		balance: Balance,
	): Promise<Spending> {
		const { signal } = this;
		const maximum = this.settings?.maximumCredits;
		return new Spending({
			...realClock,
			store: this.context.getContext('node'),
			run,
			maximum,
			balance: maximum === undefined ? undefined : await balance.ifKnown(),
			look: async (taskId, { kind, route }) =>
				await lookAtTask(client, { taskId, kind, route, timeoutMs: COST_LOOK_MS, signal }),
			pausedUntil: () => client.account.pausedUntil('look'),
			signal,
		});
	}

	/** How the execution can be woken; items that suspend fail where it can't. */
	private async prepareSuspension(
		baseUrl: string,
		items: readonly Item[],
	): Promise<Waking | undefined> {
		const suspending = items.filter(({ settings }) => settings.waiting.kind === 'suspend');
		if (suspending.length === 0) return undefined;
		const watched = suspending.every(
			({ settings: { waiting } }) => waiting.kind === 'suspend' && waiting.watched,
		);
		const checked = await attemptLater(
			async () => await checkSuspension(this.context, baseUrl, watched),
		);
		if (checked.ok) return checked.value;
		const { failure } = checked;
		for (const { index } of suspending) this.ends.set(index, { kind: 'failed', failure });
		return undefined;
	}

	/** Tells the service where to report the end of a task. */
	private setReceiveUrls(client: ServiceClient, { settings, parts }: Item, waking?: Waking): void {
		const { waiting, callbackReference: reference } = settings;
		const suspends = waiting.kind === 'suspend';
		const callable = waking?.callable === true ? waking.resumeUrl : undefined;
		const url = suspends ? callable : waiting.kind === 'no' ? waiting.callbackUrl : undefined;
		if (url === undefined) return;
		for (const part of parts) {
			if (part.kind !== 'creates') continue;
			part.request.body.receive_url = prepareReceiveUrl(url, client.credentials, {
				reference,
				signed: !suspends,
				now: Date.now(),
			});
		}
	}

	/** An item of a later try keeps the parts of the first one. */
	private asCutFirst({ ledger }: Tools, item: Item): Item {
		const { assembly, index, settings } = item;
		const [first] = item.parts;
		const repeats = this.context.getNode().retryOnFail === true && !isToolRun(this.context);
		if (assembly.longText.kind === 'off' || first?.kind !== 'creates' || !repeats) return item;
		const texts = ledger.firstTexts(index, assembly.texts);
		return itemFor(index, settings, { request: first.request, texts });
	}

	private async run(tools: Tools, items: readonly Item[]): Promise<void> {
		const { client, ledger, spending } = tools;
		const { maxActiveTasks = 1 } = this.settings ?? {};
		for (const { item, part, created } of items.flatMap((each) => earlierTasks(ledger, each)))
			spending.takeUp(created, { kind: part.request.kind, route: item.settings.pollRoute });
		const ends = await runItems(
			items,
			{
				...realClock,
				random: Math.random,
				client,
				ledger,
				spending,
				signal: this.signal,
				look: async ({ taskId, kind, route = 'auto' }, timeoutMs, signal) =>
					await lookAtTask(client, { taskId, kind, route, timeoutMs, signal }),
				noteLate: (taskId, sure) => this.ends.noteLate(taskId, sure),
				noteNamed: (taskId, { index }) => this.ends.noteNamed(taskId, index),
				noteTask: (taskId, { index }, { kind }) =>
					this.ends.noteTask(taskId, index, kind === 'creates'),
				deliver: async ({ index, settings: { files }, assembly }, { number }, finished) =>
					await deliverPart(tools.delivery, finished, { number, assembly, files, index }),
				conclude: async (item, parts) => await this.conclude(tools, item, parts),
			},
			{
				maxActiveTasks,
				haltOnFailure: !this.context.continueOnFail(),
			},
		);
		items.forEach(({ index }, position) =>
			this.ends.set(index, ends[position] ?? { kind: 'halted' }),
		);
		await spending.settled();
	}

	/** What becomes of an item whose parts have ended. */
	private async conclude({ delivery }: Tools, item: Item, parts: PartEnd[]): Promise<ItemEnd> {
		const { index, settings, assembly } = item;
		const finished = allFinished(parts);
		if (finished !== undefined) {
			const input = { assembly, files: settings.files, index };
			const delivered = await assemble(this.context, { delivery, parts: finished }, input);
			const { items, failure } = delivered;
			return failure === undefined
				? { kind: 'items', items }
				: { kind: 'failed', failure, delivered };
		}
		const failed = speakingFailure(parts);
		if (failed !== undefined) return this.concludeFailed(item, parts, failed);
		if (parts.some(({ kind }) => kind === 'halted'))
			return undeliveredPart(assembly.texts, parts) ?? { kind: 'halted' };
		if (parts.some(({ kind }) => kind === 'asleep')) return { kind: 'asleep', parts };
		return { kind: 'items', items: parts.flatMap((part) => createdItem(item, parts, part)) };
	}

	private concludeFailed(
		{ index, settings, assembly }: Item,
		parts: readonly PartEnd[],
		failed: Extract<PartEnd, { kind: 'failed' }>,
	): ItemEnd {
		const { failure, lastTask } = failed;
		const { outcome, taskId } = failure;
		if (outcome !== 'timed_out' || settings.onTimeout !== 'returnTask' || taskId === undefined) {
			if (assembly.longText.kind === 'off') return { kind: 'failed', failure };
			const number = parts.indexOf(failed);
			const taskIds = parts.flatMap(taskIdOf);
			return {
				kind: 'failed',
				failure: failureOfPart(failure, { number, taskIds, texts: assembly.texts }),
			};
		}
		const json = {
			...(lastTask?.raw as IDataObject | undefined),
			task_id: taskId,
			...(assembly.longText.kind === 'off' ? {} : { task_ids: parts.flatMap(taskIdOf) }),
			timed_out: true,
		};
		return { kind: 'items', items: [{ json, pairedItem: { item: index } }] };
	}

	/** The output, or, where tasks are left for the sleep, what the execution sleeps on. */
	private async outputOrSleep(tools: Tools, items: readonly Item[]): Promise<INodeExecutionData[]> {
		const { waking } = tools;
		const asleep = items.flatMap((item) => {
			const end = this.ends.get(item.index);
			return end?.kind === 'asleep' ? [{ item, parts: end.parts }] : [];
		});
		if (asleep.length === 0 || waking === undefined || this.isStopped())
			return this.ends.output(this.count);
		const looked = await Promise.all(
			asleep.map(async ({ item, parts }) => ({
				item,
				parts: await this.lookAtParts(tools, item, parts),
			})),
		);
		// Downloads would widen the moment between the look and the sleep, so they come first only if nothing is left to wait for.
		const over = looked.every(({ parts }) => parts.every(isOver));
		for (const { item, parts } of looked) {
			const failed = parts.some(({ kind }) => kind === 'failed');
			const end: ItemEnd =
				over || failed ? await this.conclude(tools, item, parts) : { kind: 'asleep', parts };
			this.ends.set(item.index, end);
		}
		if (over || this.isStopped()) return this.ends.output(this.count);
		if (!this.context.continueOnFail()) this.ends.throwFirstFailure();
		this.ends.logUnclear('the execution went to sleep');
		return await suspend(this.context, tools.client, { waking, sleepers: this.sleepers(items) });
	}

	/** The last look before the sleep, as a callback that came earlier will not come again. */
	private async lookAtParts(
		{ client, ledger }: Tools,
		{ index }: Item,
		parts: readonly PartEnd[],
	): Promise<PartEnd[]> {
		const open = parts.map((part) => (part.kind === 'asleep' ? [part.task] : []));
		const verdicts = await lookOnceMore(client, open.flat(), this.signal);
		return parts.map((part, number) => {
			const verdict = part.kind === 'asleep' ? verdicts.shift() : undefined;
			if (part.kind !== 'asleep' || verdict === undefined) return part;
			if (verdict.kind === 'failed') ledger.forget({ item: index, part: number });
			return partEndOf(part.task, verdict);
		});
	}

	/** One for each input item, in order. */
	private sleepers(items: readonly Item[]): Sleeper[] {
		const byIndex = new Map(items.map((item) => [item.index, item]));
		return Array.from({ length: this.count }, (_, index): Sleeper => {
			const end = this.ends.get(index);
			const item = byIndex.get(index);
			if (end?.kind !== 'asleep' || item === undefined)
				return { kind: 'complete', items: this.ends.itemsOf(index) };
			const { waiting, files } = item.settings;
			return {
				kind: 'open',
				tasks: end.parts.flatMap(sleepingTask),
				assembly: item.assembly,
				files,
				watched: waiting.kind === 'suspend' && waiting.watched,
			};
		});
	}
}

/** The failure that an item shows: that a part may be paid for goes before that another one was not. */
function speakingFailure(parts: readonly PartEnd[]) {
	const failed = parts.filter((part) => part.kind === 'failed');
	return failed.find(({ failure }) => failure.outcome === 'unknown') ?? failed[0];
}

/** A file that could not be fetched ends a run like any failure, and it is this item that has to say so. */
function undeliveredPart(texts: readonly string[], parts: readonly PartEnd[]): ItemEnd | undefined {
	for (const [number, part] of parts.entries()) {
		const failure = part.kind === 'finished' ? part.delivered?.failure : undefined;
		if (failure === undefined) continue;
		const taskIds = parts.flatMap(taskIdOf);
		return { kind: 'failed', failure: failureOfPart(failure, { number, taskIds, texts }) };
	}
	return undefined;
}

/** The tasks of an item that an earlier try has made. */
function earlierTasks(ledger: Ledger, item: Item) {
	return item.parts.flatMap((part) => {
		if (part.kind !== 'creates') return [];
		const earlier = ledger.earlier({ item: item.index, part: part.number }, part.request);
		return earlier.kind === 'created' ? [{ item, part, created: earlier.created }] : [];
	});
}

/** Whether nothing is left to be paid for an item. */
function isPaidFor(ledger: Ledger, item: Item): boolean {
	const creating = item.parts.filter(({ kind }) => kind === 'creates');
	return earlierTasks(ledger, item).length === creating.length;
}

function receiveUrlOf(part: Part): string[] {
	const url = part.kind === 'creates' ? part.request.body.receive_url : undefined;
	return typeof url === 'string' ? [url] : [];
}

/** The item of a task that is not waited for. */
function createdItem(
	{ index, assembly }: Item,
	parts: readonly PartEnd[],
	part: PartEnd,
): INodeExecutionData[] {
	if (part.kind !== 'created') return [];
	const { answer, taskId } = part.created;
	const json: IDataObject = {
		...(answer as IDataObject),
		task_id: taskId,
		...(assembly.longText.kind === 'parts'
			? { part: parts.indexOf(part) + 1, parts: parts.length }
			: {}),
	};
	return [{ json, pairedItem: { item: index } }];
}

function taskIdOf(part: PartEnd): string[] {
	switch (part.kind) {
		case 'finished':
			return [part.finished.taskId];
		case 'created':
			return [part.created.taskId];
		case 'asleep':
			return [part.task.watch.taskId];
		case 'failed':
			return part.failure.taskId === undefined ? [] : [part.failure.taskId];
		case 'halted':
			return [];
	}
}

function partEndOf(task: SleepingTask, verdict: Verdict): PartEnd {
	const { watch } = task;
	switch (verdict.kind) {
		case 'done': {
			const finished = { taskId: watch.taskId, task: verdict.task, outputs: verdict.outputs };
			return { kind: 'finished', finished, watch };
		}
		case 'failed':
			return {
				kind: 'failed',
				failure: failures.failed(watch.taskId, verdict.task),
				lastTask: verdict.task,
			};
		default:
			return { kind: 'asleep', task: { ...task, lastTask: verdict.task } };
	}
}

/** A part of an item that goes to sleep; one that is over already is known as such, should its files be fetched later. */
function sleepingTask(part: PartEnd): SleepingTask[] {
	if (part.kind === 'asleep') return [part.task];
	if (part.kind !== 'finished') return [];
	const { watch, finished } = part;
	return [{ watch, finished, lastTask: finished.task, receiveUrl: undefined }];
}

/** Runs an operation that creates tasks or waits for them. */
export async function generate(
	context: IExecuteFunctions,
	operation: Operation,
): Promise<INodeExecutionData[]> {
	return sleepingInput(context) ?? (await new Generation(context, operation).execute());
}
