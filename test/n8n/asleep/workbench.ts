import assert from 'node:assert/strict';
import type { Steering, TaskRecord } from '../../service';
import type { TestContext } from '../harness/context';
import { type Execution, type Item, items } from '../harness/execution';
import type { SavedWorkflow } from '../harness/rest';
import { waitUntil } from '../harness/wait';
import {
	base,
	called,
	calledByParent,
	chain,
	generate,
	last,
	limits,
	type Link,
	type Node,
	oneItemEach,
	workflowOf,
} from '../harness/nodes';
import type { Workflow, WorkflowNode } from '../harness/workflow';

/** One input item of the node that suspends. */
export interface Job {
	text: string;
	standIn?: Steering;
	/** Suspends unless told otherwise. */
	mode?: 'poll' | 'callback';
}

/** A published workflow whose node `Generate` suspends: `POST { jobs }` starts it. */
export type Flow = Awaited<ReturnType<typeof publishFlow>>;

/** A job whose task goes on until the test ends it. */
export function endless(text: string, more: Partial<Job> = {}): Job {
	return { text, ...more, standIn: { never_ends: true, ...more.standIn } };
}

export function nodeOf({ nodes }: Workflow, name = 'Generate'): WorkflowNode {
	const node = nodes.find((one) => one.name === name);
	assert.ok(node, `no node ${name}`);
	return node;
}

/** One n8n, or a cluster. */
type Place = Pick<TestContext, 'rest' | 'service' | 'credential'>;

let flows = 0;

/** Its items go on to `Went Well`, which names the job that n8n links each of them to; those of the error branch to `Went Wrong`. */
function sleeping(first: Node, name: string, { credential }: Place): Workflow {
	const linked = "={{ $('One Item Each').item.json.job.text }}";
	const nodes = [
		first,
		oneItemEach(),
		generate(
			{ waitMode: "={{ $json.job.mode ?? 'callback' }}" },
			{ ...limits, maxActiveTasks: 100 },
		),
		base('Went Well', ['set', 3.4], {
			assignments: { assignments: [{ id: '1', name: 'linked', value: linked, type: 'string' }] },
			includeOtherFields: true,
			options: { stripBinary: false },
		}),
	];
	const links: Link[] = [...chain(nodes), ['Generate', 'Went Wrong', 1]];
	return workflowOf(name, [...nodes, last('Went Wrong')], credential, links);
}

/** @param change what the test's workflow has otherwise */
export async function publishFlow(
	context: Place,
	change: (workflow: Workflow) => void = () => undefined,
) {
	const { rest } = context;
	const path = `asleep-${(flows += 1)}`;
	const definition = sleeping(called(path), path, context);
	change(definition);
	const workflow = await rest.createWorkflow(definition);
	await rest.publish(workflow);
	/** Starts an execution and returns its id; it may be over by then. */
	const start = async (jobs: Job[]): Promise<string> => {
		const before = new Set((await rest.listExecutions(workflow.id)).map(({ id }) => id));
		assert.equal((await rest.callWebhook(path, { jobs })).status, 200);
		return await waitUntil(
			async () => {
				const all = await rest.listExecutions(workflow.id);
				// n8n lists a sub-workflow that is given as JSON as one of this workflow.
				return all.find(({ id, mode }) => mode === 'webhook' && !before.has(id))?.id;
			},
			{ what: 'The execution' },
		);
	};
	return {
		start,
		/** Starts one and waits until it sleeps. */
		async asleep(jobs: Job[]): Promise<string> {
			const execution = await start(jobs);
			await rest.waitForSleep(execution);
			return execution;
		},
	};
}

/** The flow as a sub-workflow, and a parent that passes its call on to it. */
export async function subWorkflow(context: Place): Promise<{ parent: Flow; child: SavedWorkflow }> {
	const { rest } = context;
	const definition = sleeping(calledByParent(), 'Sub-workflow', context);
	const child = await rest.createWorkflow(definition);
	await rest.publish(child);
	const call = base('Sub-workflow', ['executeWorkflow', 1.2], {
		workflowId: { __rl: true, mode: 'id', value: child.id },
		options: { waitForSubWorkflow: true },
	});
	const parent = await publishFlow(context, (workflow) => {
		const path = String(nodeOf(workflow, 'Called').webhookId);
		Object.assign(workflow, workflowOf(path, [called(path), call], context.credential));
	});
	return { parent, child };
}

/** The execution after its end; it must have succeeded. */
export async function ended({ rest }: Place, id: string): Promise<Execution> {
	const execution = await rest.waitForExecution(id);
	assert.equal(execution.status, 'success', execution.resultData.error?.message);
	return execution;
}

/** What an item came to: `done`, or its outcome. What failed while an execution slept has its fields in `details` on the error branch. */
export function endOf({ json }: Item): unknown {
	const { unfinished: late, outcome, status } = (json.details ?? json) as Item['json'];
	return late === true ? 'timed out' : (outcome ?? status);
}

/** The text that a task was asked for with. */
export function textOf({ body }: TaskRecord): unknown {
	return body.text ?? body.prompt;
}

/** Every task was paid for once, and the key went nowhere else. */
export function checkPaidOnce({ service }: Place, count: number): void {
	const texts = service.creations().map(textOf);
	assert.equal(texts.length, count, `created: ${texts.join(', ')}`);
	assert.equal(new Set(texts).size, count, `created twice: ${texts.join(', ')}`);
	assert.equal(service.foreignAuthorization(), 0);
}

/** Every item of the executions is done, with the text of its job, in order. */
export function checkDone({ service }: Place, executions: Execution[]): void {
	for (const execution of executions) {
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		const jobs = items(execution, 'One Item Each').map(({ json }) => (json.job as Job).text);
		const done = items(execution, 'Went Well');
		assert.deepEqual(
			done.map(endOf),
			jobs.map(() => 'done'),
		);
		assert.deepEqual(
			done.map(({ json }) => textOf(service.task(String(json.task_id)))),
			jobs,
		);
		assert.ok(
			done.every(({ binary }) => binary?.data !== undefined),
			'an item has no file',
		);
	}
}
