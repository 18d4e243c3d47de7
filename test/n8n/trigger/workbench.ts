import assert from 'node:assert/strict';
import type { Steering } from '../../service';
import type { TestContext } from '../harness/context';
import { type Execution, type Item, items } from '../harness/execution';
import { fetch } from '../harness/http';
import type { SavedCredential, SavedWorkflow } from '../harness/rest';
import { PATIENCE_MS, waitUntil } from '../harness/wait';
import { chain, last, trigger, webhookIdOf, workflowOf } from '../harness/nodes';

export const callbackSecret = 'a-long-random-callback-secret';

export interface Answer {
	status: number;
	body: Record<string, unknown>;
}

/** What the suites of the trigger share: receivers in n8n, tasks at the stand-in, callbacks by hand. */
export class Workbench {
	private readonly published: SavedWorkflow[] = [];

	constructor(readonly context: TestContext) {}

	/**
	 * A workflow that starts with the trigger, published unless told otherwise.
	 * @param path a name of its own for every receiver: it is the webhook's id
	 * @param options.twice with a second trigger, of that name with "-2" behind it
	 */
	async receiver(
		path: string,
		credential: SavedCredential,
		parameters: Record<string, unknown> = {},
		{ publish = true, twice = false } = {},
	) {
		const { rest, n8n } = this.context;
		const nodes = [trigger(path, parameters), last('Goes On')];
		const second = { ...trigger(`${path}-2`, parameters), name: 'Second' };
		const definition = [
			path,
			twice ? [...nodes, second] : nodes,
			credential,
			chain(nodes),
		] as const;
		const workflow = await rest.createWorkflow(workflowOf(...definition));
		const urlOf = (name: string) => `${n8n.baseUrl}/webhook/${webhookIdOf(name)}/callback`;
		const url = urlOf(path);
		if (publish) await this.publish(workflow, url);
		return {
			workflow,
			/** The trigger's Production URL. */
			url,
			/** That of the second one. */
			secondUrl: urlOf(`${path}-2`),
			testUrl: url.replace('/webhook/', '/webhook-test/'),
			runs: async () => await rest.listExecutions(workflow.id),
			/** Waits until `count` runs are over; there must be no more. Oldest first. */
			async ran(count: number) {
				const all = await rest.waitForExecutions(workflow.id, count);
				assert.equal((await rest.listExecutions(workflow.id)).length, count);
				return all;
			},
		};
	}

	/** Publishes a workflow and waits until its webhook takes calls. */
	async publish(workflow: SavedWorkflow, url: string): Promise<void> {
		await this.context.rest.publish(workflow);
		this.published.push(workflow);
		await waitUntil(
			async () => {
				const response = await fetch(url, { method: 'POST' });
				await response.body?.cancel();
				return response.status !== 404;
			},
			{ what: `The webhook ${url}` },
		);
	}

	async close(): Promise<void> {
		for (const workflow of this.published) await this.context.rest.unpublish(workflow);
	}

	/** Creates a task at the stand-in, past n8n. It calls nobody back unless told to. */
	async task(steering: Steering = {}): Promise<string> {
		const { service } = this.context;
		const taskId = await service.order({ stand_in: { ms: 0, no_callback: true, ...steering } });
		await waitUntil(() => service.task(taskId).status !== 'doing', {
			intervalMs: 10,
			what: `The end of task ${taskId}`,
		});
		return taskId;
	}
}

/** Posts to a trigger. */
export async function post(url: string, body: unknown): Promise<Answer> {
	const response = await fetch(url, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify(body),
		signal: AbortSignal.timeout(PATIENCE_MS),
	});
	return { status: response.status, body: (await response.json()) as Answer['body'] };
}

/** The one item that a run of the receiver passed on behind its trigger. */
export function passedOn(execution: Execution): Item {
	assert.equal(execution.status, 'success', execution.resultData.error?.message);
	const [item, ...rest] = items(execution, 'Goes On');
	assert.ok(item, `run ${execution.id} passed nothing on`);
	assert.equal(rest.length, 0);
	return item;
}
