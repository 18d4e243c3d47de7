/** The workflows that the benches run in a real n8n. */
import { setTimeout as delay } from 'node:timers/promises';
import { type ContextOptions, startContext, type TestContext } from '../test/n8n/harness/context';
import { base, chain, generate as made, last, workflowOf } from '../test/n8n/harness/nodes';
import type { Link, Node, Parameters } from '../test/n8n/harness/nodes';
import type { SavedWorkflow } from '../test/n8n/harness/rest';
import type { Say } from './report';

export { called, chain, last, oneItemEach, trigger } from '../test/n8n/harness/nodes';

export const request = (name: string, parameters: Parameters): Node =>
	base(name, ['httpRequest', 4.2], { options: {}, ...parameters });
/** Delivered without files unless told otherwise. */
export const generate = (parameters: Parameters = {}, options: Parameters = {}): Node =>
	made({ downloadOutput: false, ...parameters }, { timeout: 3600, ...options });

export const authorized = (apiKey: string) => ({
	sendHeaders: true,
	headerParameters: { parameters: [{ name: 'Authorization', value: `Bearer ${apiKey}` }] },
});

/** Creates a sound effect without our node. */
export const createRequest = (baseUrl: string, apiKey: string): Node =>
	request('Create', {
		...{ ...authorized(apiKey), method: 'POST', url: `${baseUrl}/v1/task/sound-effect` },
		...{ sendBody: true, specifyBody: 'json' },
		jsonBody: '={{ JSON.stringify({ text: $json.job.text, stand_in: $json.job.standIn }) }}',
	});

/** What one builds from n8n's own nodes: create, wait 5 s, look at all of the batch, until all of it is done. */
export function requestLoop(baseUrl: string, apiKey: string, batchSize: number) {
	const withKey = authorized(apiKey);
	const allDone = {
		id: 'done',
		leftValue: "={{ $input.all().every((item) => item.json.status === 'done') }}",
		rightValue: '',
		operator: { type: 'boolean', operation: 'true', singleValue: true },
	};
	const nodes: Node[] = [
		base('Loop', ['splitInBatches', 3], { batchSize, options: {} }),
		createRequest(baseUrl, apiKey),
		base('Wait', ['wait', 1.1], { resume: 'timeInterval', amount: 5, unit: 'seconds' }),
		request('Look', { ...withKey, url: `=${baseUrl}/v1/task/{{ $json.task_id ?? $json.id }}` }),
		base('All Done?', ['if', 2.2], {
			conditions: {
				options: { caseSensitive: true, leftValue: '', typeValidation: 'loose', version: 2 },
				combinator: 'and',
				conditions: [allDone],
			},
			options: {},
		}),
		last(),
	];
	const links: Link[] = [
		['Loop', 'Last', 0],
		['Loop', 'Create', 1],
		['Create', 'Wait'],
		['Wait', 'Look'],
		['Look', 'All Done?'],
		['All Done?', 'Loop', 0],
		['All Done?', 'Wait', 1],
	];
	return { nodes, links };
}

/** Saves a workflow in n8n and publishes it. */
export async function publish(
	{ rest, credential }: TestContext,
	name: string,
	nodes: Node[],
	links: Link[] = chain(nodes),
): Promise<SavedWorkflow> {
	const saved = await rest.createWorkflow(workflowOf(name, nodes, credential, links));
	await rest.publish(saved);
	return saved;
}

/** What is done in an n8n of its own, which is ended after it. */
export const inN8n =
	<T>(options: ContextOptions, work: (context: TestContext, say: Say) => Promise<T>) =>
	async (say: Say): Promise<T> => {
		const context = await startContext(options);
		try {
			return await work(context, say);
		} finally {
			await context.close();
		}
	};

/** The most that n8n's processes hold above what they held before, in MB. @param look what else is done at each look */
export async function growthMb(
	{ n8n }: TestContext,
	work: () => Promise<unknown>,
	{ look, everyMs = 20 }: { look?: () => Promise<void>; everyMs?: number } = {},
): Promise<number> {
	const idle = n8n.memory();
	let [peak, isOver] = [idle, false];
	const watching = (async () => {
		while (!isOver) {
			await look?.();
			peak = Math.max(peak, n8n.memory());
			await delay(everyMs);
		}
	})();
	await work().finally(() => (isOver = true));
	await watching;
	return (peak - idle) / 1024 / 1024;
}
