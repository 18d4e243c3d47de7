/** The workflows of these suites, small enough to be written in code. */
import { type ExecutionStatus, isFinished } from '../n8n/harness/execution';
import {
	called,
	generate,
	last,
	type Node,
	oneItemEach,
	type Parameters,
} from '../n8n/harness/nodes';
import { endless } from '../n8n/asleep/workbench';
import type { SavedWorkflow } from '../n8n/harness/rest';
import { waitUntil } from '../n8n/harness/wait';
import type { QueueContext } from './context';

/** `POST /webhook/PATH { jobs }` makes one task for each job; what comes out is in the node `Generate`. */
export const generating = (path: string, fields?: Parameters, options?: Parameters): Node[] => [
	called(path),
	oneItemEach(),
	generate(fields, options, { onError: 'continueRegularOutput' }),
	last(),
];

/** How many executions sleep at once in the suites of many: `--sleepers`. */
export const sleepers = Number(process.env.MEDIA_GENERATION_SLEEPERS ?? '') || 100;
const patience = { timeoutMs: 180_000 + sleepers * 4_000, intervalMs: 1_000 };

/** {@link sleepers} executions of one workflow, each asleep on an endless task. */
export async function manyAsleep(context: QueueContext, name: string): Promise<SavedWorkflow> {
	const fields = { waitMode: 'callback', downloadOutput: false };
	const options = { gracePeriod: 0, timeout: 86_400 };
	const { rest, cluster } = context;
	const workflow = await context.publish(generating(name, fields, options));
	const starting = Array.from({ length: 8 }, async (_, from) => {
		for (let index = from; index < sleepers; index += 8) {
			await rest.callWebhook(name, { jobs: [endless(`${name} ${index}`)] });
		}
	});
	await Promise.all(starting);
	const { id } = workflow;
	await waitUntil(async () => (await cluster.database.statuses(id)).waiting === sleepers, {
		...patience,
		what: `${sleepers} sleeping executions`,
	});
	return workflow;
}

/** Waits until none of them runs or sleeps any more, without a question to n8n, which may be away. */
export async function manyOver({ cluster }: QueueContext, { id }: SavedWorkflow): Promise<void> {
	const statuses = async () => await cluster.database.statuses(id);
	await waitUntil(
		async () => Object.keys(await statuses()).every((it) => isFinished(it as ExecutionStatus)),
		{ ...patience, what: 'The end of all executions' },
	).catch(async (error: Error) => {
		throw new Error(`${error.message}: ${JSON.stringify(await statuses())}`);
	});
}
