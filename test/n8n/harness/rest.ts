import {
	type Execution,
	type ExecutionSummary,
	type BinaryEntry,
	isFinished,
	readExecution,
} from './execution';
import { fetch } from './http';
import { atLeast } from './version';
import { waitUntil } from './wait';
import type { Workflow } from './workflow';

export interface Owner {
	email: string;
	password: string;
}

/** The login of every n8n that tests start. */
export const testOwner: Owner = { email: 'owner@example.com', password: 'Passw0rd-for-tests' };

export interface SavedWorkflow {
	id: string;
	name: string;
	versionId: string;
	active: boolean;
}

export interface SavedCredential {
	id: string;
	name: string;
	type: string;
}

/** The first version that was seen to run a saved workflow by its ID alone. */
const RUNS_SAVED = '2.41';
/** n8n lists no more executions at once. */
const PAGE_SIZE = 100;

/** An answer of n8n's REST interface that is not 2xx. */
export class RestError extends Error {
	constructor(
		readonly method: string,
		readonly path: string,
		readonly status: number,
		readonly body: string,
	) {
		super(`${method} ${path} answered ${status}: ${body.slice(0, 500)}`);
	}
}

/** n8n's own REST interface, the one its editor uses, with the login cookie. Not the public API: that one needs a key and can't run workflows. */
export class Rest {
	private cookie = '';

	constructor(readonly baseUrl: string) {}

	/** One request to `/rest/...`; the answer's `data`. */
	async request<T>(method: string, path: string, body?: unknown): Promise<T> {
		const response = await fetch(`${this.baseUrl}/rest${path}`, {
			method,
			headers: {
				cookie: this.cookie,
				...(body === undefined ? {} : { 'content-type': 'application/json' }),
			},
			body: body === undefined ? undefined : JSON.stringify(body),
		});
		const text = await response.text();
		if (!response.ok) throw new RestError(method, path, response.status, text);
		for (const entry of response.headers.getSetCookie()) {
			if (entry.startsWith('n8n-auth=')) this.cookie = entry.split(';', 1)[0] ?? '';
		}
		return text === '' ? (undefined as T) : (JSON.parse(text) as { data: T }).data;
	}

	/** Makes the owner of a fresh n8n; this client is logged in afterwards. */
	async ownerSetup(owner: Owner = testOwner): Promise<void> {
		await this.request('POST', '/owner/setup', { ...owner, firstName: 'Media', lastName: 'Owner' });
	}

	async login({ email, password }: Owner = testOwner): Promise<void> {
		await this.request('POST', '/login', { emailOrLdapLoginId: email, password });
	}

	createCredential(name: string, type: string, data: object): Promise<SavedCredential> {
		return this.request('POST', '/credentials', { name, type, data });
	}

	updateCredential(
		id: string,
		name: string,
		type: string,
		data: Record<string, unknown>,
	): Promise<SavedCredential> {
		return this.request('PATCH', `/credentials/${id}`, { name, type, data });
	}

	listCredentials(): Promise<SavedCredential[]> {
		return this.request('GET', '/credentials');
	}

	/** What the editor's "Test" button does. */
	testCredential(
		credential: SavedCredential,
		data: Record<string, unknown>,
	): Promise<{ status: 'OK' | 'Error'; message: string }> {
		return this.request('POST', '/credentials/test', { credentials: { ...credential, data } });
	}

	createWorkflow(workflow: Workflow): Promise<SavedWorkflow> {
		return this.request('POST', '/workflows', workflow);
	}

	listWorkflows(): Promise<SavedWorkflow[]> {
		return this.request('GET', '/workflows?includeScopes=false');
	}

	/** Publishes the workflow's present version: its webhooks and triggers go live within a second or two. */
	publish(workflow: SavedWorkflow): Promise<SavedWorkflow> {
		return this.request('POST', `/workflows/${workflow.id}/activate`, {
			versionId: workflow.versionId,
		});
	}

	unpublish(workflow: SavedWorkflow): Promise<SavedWorkflow> {
		return this.request('POST', `/workflows/${workflow.id}/deactivate`, {});
	}

	/** Runs a workflow as the editor's button does, from the trigger with this name; the execution's id. */
	async runManually(workflow: SavedWorkflow, triggerName: string): Promise<string> {
		const { executionId } = await this.start(workflow, triggerName);
		if (executionId === undefined)
			throw new Error(`"${triggerName}" waits for a call of its test webhook`);
		return executionId;
	}

	/** Has the editor listen for one test event at the trigger with this name. Whether it does. */
	async listen(workflow: SavedWorkflow, triggerName: string): Promise<boolean> {
		return (await this.start(workflow, triggerName)).waitingForWebhook === true;
	}

