/**
 * The operations that create tasks or wait for them: read all items, create, wait, deliver, and make one output of it.
 */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { prepareReceiveUrl } from '../callback/receiveUrl';
import { warnOfTestUrls } from '../callback/testUrlHint';
import { Ledger, leftByEarlierTries, type RunIdentity } from '../create/ledger';
import { deliverPart } from '../delivery/assembly';
import { nodeError } from '../delivery/failure';
import { Delivery } from '../delivery/item';
import type { Operation } from '../operations/operation';
import type { RunSettings, Waiting } from '../operations/waiting';
import { createClient, type ServiceClient } from '../service/client';
import { realClock } from '../service/clock';
import { attempt, attemptLater, FailureError } from '../service/failures';
import { lookAtTask } from '../service/look';
import { checkSuspension, type Waking } from '../sleep/checks';
import { sleepingInput, suspend } from '../sleep/suspend';
import { lookAtOpenParts, sleepersOf } from './beforeSleep';
import { Balance, checkCredits, runOf, unreadableCredential } from './checks';
import { conclude } from './conclude';
import { Ends } from './ends';
import { isOver, type Item, type ItemEnd } from './item';
import { runItems } from './jobs';
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
		const store = this.context.getContext('node');
		this.ends.noteBefore(leftByEarlierTries(store, () => runOf(this.context)));
		const planned = this.plan();
		const client = planned.length === 0 ? undefined : await this.clientFor(planned);
		if (client === undefined) return this.ends.output(this.count);
		const run = { ...runOf(this.context), baseUrl: client.credentials.baseUrl };
		const ledger = new Ledger(store, run);
		let handedOut = false;
		try {
			const tools = await this.prepare({ client, ledger, run }, planned);
			const items = planned
				.filter(({ index }) => this.ends.get(index) === undefined)
				.map((item) => this.withFirstTexts(tools, item));
			await this.run(tools, items);
			const output = await this.outputOrSleep(tools, items);
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

	/** The items to run; those that are already over, or wrong, get their ends here. */
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

	/** Refuses whatever can be refused before anything is created. */
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

	/** Counts what the run costs; with a limit, from the balance at its start. */
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
			balanceNow: async () => await balance.now(),
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
		const { url, signed } = callbackFor(waiting, waking);
		if (url === undefined) return;
		for (const part of parts) {
			if (part.kind !== 'creates') continue;
			part.request.body.receive_url = prepareReceiveUrl(url, client.credentials, {
				reference,
				signed,
				now: Date.now(),
			});
		}
	}

	/** An item of a later try keeps the parts of the first try. */
	private withFirstTexts({ ledger }: Tools, item: Item): Item {
		const { assembly, index, settings } = item;
		const [first] = item.parts;
		const repeats = this.context.getNode().retryOnFail === true;
		if (assembly.longText.kind === 'off' || first?.kind !== 'creates' || !repeats) return item;
		const texts = ledger.firstTexts(index, assembly.texts);
		return itemFor(index, settings, { request: first.request, texts });
	}

	private async run(tools: Tools, items: readonly Item[]): Promise<void> {
		const { client, ledger, spending } = tools;
		const { maxActiveTasks = 1 } = this.settings ?? {};
		for (const { item, part, created } of items.flatMap((each) => earlierTasks(ledger, each))) {
			spending.takeUp(created, { kind: part.request.kind, route: item.settings.pollRoute });
			this.ends.noteEarlier(created.taskId);
		}
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
				deliver: async ({ index, settings: { files }, assembly }, { number }, done) =>
					await deliverPart(tools.delivery, done, { number, assembly, files, index }),
				conclude: async (item, parts) =>
					await conclude({ context: this.context, delivery: tools.delivery }, item, parts),
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

	/** The output, or, where tasks are still open, the items that the execution sleeps on. */
	private async outputOrSleep(tools: Tools, items: readonly Item[]): Promise<INodeExecutionData[]> {
		const { waking } = tools;
		const asleep = items.flatMap((item) => {
			const end = this.ends.get(item.index);
			return end?.kind === 'asleep' ? [{ item, parts: end.parts }] : [];
		});
		if (waking === undefined) return this.ends.output(this.count);
		const means = { client: tools.client, ledger: tools.ledger, signal: this.signal };
		const looked = await Promise.all(asleep.map(async (one) => await lookAtOpenParts(one, means)));
		// Downloads would lengthen the gap between the look and the sleep, so they come first only if nothing is left to wait for.
		const over = looked.every(({ parts }) => parts.every(isOver));
		for (const { item, parts } of looked) {
			const failed = parts.some(({ kind }) => kind === 'failed');
			const end: ItemEnd =
				over || failed
					? await conclude({ context: this.context, delivery: tools.delivery }, item, parts)
					: { kind: 'asleep', parts };
			this.ends.set(item.index, end);
		}
		if (over || this.isStopped()) return this.ends.output(this.count);
		if (!this.context.continueOnFail()) this.ends.throwFirstFailure();
		this.ends.logUnclear('the execution went to sleep');
		return await suspend(this.context, tools.client, {
			waking,
			sleepers: sleepersOf(items, this.ends, this.count),
		});
	}
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

/** Where the service is to report the end of a task, and whether we sign that URL: resume URLs carry n8n's own token. */
function callbackFor(
	waiting: Waiting,
	waking: Waking | undefined,
): { url: string | undefined; signed: boolean } {
	switch (waiting.kind) {
		case 'no':
			return { url: waiting.callbackUrl, signed: true };
		case 'poll':
			return { url: undefined, signed: false };
		case 'suspend':
			return { url: waking?.callable === true ? waking.resumeUrl : undefined, signed: false };
	}
}

/** Runs an operation that creates tasks or waits for them. */
export async function generate(
	context: IExecuteFunctions,
	operation: Operation,
): Promise<INodeExecutionData[]> {
	return sleepingInput(context) ?? (await new Generation(context, operation).execute());
}
