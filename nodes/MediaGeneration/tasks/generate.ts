/**
 * The generating operations and `task: wait`: read all items, submit, wait, deliver, and make one output of it.
 */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { prepareReceiveUrl } from '../callback/receiveUrl';
import { failureItem, nodeError } from '../delivery/failure';
import { Limiter } from '../delivery/files';
import { CONCURRENT_DOWNLOADS, deliver, type Delivered, type DeliveryDeps } from '../delivery/item';
import type { GeneratingOperation } from '../operations/operation';
import type { WaitSettings } from '../operations/waiting';
import { createClient, type ServiceClient } from '../service/client';
import { pause } from '../service/clock';
import { FailureError, invalid, type Failure } from '../service/errors';
import { fileOpener } from '../service/fileHost';
import { creditsOf, type Task } from '../service/task';
import { Ledger } from './ledger';
import { lookAtTask } from '../service/look';
import { attemptItem, planItem, type Planned } from './plan';
import { fetchAnswer } from './read';
import { runJobs, type Job, type JobResult, type RunDeps } from './run';
import { checkSuspension, resumeUrlOf, suspend } from './suspend';

const LOOK_TIMEOUT_MS = 20_000;
const MIN_LOOK_TIMEOUT_MS = 2_000;

/** What became of one input item. */
type ItemEnd =
	| { kind: 'items'; items: INodeExecutionData[] }
	| { kind: 'failed'; failure: Failure; delivered?: Delivered }
	| { kind: 'pending'; taskId: string; lastTask: Task | undefined }
	| { kind: 'halted' };

type JobPlan = Extract<Planned, { kind: 'job' }>;

const isJob = (planned: Planned): planned is JobPlan => planned.kind === 'job';

/** Which execution, which run of the node and which account the ledger speaks of. */
function ledgerOf(context: IExecuteFunctions, baseUrl: string): Ledger {
	const runIndex = context.evaluateExpression('{{ $runIndex }}', 0);
	return new Ledger(context.getContext('node'), {
		executionId: context.getExecutionId(),
		runIndex: typeof runIndex === 'number' ? runIndex : 0,
		baseUrl,
	});
}

/** Throws for the first item that is wrong, unless failed items go on as items. */
function refuseInvalid(context: IExecuteFunctions, planned: readonly Planned[]): void {
	if (context.continueOnFail()) return;
	planned.forEach((plan, index) => {
		if (plan.kind === 'failed') throw nodeError(context.getNode(), plan.failure, index);
	});
}

/** Fails the items whose Minimum Credits the balance does not reach. Nothing has been created by then. */
async function checkCredits(
	client: ServiceClient,
	plans: JobPlan[],
	signal?: AbortSignal,
): Promise<Map<number, Failure>> {
	const failures = new Map<number, Failure>();
	const guarded = plans.filter(({ settings }) => settings.minimumCredits !== undefined);
	if (guarded.length === 0) return failures;
	let credits: number | undefined;
	let reason = 'the answer holds no balance';
	try {
		credits = creditsOf(await fetchAnswer(client, '/v1/credits', signal));
	} catch (error) {
		reason = error instanceof Error ? error.message : reason;
	}
	for (const { job, settings } of guarded) {
		const minimum = settings.minimumCredits ?? 0;
		if (credits === undefined) {
			failures.set(
				job.index,
				invalid(
					`The credit balance could not be read, so nothing was created: ${reason}`,
					'Run again later, or remove the option Minimum Credits.',
				).failure,
			);
		} else if (credits < minimum) {
			failures.set(
				job.index,
				invalid(
					`The account has ${credits} credits, fewer than the ${minimum} that Minimum Credits asks for`,
					'Add credits at the service or lower the option Minimum Credits. Nothing was created.',
				).failure,
			);
		}
	}
	return failures;
}

function timedOutItem(
	taskId: string,
	lastTask: Task | undefined,
	index: number,
): INodeExecutionData {
	return {
		json: { ...(lastTask?.raw as IDataObject | undefined), task_id: taskId, timed_out: true },
		pairedItem: { item: index },
	};
}

