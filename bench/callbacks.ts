/**
 * Posts to our trigger beside posts to n8n's Webhook node, in the same n8n: once as n8n comes, once with the setting that
 * makes n8n open its expression engine only where there is an expression (docs/operations.md).
 */
import type { TestContext } from '../test/n8n/harness/context';
import { items } from '../test/n8n/harness/execution';
import { BothEngines, type Way as Compared } from './engines';
import { type Bench, shown } from './report';
import { atOnce, measure, type Outcome, posts } from './posting';
import { check, median } from './stats';
import { called, last, publish, trigger, type Node } from './workflows';

const rounds = 3;
const warmUp = 60;

interface Way extends Compared {
	/** Below /webhook/. */
	url: string;
	node: Node;
	verifies: boolean;
}

function ways(): Way[] {
	const ourTrigger = (path: string, verifyWithService: boolean) => ({
		path,
		url: `${path}/callback`,
		node: trigger(path, { verifyWithService, downloadOutput: false }),
		ours: true,
		verifies: verifyWithService,
	});
	return [
		{
			label: "n8n's Webhook node",
			path: 'plain',
			url: 'plain',
			node: called('plain'),
			ours: false,
			verifies: false,
		},
		{ label: 'our trigger, verification off', ...ourTrigger('unverified', false) },
		{ label: 'our trigger, verified with the service', ...ourTrigger('verified', true) },
	];
}

/** The last executions gave out the tasks that were posted, none twice. */
async function checkItems(context: TestContext, way: Way, workflowId: string): Promise<void> {
	if (!way.ours) return;
	const executions = await context.rest.listExecutions(workflowId, 20);
	const ids = await Promise.all(
		executions.map(async ({ id }) => {
			const [item] = items(await context.rest.execution(id), 'Last');
			check(item?.json.verified === way.verifies, `${way.label}: not an item of the trigger`);
			return item.json.task_id;
		}),
	);
	check(new Set(ids).size === ids.length, `${way.label}: a task came twice`);
}

interface Result {
	way: Way;
	perSecond: number;
	executed: number;
	p95Ms: number;
	requests: number;
}

/** All ways in one n8n, in turns. */
async function compare(
	context: TestContext,
	say: (line: string) => void,
): Promise<[plain: Result, unverified: Result, verified: Result]> {
	const subjects = await Promise.all(
		ways().map(async (way) => {
			const { id } = await publish(context, way.path, [way.node, last()]);
			return { way, id, outcomes: [] as Outcome[] };
		}),
	);
	for (const { way, id } of subjects) {
		await context.rest.callWebhook(way.url, {}, 20_000);
		await measure(context, way, id, warmUp);
	}
	for (let round = 0; round < rounds; round += 1) {
		// Another one begins each time, as n8n's database grows.
		const order = subjects.map((_, at) => subjects[(at + round) % subjects.length]);
		for (const subject of order) {
			if (subject === undefined) continue;
			const outcome = await measure(context, subject.way, subject.id);
			say(`${subject.way.label}: ${outcome.perSecond.toFixed(0)} a second`);
			subject.outcomes.push(outcome);
		}
	}
	for (const { way, id } of subjects) await checkItems(context, way, id);
	const [plain, unverified, verified] = subjects.map(({ way, outcomes }): Result => {
		const of = (key: keyof Outcome) => median(outcomes.map((outcome) => outcome[key]));
		return {
			way,
			perSecond: of('perSecond'),
			executed: of('executedPerSecond'),
			p95Ms: of('p95Ms'),
			requests: of('requests'),
		};
	});
	check(
		plain !== undefined && unverified !== undefined && verified !== undefined,
		'a way is missing',
	);
	return [plain, unverified, verified];
}

const columns = [
	'',
	'answers/s',
	'beside Webhook node',
	'executions/s',
	'95% within, ms',
	'service requests each',
];

/** Its rate beside n8n's Webhook node. */
const unverified = ([plain, ours]: Result[]) =>
	(ours?.perSecond ?? NaN) / (plain?.perSecond ?? NaN);

export const bench: Bench = {
	title: `${posts} callbacks, ${atOnce} at a time`,
	async run(say) {
		const measured = await BothEngines.measure(say, async (context) => await compare(context, say));
		const { asItComes, lazy } = measured;
		const table = (caption: string, results: Result[]) => ({
			caption: `${caption}; median of ${rounds} rounds in turns`,
			columns,
			rows: results.map(({ way, perSecond, executed, p95Ms, requests }) => [
				way.label,
				perSecond,
				`${(perSecond / (results[0]?.perSecond ?? 1)).toFixed(2)} x`,
				executed,
				p95Ms,
				requests,
			]),
		});
		const bars = (where: string, results: Result[]) => ({
			title: `Callbacks answered a second, ${where}`,
			unit: '/s',
			better: 'more' as const,
			bars: results.map(({ way, perSecond }) => ({
				label: way.label,
				value: perSecond,
				ours: way.ours,
			})),
		});
		return {
			tables: measured.tables(table),
			marks: [
				...measured.rateMarks(
					(where) => `${where}, verification off: rate beside n8n's Webhook node`,
					unverified,
					{ asItComes: 0.5, lazy: 0.9 },
				),
				{
					what: 'verification on: service requests a callback',
					measured: Math.max(asItComes[2].requests, lazy[2].requests),
					limit: 1,
					unit: '',
				},
			],
			bars: [bars('as n8n comes', asItComes), bars('with the expression engine on demand', lazy)],
			headline: `The trigger takes ${shown(unverified(asItComes))} times the calls a second of n8n's Webhook node, which checks nothing, and ${shown(unverified(lazy))} times with the expression engine on demand`,
			checked: [
				`each round: ${posts} answers 200 and exactly ${posts} successful executions; no task twice`,
			],
		};
	},
};
