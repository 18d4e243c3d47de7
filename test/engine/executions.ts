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
	type INodeTypes,
	type IRun,
	type IRunExecutionData,
	type IWorkflowExecuteAdditionalData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';
import { BackendLogger } from './container';
import { credentialsHelper, dataOfRetry, type EngineOptions, type EngineResult } from './engine';

/** A workflow as it is saved. */
export interface Definition {
	id: string;
	nodes: INode[];
	connections: IConnections;
	types: Record<string, INodeType>;
	credentials: EngineOptions['credentials'];
	/** What `getWorkflowStaticData` has kept, as text. */
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
	/** The URL that wakes it by its node with this ID, with n8n's token. */
	resumeUrl(nodeId?: string): string;
	/** Resolves as soon as the execution sleeps or is over. */
	settled(): Promise<EngineResult>;
	/** Passes the node by, as n8n does when the time to sleep is over. Resolves when the rest of the workflow is through. */
	deadline(): Promise<EngineResult>;
	/** Stops it, as the button does. */
	stop(): void;
}

export class Executions {
	private readonly rows = new Map<string, Row>();

	/** Runs before an execution is saved as asleep: what arrives meanwhile meets a running one. */
	beforeSaving: () => Promise<void> = async () => await Promise.resolve();

	constructor(private readonly host: { url: string }) {}

	workflowOf(definition: Definition): Workflow {
		const nodeTypes = {
			getByName: (type: string) => definition.types[type] as INodeType,
			getByNameAndVersion: (type: string) => definition.types[type] as INodeType,
			getKnownTypes: () => ({}),
		} as INodeTypes;
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
			nodeTypes,
			staticData: JSON.parse(definition.staticData) as IDataObject,
			settings: { executionOrder: 'v1' },
		});
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
	retry(failed: Execution): Execution {
		const saved = this.read(failed.id);
		if (saved?.row.status !== 'error') throw new Error(`Execution ${failed.id} has not failed`);
		const { definition } = saved.row;
		const data = dataOfRetry(saved.data, this.workflowOf(definition));
		return this.begin(definition, 'retry', data);
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
			logsFrom: BackendLogger().lines.length,
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
		const { host } = this;
		return {
			id: row.id,
			get status() {
				return the().status;
			},
			resumeUrl: (nodeId = 'id-Media') => {
				const url = new URL(`${host.url}/webhook-waiting/${row.id}/${nodeId}`);
				url.searchParams.set('signature', this.read(row.id)?.data.resumeToken ?? '');
				return url.href;
			},
			settled,
			deadline: async () => {
				await the().period;
				const saved = this.read(row.id);
				if (saved === undefined || !this.resume(row.id, saved.data))
					throw new Error(`Execution ${row.id} is not asleep`);
				return await settled();
			},
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

/** @param node whose output counts */
function resultOf(run: IRun, { logsFrom }: Row, node = 'Media'): EngineResult {
	const { runData, error } = run.data.resultData;
	const last = (runData[node] ?? runData.Trigger)?.at(-1)?.data?.main;
	return {
		run,
		output: last?.[0] ?? [],
		errorOutput: last?.[1] ?? [],
		error,
		saved: JSON.stringify(run),
		logs: BackendLogger().lines.slice(logsFrom),
	};
}