export class Generation {
	private readonly ends = new Map<number, ItemEnd>();
	private readonly knownTaskIds = new Set<string>();
	private readonly delivery: DeliveryDeps;
	private readonly signal: AbortSignal | undefined;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly operation: GeneratingOperation | undefined,
	) {
		this.signal = context.getExecutionCancelSignal();
		this.delivery = {
			open: fileOpener(context),
			now: Date.now,
			sleep: pause,
			signal: this.signal,
			limiter: new Limiter(CONCURRENT_DOWNLOADS),
		};
	}

	async execute(): Promise<INodeExecutionData[][]> {
		const { context } = this;
		const planned = context
			.getInputData()
			.map((_, index) => planItem(context, this.operation, index));
		refuseInvalid(context, planned);
		planned.forEach((plan, index) => {
			if (plan.kind === 'failed') this.ends.set(index, plan);
			if (plan.kind === 'complete') {
				this.ends.set(index, {
					kind: 'items',
					items: [{ ...plan.item, pairedItem: { item: index } }],
				});
			}
		});
		const plans = planned.filter(isJob);
		const client = plans.length === 0 ? undefined : await this.clientFor(plans);
		if (client === undefined) return [this.output(planned.length)];

		const suspends = plans.some(
			({ settings }) => settings.wait && settings.waitMode === 'callback',
		);
		await this.prepare(client, plans, suspends);
		const ready = plans.filter(({ job }) => !this.ends.has(job.index));
		const results = await this.run(client, ready, suspends);
		this.settle(ready, results);
		if (suspends && this.signal?.aborted !== true && this.pending().length > 0) {
			return await this.suspendRest(client, plans, planned.length);
		}
		return [this.output(planned.length)];
	}

	/** The client, or undefined when the credential is wrong and failed items go on as items. */
	private async clientFor(plans: JobPlan[]): Promise<ServiceClient | undefined> {
		try {
			return await createClient(this.context);
		} catch (error) {
			if (!(error instanceof FailureError))
				throw nodeError(this.context.getNode(), unreadableCredential(error), 0);
			for (const { job } of plans)
				this.ends.set(job.index, { kind: 'failed', failure: error.failure });
			return undefined;
		}
	}

	/** Everything that can be refused before anything is created. */
	private async prepare(client: ServiceClient, plans: JobPlan[], suspends: boolean): Promise<void> {
		const { context } = this;
		const resumeUrl = suspends ? resumeUrlOf(context) : undefined;
		for (const plan of plans) {
			const { job, settings } = plan;
			const prepared = attemptItem(() => {
				const suspended = settings.wait && settings.waitMode === 'callback';
				if (suspended)
					checkSuspension(context, client.credentials, resumeUrl, job.request !== undefined);
				const url = suspended ? resumeUrl : settings.callbackUrl;
				if (job.request === undefined || url === undefined) return;
				job.request.body.receive_url = prepareReceiveUrl(url, client.credentials, {
					reference: settings.callbackReference,
					signed: !suspended,
					now: Date.now(),
				});
			});
			if (!prepared.ok) this.ends.set(job.index, { kind: 'failed', failure: prepared.failure });
		}
		const poor = await checkCredits(client, plans, this.signal);
		poor.forEach((failure, index) => this.ends.set(index, { kind: 'failed', failure }));
		if (!context.continueOnFail()) this.throwFirstFailure();
	}

	private async run(
		client: ServiceClient,
		plans: JobPlan[],
		suspends: boolean,
	): Promise<JobResult[]> {
		const settings = new Map(plans.map((plan) => [plan.job.index, plan.settings]));
		const deps: RunDeps = {
			client,
			now: Date.now,
			random: Math.random,
			sleep: pause,
			signal: this.signal,
			ledger: ledgerOf(this.context, client.credentials.baseUrl),
			look: async ({ taskId, kind, deadline }, route, signal) =>
				await lookAtTask(
					client,
					{
						taskId,
						kind,
						route,
						signal,
						timeoutMs: Math.min(
							LOOK_TIMEOUT_MS,
							Math.max(MIN_LOOK_TIMEOUT_MS, deadline - Date.now()),
						),
					},
					Date.now,
				),
			onTask: (taskId) => this.knownTaskIds.add(taskId),
			onFinished: async (job, taskId, task) =>
				await this.deliverTask(job, taskId, task, settings.get(job.index)),
		};
		const [first] = plans;
		return await runJobs(
			plans.map(({ job }) => job),
			deps,
			{
				maxActiveTasks: first?.settings.maxActiveTasks ?? 1,
				haltOnFailure: !this.context.continueOnFail(),
				graceMs: suspends ? first?.settings.graceMs : undefined,
			},
		);
	}

	private async deliverTask(
		job: Job,
		taskId: string,
		task: Task,
		settings: WaitSettings | undefined,
	): Promise<void> {
		if (settings === undefined) return;
		const request = job.request?.body;
		const delivered = await deliver(
			this.context,
			{ taskId, task, request },
			settings,
			job.index,
			this.delivery,
		);
		const { items, failure } = delivered;
		this.ends.set(
			job.index,
			failure === undefined ? { kind: 'items', items } : { kind: 'failed', failure, delivered },
		);
	}

	/** Turns the results that are not delivered yet into ends. */
	private settle(plans: JobPlan[], results: JobResult[]): void {
		results.forEach((result, position) => {
			const plan = plans[position];
			if (plan === undefined || result.kind === 'finished') return;
			const { index } = plan.job;
			if (result.kind === 'created') {
				const { answer, taskId } = result.created;
				const json = { ...(answer as IDataObject), task_id: taskId };
				this.ends.set(index, { kind: 'items', items: [{ json, pairedItem: { item: index } }] });
			} else if (result.kind === 'failed') {
				const { failure, lastTask } = result;
				const returned =
					failure.outcome === 'timed_out' && plan.settings.onTimeout === 'returnTask';
				this.ends.set(
					index,
					returned && failure.taskId !== undefined
						? { kind: 'items', items: [timedOutItem(failure.taskId, lastTask, index)] }
						: { kind: 'failed', failure },
				);
			} else {
				this.ends.set(index, result.kind === 'halted' ? { kind: 'halted' } : result);
			}
		});
		if (this.signal?.aborted === true && this.knownTaskIds.size > 0) {
			this.context.logger.warn(
				`Media Generation: the execution was stopped; its tasks go on at the service and are paid for: ${[...this.knownTaskIds].join(', ')}`,
			);
		}
	}

	private pending() {
		return [...this.ends.entries()].flatMap(([index, end]) =>
			end.kind === 'pending' ? [{ index, ...end }] : [],
		);
	}

	/** Puts the execution to sleep with one item per input item; what is finished already travels along. */
	private async suspendRest(
		client: ServiceClient,
		plans: JobPlan[],
		count: number,
	): Promise<INodeExecutionData[][]> {
		return await suspend(this.context, client, {
			count,
			plans: plans.map(({ job, settings }) => ({ job, settings })),
			pending: this.pending(),
			itemsOf: (index) => this.itemsOf(index),
			deliver: async (job, taskId, task, settings) => {
				await this.deliverTask(job, taskId, task, settings);
			},
			fail: (index, failure) => this.ends.set(index, { kind: 'failed', failure }),
			output: () => this.output(count),
		});
	}

	private throwFirstFailure(): void {
		const failures = [...this.ends.entries()].filter(([, end]) => end.kind === 'failed');
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

	private itemsOf(index: number): INodeExecutionData[] {
		const end = this.ends.get(index);
		if (end?.kind === 'items') return end.items;
		if (end?.kind !== 'failed') return [];
		const { failure, delivered } = end;
		const binary = delivered?.items[0]?.binary;
		return [
			failureItem(
				this.context.getNode(),
				failure,
				index,
				delivered === undefined
					? undefined
					: { outputs: delivered.outputs, ...(binary === undefined ? {} : { binary }) },
			),
		];
	}

	/** All items in the order of the input. Throws for the first failure unless failed items go on as items. */
	private output(count: number): INodeExecutionData[] {
		if (!this.context.continueOnFail()) this.throwFirstFailure();
		this.hintAtFailures(count);
		return Array.from({ length: count }, (_, index) => this.itemsOf(index)).flat();
	}

	/** Tells in the editor what went partly wrong. */
	private hintAtFailures(count: number): void {
		const failed = [...this.ends.values()].filter((end) => end.kind === 'failed').length;
		// Hints are younger than the oldest n8n that this node runs on, and tools of agents have none.
		if (failed === 0 || !('addExecutionHints' in this.context)) return;
		this.context.addExecutionHints({
			type: 'warning',
			location: 'outputPane',
			message: `${failed} of ${count} items failed, see the field "outcome"`,
		});
	}
}

function unreadableCredential(error: unknown): Failure {
	return {
		outcome: 'invalid',
		message: `The credential could not be read: ${error instanceof Error ? error.message : 'unknown reason'}`,
		description: 'Select a Media Generation API credential in this node. Nothing was sent.',
	};
}
