import { setTimeout as delay } from 'node:timers/promises';
import { startService } from '../service';
import type { TestContext } from '../n8n/harness/context';
import { isFinished, type ExecutionSummary } from '../n8n/harness/execution';
import { RestError, type SavedWorkflow } from '../n8n/harness/rest';
import { startScriptedModel } from '../n8n/harness/scriptedModel';
import { waitUntil } from '../n8n/harness/wait';
import type { Workflow } from '../n8n/harness/workflow';
import type { Case, Plan } from './case';
import { type Evidence, type RawExecution, type Saved, savedOf, type Workflows } from './evidence';
import { pathOf } from './steps';

/** How long a workflow may take: six items that sleep one after another, each 80 s where its callback came too early (`suspend/watch`). */
const PATIENCE_MS = 600_000;
const LOOK_MS = 1_000;
const SECRET = 'a-callback-secret-of-a-test';

/** While n8n is down, or busy, a request is made again. What can't be repeated is not. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
	const deadline = Date.now() + 90_000;
	for (;;) {
		try {
			return await work();
		} catch (error) {
			const isFinal =
				error instanceof RestError && ![401, 404, 500, 502, 503].includes(error.status);
			if (isFinal || Date.now() > deadline) throw error;
			await delay(500);
		}
	}
}

/** A workflow as n8n takes it, with what differs from one n8n to the next. */
function filledIn(workflow: Workflow, values: Partial<Record<string, string>>): Workflow {
	const text = JSON.stringify(workflow).replace(/__([A-Z_]+)__/g, (all, name: string) => {
		const value = values[name];
		if (value === undefined) throw new Error(`Nothing stands for ${all}`);
		return value;
	});
	return JSON.parse(text) as Workflow;
}

/** Plays a case in this n8n: its service is its own, so that its books and faults are. Close the service after judging. */
export async function play(played: Case, rest: Rest): Promise<Evidence> {
	const service = await startService({ seed: played.seed, settings: played.service });
	for (const fault of played.faults) service.faults.add(fault);
	const model = await startScriptedModel(played.main.script ?? ['Done.']);
	const name = `Account of ${played.seed}`;
	const credentialOf = async (title: string, type: string, data: Record<string, unknown>) =>
		await patiently(async () => await rest.createCredential(title, type, data));
	const account = {
		apiKey: service.apiKey,
		baseUrl: service.baseUrl,
		callbackSecret: SECRET,
	};
	const credentials = [await credentialOf(name, 'mediaGenerationApi', account)];
	if (played.hasTwoCredentials)
		credentials.push(await credentialOf(`${name}, a copy`, 'mediaGenerationApi', account));
	const modelCredential = await credentialOf(`Model of ${played.seed}`, 'openAiApi', {
		apiKey: 'scripted',
		url: model.url,
	});
	const values: Partial<Record<string, string>> = {
		OTHER_URL: service.otherUrl,
		MODEL: modelCredential.id,
	};
	const workflows: Array<Workflows[number]> = [];
	const save = async (plan: Plan): Promise<SavedWorkflow> => {
		const given = filledIn(plan.graph.workflow(), values);
		for (const [index, { credentials: named }] of given.nodes.entries()) {
			const own = credentials[index % credentials.length];
			if (named?.mediaGenerationApi && own !== undefined)
				named.mediaGenerationApi = { id: own.id, name: own.name };
		}
		const workflow = await patiently(async () => await rest.createWorkflow(given));
		workflows.push({ plan, workflow, as: { ...given, id: workflow.id } });
		return workflow;
	};
	if (played.child !== undefined) {
		const child = await save(played.child);
		await patiently(async () => await rest.publish(child));
		values.CHILD = child.id;
	}
	await save(played.main);

	const unfinished = await run(played, rest, workflows);
	const read = async ({ plan, workflow }: Workflows[number]): Promise<Saved[]> => {
		const all = await patiently(async () => await rest.listExecutions(workflow.id));
		return await Promise.all(
			all.map(async ({ id }) => {
				const raw = async () => await rest.request<RawExecution>('GET', `/executions/${id}`);
				return savedOf(await patiently(raw), plan);
			}),
		);
	};
	const readAll = async () => (await Promise.all(workflows.map(read))).flat();
	let executions = await readAll();
	// After a restart n8n goes on with an execution that it has called crashed, as it wakes sleepers first.
	for (
		let looks = 0;
		looks < 30 && executions.some(({ status }) => !isFinished(status));
		looks += 1
	) {
		await delay(LOOK_MS);
		executions = await readAll();
	}
	await model.close();
	const secrets = [service.apiKey, SECRET];
	const asSaved = workflows.map(({ as }) => as);
	const workflowsNow = { workflows: asSaved, executions, unfinished };
	return { played, service, ...workflowsNow, killedAt: [], log: '', secrets };
}

type Rest = TestContext['rest'];

/** Starts a workflow by hand, or by a call of its published webhook, whose answer nobody waits for. */
function startOf(rest: Rest, workflow: SavedWorkflow, path: string | undefined) {
	if (path === undefined) {
		const first = async () => await rest.runManually(workflow, 'Start 1');
		return { first, again: first };
	}
	return {
		first: async () => await rest.startByWebhook(workflow, path),
		again: async () => {
			void rest.callWebhook(path).catch(() => undefined);
			// A busy n8n begins with it when the first one is over, and its tasks count.
			await waitUntil(async () => (await rest.listExecutions(workflow.id, 2)).length > 1, {
				what: `The second execution of ${path}`,
			});
		},
	};
}

/** Starts the workflow, does what the events say, and waits until nothing goes on any more. @returns what did not end */
async function run(
	{ seed, main, start, events }: Case,
	rest: Rest,
	workflows: Workflows,
): Promise<string[]> {
	const workflow = workflows.find(({ plan }) => plan === main)?.workflow;
	if (workflow === undefined) throw new Error('The workflow was not saved');
	const began = Date.now();
	// Where n8n is killed before it answers, there may be two executions, which is a case as well.
	const started = startOf(rest, workflow, start === 'manual' ? undefined : pathOf(seed));
	const first = await patiently(started.first);
	const doing: Array<Promise<unknown>> = [];
	const later = (ms: number | undefined, work: () => Promise<unknown>) => {
		// What n8n refuses, as it is down or the execution over, does not happen.
		if (ms !== undefined)
			doing.push(
				delay(ms)
					.then(work, () => undefined)
					.catch(() => undefined),
			);
	};
	later(events.stopAfterMs, async () => await rest.stopExecution(first));
	later(events.againAfterMs, started.again);
	await Promise.all(doing);
	let retries = events.retries;
	for (;;) {
		const open: ExecutionSummary[] = [];
		for (const { workflow: each } of workflows) {
			const all = await patiently(async () => await rest.listExecutions(each.id));
			open.push(...all.filter(({ status }) => !isFinished(status)));
			// n8n offers Retry again where the one that succeeded has slept; who sees that it has succeeded needs no other one.
			const done = all.flatMap(({ status, retryOf }) => (status === 'success' ? retryOf : []));
			const failed = all.find(
				({ id, status }) => (status === 'error' || status === 'crashed') && !done.includes(id),
			);
			if (each !== workflow || open.length > 0 || failed === undefined || retries === 0) continue;
			retries -= 1;
			await rest.retryExecution(failed.id, events.retriesCurrent).catch(() => undefined);
			open.push(failed);
		}
		if (open.length === 0) return [];
		if (Date.now() - began > PATIENCE_MS) return open.map(({ id, status }) => `${id} (${status})`);
		await delay(LOOK_MS);
	}
}