	private async start(
		{ id }: SavedWorkflow,
		name: string,
	): Promise<{ executionId?: string; waitingForWebhook?: boolean }> {
		// Older versions run what they are sent instead of what is saved.
		const workflowData = atLeast(RUNS_SAVED)
			? undefined
			: await this.request('GET', `/workflows/${id}`);
		return await this.request('POST', `/workflows/${id}/run`, {
			triggerToStartFrom: { name },
			...(workflowData === undefined ? {} : { workflowData }),
		});
	}

	/** Reads an execution with its data. */
	async execution(id: string): Promise<Execution> {
		return readExecution(await this.request('GET', `/executions/${id}`));
	}

	/** Waits until the execution is over. */
	async waitForExecution(id: string): Promise<Execution> {
		return await waitUntil(
			async () => {
				const execution = await this.execution(id);
				return isFinished(execution.status) && execution;
			},
			{ what: `The end of execution ${id}` },
		);
	}

	/** Waits until the execution sleeps. Fails where it has finished instead. */
	async waitForSleep(id: string): Promise<Execution> {
		return await waitUntil(
			async () => {
				const execution = await this.execution(id);
				const { status, resultData } = execution;
				if (isFinished(status))
					throw new Error(
						`Execution ${id} did not sleep: ${status}, ${resultData.error?.message ?? 'no error'}`,
					);
				return status === 'waiting' && execution;
			},
			{ what: `The sleep of execution ${id}` },
		);
	}

	/** The newest executions first; running ones among them. */
	async listExecutions(workflowId: string, limit = Infinity): Promise<ExecutionSummary[]> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		// A new execution may come between two pages and move the others.
		const all = new Map<string, ExecutionSummary>();
		for (let from = ''; ;) {
			const page = await this.request<{
				results: ExecutionSummary[];
				nextCursor?: string | null;
			}>('GET', `/executions?filter=${filter}&limit=${Math.min(limit, PAGE_SIZE)}${from}`);
			for (const execution of page.results) all.set(execution.id, execution);
			if (!page.nextCursor || all.size >= limit) return [...all.values()].slice(0, limit);
			from = `&cursor=${encodeURIComponent(page.nextCursor)}`;
		}
	}

	/** Waits until the workflow has `count` executions that are over, e.g. after calls of its webhook; oldest first. */
	async waitForExecutions(
		workflowId: string,
		count: number,
		timeoutMs?: number,
	): Promise<Execution[]> {
		const finished = await waitUntil(
			async () => {
				const all = (await this.listExecutions(workflowId)).filter(({ status }) =>
					isFinished(status),
				);
				return all.length >= count && all;
			},
			{ timeoutMs, what: `${count} finished executions of workflow ${workflowId}` },
		);
		return Promise.all(finished.reverse().map(({ id }) => this.waitForExecution(id)));
	}

	/** Runs a workflow as {@link runManually} does, to its end. */
	async run(workflow: SavedWorkflow, triggerName: string): Promise<Execution> {
		return await this.waitForExecution(await this.runManually(workflow, triggerName));
	}

	/** Publishes a workflow that has never run and calls its webhook, whose answer nobody waits for; the execution that this starts. */
	async startByWebhook(workflow: SavedWorkflow, path: string): Promise<string> {
		await this.publish(workflow);
		void this.callWebhook(path).catch(() => undefined);
		const { id } = await waitUntil(async () => (await this.listExecutions(workflow.id, 1))[0], {
			what: 'The execution',
		});
		return id;
	}

	/** n8n's Retry of a failed execution, with the workflow as it was, or as it is saved now; the new one's id, as soon as it is over or asleep. */
	async retryExecution(id: string, loadWorkflow = false): Promise<string> {
		const body = { loadWorkflow };
		return (await this.request<{ id: string }>('POST', `/executions/${id}/retry`, body)).id;
	}

	async stopExecution(id: string): Promise<void> {
		await this.request('POST', `/executions/${id}/stop`);
	}

	/** The bytes of a file in an item, from wherever n8n keeps them. */
	async download(entry: BinaryEntry): Promise<Buffer> {
		if (entry.id === undefined) return Buffer.from(entry.data ?? '', 'base64');
		const query = new URLSearchParams({ id: entry.id, action: 'download' });
		const response = await fetch(`${this.baseUrl}/rest/binary-data?${query}`, {
			headers: { cookie: this.cookie },
		});
		if (!response.ok)
			throw new RestError('GET', '/binary-data', response.status, await response.text());
		return Buffer.from(await response.arrayBuffer());
	}

	/** Calls a published webhook (`/webhook/<path>`), again after 404: after publishing it takes a moment to be live. */
	async callWebhook(path: string, body: unknown = {}): Promise<{ status: number; text: string }> {
		return waitUntil(
			async () => {
				const response = await fetch(`${this.baseUrl}/webhook/${path}`, {
					method: 'POST',
					headers: { 'content-type': 'application/json' },
					body: JSON.stringify(body),
				});
				const text = await response.text();
				return response.status !== 404 && { status: response.status, text };
			},
			{ what: `An answer of the webhook ${path}` },
		);
	}
}
