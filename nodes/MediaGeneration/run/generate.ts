/**
 * The generating operations and `task: wait`: read all items, submit, wait, deliver, and make one output of it.
 */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { prepareReceiveUrl } from '../callback/receiveUrl';
import { warnOfTestUrls } from '../callback/testUrlHint';
import { nodeError } from '../delivery/failure';
import { Delivery } from '../delivery/item';
import type { GeneratingOperation } from '../operations/operation';
import type { WaitSettings } from '../operations/waiting';
import { createClient, type ServiceClient } from '../service/client';
import { pause } from '../service/clock';
import { FailureError } from '../service/failures';
import { lookAtTask } from '../service/look';
import { outputsOf } from '../service/outputs';
import type { Task } from '../service/task';
import { addressesIn } from '../service/verdict';
import { Ends } from './ends';
import { attemptItem, planItem, type Planned } from './plan';
import {
	checkCredits,
	ledgerOf,
	refuseInvalid,
	unreadableCredential,
	type JobPlan,
} from './checks';
import { runJobs, type Job, type JobResult, type RunDeps } from './jobs';
import { checkSuspension, resumeUrlOf, suspend } from '../sleep/suspend';

const LOOK_TIMEOUT_MS = 20_000;
const MIN_LOOK_TIMEOUT_MS = 2_000;

const isJob = (planned: Planned): planned is JobPlan => planned.kind === 'job';

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
	private readonly ends: Ends;
	private delivery: Delivery | undefined;
	private readonly signal: AbortSignal | undefined;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly operation: GeneratingOperation | undefined,
	) {
		this.signal = context.getExecutionCancelSignal();
		this.ends = new Ends(context);
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
		if (client === undefined) return [this.ends.output(planned.length)];
		const { baseUrl } = client.credentials;
		this.delivery = new Delivery(context, { baseUrl, signal: this.signal });

		const suspends = plans.some(
			({ settings }) => settings.wait && settings.waitMode === 'callback',
		);
		await this.prepare(client, plans, suspends);
		const ready = plans.filter(({ job }) => !this.ends.has(job.index));
		const results = await this.run(client, ready, suspends);
		this.settle(ready, results);
		if (suspends && this.signal?.aborted !== true && this.ends.pending().length > 0) {
			return await this.suspendRest(client, plans, planned.length);
		}
		return [this.ends.output(planned.length)];
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
		warnOfTestUrls(
			context,
			plans.map(({ settings }) => settings.callbackUrl),
		);
		const poor = await checkCredits(client, plans, this.signal);
		poor.forEach((failure, index) => this.ends.set(index, { kind: 'failed', failure }));
		if (!context.continueOnFail()) this.ends.throwFirstFailure();
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
			onTask: (taskId, job) => this.noteTask(taskId, job),
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

	/** The log keeps the ID of every paid task, should n8n die before the execution is saved. */
	private noteTask(taskId: string, { index, request }: Job): void {
		this.ends.knownTaskIds.add(taskId);
		if (request === undefined) return;
		const executionId = this.context.getExecutionId();
		this.context.logger.info(
			`Media Generation: task ${taskId} for item ${index} of execution ${executionId}`,
		);
	}

	/** Whether all files of the task could be had. */
	private async deliverTask(
		job: Job,
		taskId: string,
		task: Task,
		settings: WaitSettings | undefined,
	): Promise<boolean> {
		if (settings === undefined || this.delivery === undefined) return false;
		const outputs = outputsOf(task, addressesIn(job.request?.body));
		const delivered = await this.delivery.deliver({ taskId, task, outputs }, settings, job.index);
		const { items, failure } = delivered;
		this.ends.set(
			job.index,
			failure === undefined ? { kind: 'items', items } : { kind: 'failed', failure, delivered },
		);
		return failure === undefined;
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
		if (this.signal?.aborted === true) this.logStop();
	}

	/** What a stopped execution leaves behind: n8n saves nothing of it, so the log has to. */
	private logStop(): void {
		const { logger } = this.context;
		const { knownTaskIds } = this.ends;
		if (knownTaskIds.size > 0) {
			logger.warn(
				`Media Generation: the execution was stopped; its tasks go on at the service and are paid for: ${[...knownTaskIds].join(', ')}`,
			);
		}
		const unclear = this.ends.unclear();
		if (unclear.length > 0) {
			logger.warn(
				`Media Generation: the execution was stopped before the service had answered for items ${unclear.join(', ')}; their tasks may exist and be paid for`,
			);
		}
	}

	/** Puts the execution to sleep with one item per input item; what is finished already travels along. */
	private async suspendRest(
		client: ServiceClient,
		plans: JobPlan[],
		count: number,
	): Promise<INodeExecutionData[][]> {
		return await suspend(this.context, client, {
			count,
			resumeUrl: resumeUrlOf(this.context) ?? '',
			plans: plans.map(({ job, settings }) => ({ job, settings })),
			pending: this.ends.pending(),
			itemsOf: (index) => this.ends.itemsOf(index),
			deliver: async (job, taskId, task, settings) => {
				await this.deliverTask(job, taskId, task, settings);
			},
			fail: (index, failure) => this.ends.set(index, { kind: 'failed', failure }),
			output: () => this.ends.output(count),
		});
	}
}
