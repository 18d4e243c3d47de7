/**
 * Two hundred sleeping executions that are called within seconds: ours beside n8n's own Wait node, in the same n8n, once as n8n
 * comes and once with its expression engine on demand (docs/operations.md).
 */
import type { TestContext } from '../test/n8n/harness/context';
import type { SavedWorkflow } from '../test/n8n/harness/rest';
import { waitUntil } from '../test/n8n/harness/wait';
import { inBothEngines, rateMarks } from './engines';
import { postAll, type Post } from './posting';
import { mark, times, type Bench } from './report';
import { check, mean, quantile } from './stats';
import type { Node } from '../test/n8n/harness/nodes';
import { called, generate, last, oneItemEach, publish, request } from './workflows';

const sleepers = 200;
const warmUp = 20;
/** In turns, so that neither has the younger n8n. */
const rounds = 4;

interface Way {
	label: string;
	path: string;
	ours: boolean;
	nodes(context: TestContext): Node[];
	/** For executions that sleep, since the stand-in was reset. */
	calls(context: TestContext): Promise<Post[]>;
}

const waitNode: Node = {
	name: 'Wait',
	type: 'n8n-nodes-base.wait',
	typeVersion: 1.1,
	webhookId: 'waking-wait',
	parameters: { resume: 'webhook', httpMethod: 'POST', options: {} },
};

const ways: Way[] = [
	{
		label: "n8n's Wait node, on webhook call",
		path: 'wait',
		ours: false,
		nodes: ({ service }) => [
			request('Tell', {
				method: 'POST',
				url: `${service.otherUrl}/sleeper`,
				sendBody: true,
				specifyBody: 'json',
				jsonBody: '={{ JSON.stringify({ url: $execution.resumeUrl }) }}',
			}),
			waitNode,
		],
		calls: async ({ service }) =>
			await Promise.resolve(
				service.requests
					.filter(({ url }) => url.endsWith('/sleeper'))
					.map(({ body }) => ({ url: (body as { url: string }).url, body: '{}' })),
			),
	},
	{
		label: 'ours, Suspend Until Callback',
		path: 'ours',
		ours: true,
		nodes: () => [generate({ waitMode: 'callback' }, { gracePeriod: 0, watchWhileAsleep: false })],
		calls: async ({ service }) =>
			await Promise.all(
				service.creations().map(async ({ id, receiveUrl }) => {
					await service.finish(id);
					return { url: receiveUrl ?? '', body: JSON.stringify(service.payload(id)) };
				}),
			),
	},
];

interface Outcome {
	perSecond: number;
	/** From the first call to the end of an execution. */
	meanS: number;
	answersP95Ms: number;
}

/** Puts executions to sleep, calls them, and waits until all are over. */
async function wake(
	context: TestContext,
	way: Way,
	{ id }: SavedWorkflow,
	count = sleepers,
): Promise<Outcome> {
	const { n8n, rest, service } = context;
	service.reset();
	service.settings.callbacks.drop = true;
	const before = (await rest.listExecutions(id)).length;
	for (let index = 0; index < count; index += 1) {
		const jobs = [{ text: `${way.path} ${index}`, standIn: { never_ends: true } }];
		await rest.callWebhook(way.path, { jobs });
	}
	const inState = async (status: string) =>
		(await rest.listExecutions(id)).filter((execution) => execution.status === status);
	await waitUntil(async () => (await inState('waiting')).length === count, {
		timeoutMs: 300_000,
		intervalMs: 1_000,
		what: `${count} sleeping executions`,
	});
	const calls = await way.calls(context);
	check(calls.length === count, `${calls.length} calls for ${count} executions`);
	const startedAt = Date.now();
	const answerMs = await postAll(n8n.baseUrl, calls);
	const ended = await waitUntil(
		async () => {
			const all = await inState('success');
			return all.length >= before + count ? all : undefined;
		},
		{ timeoutMs: 300_000, intervalMs: 500, what: `${count} finished executions` },
	);
	const seconds = ended
		.map(({ stoppedAt }) => (Date.parse(stoppedAt ?? '') - startedAt) / 1000)
		.filter((at) => at > 0);
	check(seconds.length === count, `${seconds.length} executions ended after the calls`);
	return {
		perSecond: count / Math.max(...seconds),
		meanS: mean(seconds),
		answersP95Ms: quantile(answerMs, 0.95),
	};
}

interface Result {
	way: Way;
	outcomes: Outcome[];
}

async function compare(context: TestContext, say: (line: string) => void): Promise<Result[]> {
	const results: Array<Result & { workflow: SavedWorkflow }> = [];
	for (const way of ways) {
		const nodes = [called(way.path), oneItemEach(), ...way.nodes(context), last()];
		const workflow = await publish(context, way.path, nodes);
		await wake(context, way, workflow, warmUp);
		results.push({ way, workflow, outcomes: [] });
	}
	for (let round = 0; round < rounds; round += 1) {
		for (const result of round % 2 === 0 ? results : [...results].reverse()) {
			const outcome = await wake(context, result.way, result.workflow);
			say(`${result.way.label}: ${outcome.perSecond.toFixed(1)} a second`);
			result.outcomes.push(outcome);
		}
	}
	return results;
}

const of = ({ outcomes }: Result, key: keyof Outcome) =>
	mean(outcomes.map((outcome) => outcome[key]));

/** Ours beside n8n's. */
const ratioOf = ([theirs, ours]: Result[], key: keyof Outcome) =>
	theirs === undefined || ours === undefined ? NaN : of(ours, key) / of(theirs, key);

export const bench: Bench = {
	title: `${sleepers} sleeping executions that are called within seconds`,
	async run(say) {
		const both = await inBothEngines(say, async (context) => await compare(context, say));
		const beside = "mean time from the first call to the end, beside n8n's Wait node";
		return {
			tables: both.map(({ caption, results }) => ({
				caption: `${caption}; mean of ${rounds} rounds in turns. The seconds count from the first call`,
				columns: ['', 'woken and finished/s', "beside n8n's", 'mean s', 'answered, 95% within ms'],
				rows: results.map((result) => [
					...[result.way.label, of(result, 'perSecond')],
					times(ratioOf([results[0] ?? result, result], 'perSecond')),
					...[of(result, 'meanS'), of(result, 'answersP95Ms')],
				]),
			})),
			marks: [
				...rateMarks(both, (results) => ratioOf(results, 'perSecond'), {
					what: ": executions finished a second, beside n8n's Wait node",
					least: [0.9, 0.9],
				}),
				mark(beside, ratioOf(both[0]?.results ?? [], 'meanS'), [1, 'x']),
			],
			bars: [],
			checked: [
				`each round: ${sleepers} executions asleep, each call answered 200, each execution over after it`,
			],
		};
	},
};
