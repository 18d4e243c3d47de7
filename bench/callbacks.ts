/**
 * Posts to our trigger beside posts to n8n's Webhook node, in the same n8n: once as n8n comes, once with the setting that
 * makes n8n open its expression engine only where there is an expression (docs/operations.md).
 */
import type { TestContext } from '../test/n8n/harness/context';
import { items } from '../test/n8n/harness/execution';
import { waitUntil } from '../test/n8n/harness/wait';
import { inBothEngines, rateMarks } from './engines';
import { atOnce, p95Ms, postAll } from './posting';
import { barsOf, mark, times, type Bench, type Say } from './report';
import { check, median } from './stats';
import { called, last, publish, trigger } from './workflows';

const count = 500;
const rounds = 3;
const warmUp = 60;

function way(path: string, verifies: boolean) {
	const node = trigger(path, { verifyWithService: verifies, downloadOutput: false });
	return { path, url: `${path}/callback`, node, ours: true, verifies };
}

const ways = [
	{
		...way('plain', false),
		url: 'plain',
		node: called('plain'),
		ours: false,
		label: "n8n's Webhook node",
	},
	{ ...way('unverified', false), label: 'our trigger, verification off' },
	{ ...way('verified', true), label: 'our trigger, verified with the service' },
];
type Way = (typeof ways)[number];

/** Tasks of the service that are done, as it would post them. */
async function payloads({ service }: TestContext, wanted: number): Promise<string[]> {
	return await Promise.all(
		Array.from({ length: wanted }, async (_, index) => {
			const taskId = await service.order({ text: `Sound ${index}`, stand_in: { ms: 0 } });
			return JSON.stringify(service.payload(taskId));
		}),
	);
}

async function finished({ rest }: TestContext, workflowId: string): Promise<number> {
	const filter = encodeURIComponent(JSON.stringify({ workflowId, status: ['success'] }));
	const path = `/executions?filter=${filter}&limit=1`;
	return (await rest.request<{ count: number }>('GET', path)).count;
}

/** One round: every answer and every execution is counted. */
async function measure(context: TestContext, { label, url }: Way, id: string, wanted = count) {
	const { n8n, service } = context;
	const bodies = await payloads(context, wanted);
	const before = await finished(context, id);
	const requestsBefore = service.polls().length;
	const startedAt = performance.now();
	const posts = bodies.map((body) => ({ url: `/webhook/${url}`, body }));
	const posted = await postAll(n8n.baseUrl, posts);
	const areTaken = posted.every(({ status }) => status === 200);
	check(areTaken, `${label}: a post was not answered 200`);
	const answeredS = (performance.now() - startedAt) / 1000;
	await waitUntil(async () => (await finished(context, id)) - before >= wanted, {
		intervalMs: 100,
		what: `${wanted} executions of ${label}`,
	});
	const executedS = (performance.now() - startedAt) / 1000;
	check((await finished(context, id)) - before === wanted, `${label}: too many executions`);
	return {
		perSecond: wanted / answeredS,
		executed: wanted / executedS,
		p95Ms: p95Ms(posted),
		requests: (service.polls().length - requestsBefore) / wanted,
	};
}
type Outcome = Awaited<ReturnType<typeof measure>>;
type Result = Outcome & { label: string; ours: boolean };

/** The last executions gave out the tasks that were posted, none twice. */
async function checkItems({ rest }: TestContext, way: Way, workflowId: string): Promise<void> {
	if (!way.ours) return;
	const ids = await Promise.all(
		(await rest.listExecutions(workflowId, 20)).map(async ({ id }) => {
			const [item] = items(await rest.execution(id), 'Last');
			check(item?.json.verified === way.verifies, `${way.label}: not an item of the trigger`);
			return item.json.task_id;
		}),
	);
	check(new Set(ids).size === ids.length, `${way.label}: a task came twice`);
}

/** All ways in one n8n, in turns. */
async function compare(context: TestContext, say: Say): Promise<Result[]> {
	const subjects = await Promise.all(
		ways.map(async (way) => {
			const { id } = await publish(context, way.path, [way.node, last()]);
			return { way, id, outcomes: [] as Outcome[] };
		}),
	);
	for (const { way, id } of subjects) {
		await context.rest.callWebhook(way.url);
		await measure(context, way, id, warmUp);
	}
	for (let round = 0; round < rounds; round += 1) {
		// Another one begins each time, as n8n's database grows.
		for (const subject of [...subjects.slice(round), ...subjects.slice(0, round)]) {
			const outcome = await measure(context, subject.way, subject.id);
			say(`${subject.way.label}: ${outcome.perSecond.toFixed(0)} a second`);
			subject.outcomes.push(outcome);
		}
	}
	for (const { way, id } of subjects) await checkItems(context, way, id);
	return subjects.map(({ way: { label, ours }, outcomes }) => {
		const of = (key: keyof Outcome) => median(outcomes.map((outcome) => outcome[key]));
		const rates = { perSecond: of('perSecond'), executed: of('executed') };
		return { label, ours, ...rates, p95Ms: of('p95Ms'), requests: of('requests') };
	});
}

/** Beside the rate of n8n's Webhook node. */
const besideWebhook = (results: Result[], at: number) =>
	(results[at]?.perSecond ?? NaN) / (results[0]?.perSecond ?? NaN);

export const bench: Bench = {
	title: `${count} callbacks, ${atOnce} at a time`,
	async run(say) {
		const both = await inBothEngines(say, compare);
		const requests = both.flatMap(({ results }) => results.map((result) => result.requests));
		return {
			tables: both.map(({ caption, results }) => ({
				caption: `${caption}; median of ${rounds} rounds in turns`,
				columns: [
					...['', 'answers/s', 'beside Webhook node', 'executions/s', '95% within, ms'],
					'service requests each',
				],
				rows: results.map(({ label, perSecond, executed, p95Ms, requests: each }, at) => [
					...[label, perSecond, times(besideWebhook(results, at)), executed, p95Ms, each],
				]),
			})),
			marks: [
				...rateMarks(both, (results) => besideWebhook(results, 1), {
					what: ", verification off: rate beside n8n's Webhook node",
					least: [0.6, 0.95],
				}),
				mark('service requests a callback', Math.max(...requests), [1, '']),
			],
			bars: barsOf(
				'Callbacks answered a second, as n8n comes',
				['/s', 'more'],
				(both[0]?.results ?? []).map(({ perSecond: value, ...rest }) => ({ ...rest, value })),
			),
			checked: [
				`each round: ${count} answers 200 and exactly ${count} successful executions; no task twice`,
			],
		};
	},
};
