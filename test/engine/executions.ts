/**
 * Executions as n8n's server keeps them: saved as text when they start, sleep and end, read back from that text when they
 * are woken, so that nothing survives a sleep here that n8n would not have saved. Used by `webhook.ts`.
 */
import { parse, stringify } from 'flatted';
import { ExecutionLifecycleHooks, WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	Workflow,
	type IConnections,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type INodeType,
	type IRun,
	type IRunExecutionData,
	type IWorkflowExecuteAdditionalData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { logLines } from './container';
import {
	connect,
	credentialsHelper,
	loopOnce,
	mediaGeneration,
	mediaNode,
	node,
	noOp,
	prepareEngine,
	source,
	typesOf,
	type EngineOptions,
	type EngineResult,
} from './engine';

/** A workflow as it is saved. */
export interface Definition {
	id: string;
	nodes: INode[];
	connections: IConnections;
	types: Record<string, INodeType>;
	credentials: EngineOptions['credentials'];
	/** What `getWorkflowStaticData` has kept, as text; `null` at first. */
	staticData: string;
}

export type Status = 'running' | 'waiting' | 'success' | 'error' | 'canceled';

interface Row {
	id: string;
	mode: WorkflowExecuteMode;
	definition: Definition;
	status: Status;
	/** As in n8n's database. */
	data: string;
	/** Until the execution sleeps or ends. */
	period: Promise<IRun>;
	stop: () => void;
	logsFrom: number;
}

/** One execution, as a test sees it. */
export interface Execution {
	readonly id: string;
	readonly status: Status;
	/** Resolves as soon as the execution sleeps or is over. */
	settled(): Promise<EngineResult>;
	/** Stops it, as the button does. */
	stop(): void;
}

export class Executions {
	private readonly rows = new Map<string, Row>();

	/** Runs before an execution is saved as asleep: what arrives meanwhile meets a running one. */
	beforeSaving: () => Promise<void> = async () => await Promise.resolve();

	constructor(private readonly host: { url: string }) {}

	workflowOf(
		definition: Definition,
		staticData = JSON.parse(definition.staticData) as IDataObject,
	): Workflow {
		const { nodes, connections } = structuredClone({
			nodes: definition.nodes,
			connections: definition.connections,
		});
		return new Workflow({
			id: definition.id,
			name: definition.id,
			nodes,
			connections,
			active: true,
			nodeTypes: typesOf(definition.types),
			staticData,
			settings: { executionOrder: 'v1' },
		});
	}

	/**
	 * n8n 2.41 makes another workflow over the static data of the one that was called before it stores an execution
	 * (`establishContextForPersistence`), which marks as unchanged what the webhook has written. Where nothing was saved before, each has its own.
	 */
	establishContext(definition: Definition, { staticData }: Workflow): void {
		if (definition.staticData !== 'null') this.workflowOf(definition, staticData);
	}

	/** Saves static data that has changed, as n8n does after a webhook call and after an execution: last write wins. */
	saveStaticData(definition: Definition, workflow: Workflow): void {
		if (workflow.staticData.__dataChanged !== true) return;
		definition.staticData = JSON.stringify(workflow.staticData);
		workflow.staticData.__dataChanged = false;
	}

	additionalData(definition: Definition, executionId?: string): IWorkflowExecuteAdditionalData {
		const { url } = this.host;
		return {
			credentialsHelper: credentialsHelper(definition.credentials),
			executionId,
			currentNodeExecutionIndex: 0,
			variables: {},
			restApiUrl: `${url}/rest`,
			instanceBaseUrl: `${url}/`,
			webhookBaseUrl: `${url}/webhook`,
			webhookWaitingBaseUrl: `${url}/webhook-waiting`,
			webhookTestBaseUrl: `${url}/webhook-test`,
			formWaitingBaseUrl: `${url}/form-waiting`,
			setExecutionStatus: () => undefined,
		} as unknown as IWorkflowExecuteAdditionalData;
	}

	/** Starts a new execution at a node that gives out these items. */
	start(
		definition: Definition,
		mode: WorkflowExecuteMode,
		at: { node: INode; items: INodeExecutionData[][] },
	): Execution {
		const data = createRunExecutionData({
			executionData: {
				nodeExecutionStack: [{ node: at.node, data: { main: at.items }, source: null }],
			},
		});
		return this.begin(definition, mode, data);
	}

	/** Retries a failed execution, as the button in its list does: a new execution that begins at the node that failed. */
	retry(failed: string, changed?: Definition): Execution {
		const saved = this.read(failed);
		if (saved?.row.status !== 'error') throw new Error(`Execution ${failed} has not failed`);
		const definition = changed ?? saved.row.definition;
		return this.begin(definition, 'retry', dataOfRetry(saved.data, this.workflowOf(definition)));
	}

	private begin(
		definition: Definition,
		mode: WorkflowExecuteMode,
		data: IRunExecutionData,
	): Execution {
		const id = String(this.rows.size + 1);
		const row: Row = {
			id,
			mode,
			definition,
			status: 'running',
			data: stringify(data),
			period: Promise.reject(new Error('not started')),
			stop: () => undefined,
			logsFrom: logLines.length,
		};
		row.period.catch(() => undefined);
		this.rows.set(id, row);
		this.go(row, data);
		return this.handle(row);
	}

	/** The saved state of an execution, freshly read. */
	read(id: string): { row: Readonly<Row>; data: IRunExecutionData } | undefined {
		const row = this.rows.get(id);
		return row === undefined
			? undefined
			: { row, data: parse(row.data) as unknown as IRunExecutionData };
	}

	/** Lets a sleeping execution run on with this data. False if another call was faster. */
	resume(id: string, data: IRunExecutionData): boolean {
		const row = this.rows.get(id);
		if (row?.status !== 'waiting') return false;
		row.status = 'running';
		this.go(row, data);
		return true;
	}

	handle(row: Pick<Row, 'id'>): Execution {
		const the = () => this.rows.get(row.id) as Row;
		const settled = async () => resultOf(await the().period, the());
		return {
			id: row.id,
			get status() {
				return the().status;
			},
			settled,
			stop: () => the().stop(),
		};
	}

	all(): Execution[] {
		return [...this.rows.values()].map((row) => this.handle(row));
	}

	private go(row: Row, data: IRunExecutionData): void {
		const run = this.execute(row, data);
		row.period = run;
		run.catch(() => undefined);
	}

	private async execute(row: Row, data: IRunExecutionData): Promise<IRun> {
		const { definition, id, mode } = row;
		const workflow = this.workflowOf(definition);
		await workflow.expression.acquireIsolate?.();
		const additionalData = this.additionalData(definition, id);
		additionalData.hooks = new ExecutionLifecycleHooks(mode, id, {
			id: definition.id,
			name: definition.id,
			active: true,
			isArchived: false,
			createdAt: new Date(),
			updatedAt: new Date(),
			activeVersionId: '1',
			connections: definition.connections,
			nodes: definition.nodes,
		});
		const execution = new WorkflowExecute(additionalData, mode, data).processRunExecutionData(
			workflow,
		);
		row.stop = () => execution.cancel();
		const run = await execution;
		if (run.waitTill !== undefined && run.waitTill !== null) await this.beforeSaving();
		if (mode !== 'manual') this.saveStaticData(definition, workflow);
		row.data = stringify(run.data);
		row.status = run.status as Status;
		return run;
	}
}

/**
 * The saved data of a failed execution as n8n's Retry ("with currently saved workflow") hands it to the next one: without
 * the end of the node that failed, and with the node as the workflow has it now.
 */
function dataOfRetry(data: IRunExecutionData, workflow: Workflow): IRunExecutionData {
	const { resultData } = data;
	delete resultData.error;
	const last = resultData.runData[resultData.lastNodeExecuted ?? ''];
	if (last?.at(-1)?.error !== undefined) last.pop();
	for (const entry of data.executionData?.nodeExecutionStack ?? [])
		entry.node = workflow.getNode(entry.node.name) ?? entry.node;
	return data;
}

function resultOf(run: IRun, { id, logsFrom }: Row): EngineResult {
	const { runData, error } = run.data.resultData;
	const last = (runData.Media ?? runData.Trigger)?.at(-1)?.data?.main;
	return {
		id,
		run,
		output: last?.[0] ?? [],
		errorOutput: last?.[1] ?? [],
		error,
		saved: JSON.stringify(run),
		logs: logLines.slice(logsFrom),
	};
}

const executions = new Executions({ url: 'http://localhost' });

/** Runs a workflow from its first node. The result is that of the node "Media". */
export async function runWorkflow({
	stopWhen,
	retryOf,
	...workflow
}: Pick<Definition, 'types' | 'nodes' | 'connections' | 'credentials'> &
	Pick<EngineOptions, 'stopWhen' | 'retryOf'>): Promise<EngineResult> {
	await prepareEngine();
	const definition = { ...workflow, id: 'engine-test', staticData: 'null' };
	const start = { node: definition.nodes[0] as INode, items: [[{ json: {} }]] };
	const execution =
		retryOf === undefined
			? executions.start(definition, 'trigger', start)
			: executions.retry(retryOf, definition);
	void stopWhen?.then(() => execution.stop());
	return await execution.settled();
}

/** Runs the node "Media" between a source of items and what comes after it. */
export async function runNode(options: EngineOptions): Promise<EngineResult> {
	const { items = [{}], rounds, credentials, stopWhen, retryOf } = options;
	const inputs = options.inputs ?? items.map((json) => ({ json }));
	return await runWorkflow({
		credentials,
		stopWhen,
		retryOf,
		types: { source: source(inputs), noOp, loop: loopOnce(rounds ?? 1), mediaGeneration },
		nodes: [
			node('Source', 'source'),
			node('Loop', 'loop'),
			mediaNode(options),
			node('After', 'noOp'),
			node('Failed', 'noOp'),
		],
		connections:
			rounds === undefined
				? connect(['Source', 'Media'], ['Media', 'After'], ['Media', 'Failed', 1])
				: connect(['Source', 'Loop'], ['Loop', 'Media'], ['Media', 'Loop'], ['Loop', 'After', 1]),
	});
}
