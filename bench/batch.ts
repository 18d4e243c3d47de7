/** Many items in a real n8n: our node beside a loop of HTTP Request and Wait, and beside the time the tasks themselves take. */
import { setTimeout as delay } from 'node:timers/promises';
import { startContext, type TestContext } from '../test/n8n/harness/context';
import { items } from '../test/n8n/harness/execution';
import { seededRandom } from '../test/unit/virtualClock';
import type { Bench, Mark } from './report';
import { check } from './stats';
import { called, chain, generate, last, oneItemEach, publish, requestLoop } from './workflows';

const active = 20;
const sizes = [1, 20, 100] as const;
const waitS = 5;

interface Tasks {
	label: string;
	/** In s. */
	durations: number[];
}

type How = 'ours' | 'ours, no progress' | 'batched' | 'serial';
const labels: Record<How, string> = {
	ours: 'ours',
	'ours, no progress': 'ours, service shows no progress',
	batched: `HTTP Request + Wait ${waitS} s, ${active} at a time`,
	serial: `HTTP Request + Wait ${waitS} s, one by one`,
};

function taskSets(): Tasks[] {
	const random = seededRandom(6);
	return sizes.flatMap((size) => [
		{ label: `${size} x 10 s`, durations: Array.from({ length: size }, () => 10) },
		{
			label: `${size} x 5-60 s`,
			durations: Array.from({ length: size }, () => Math.round(50 + 550 * random()) / 10),
		},
	]);
}

/** The least that is possible: each task starts as soon as one of the places is free. */
function limitOf({ durations }: Tasks): number {
	const places = Array.from({ length: active }, () => 0);
	for (const duration of durations) {
		const first = places.indexOf(Math.min(...places));
		places[first] = (places[first] ?? 0) + duration;
	}
	return Math.max(...places);
}

/** Serial loops over many items would take half an hour; their time is a sum. */
function serialIsComputed({ durations }: Tasks): boolean {
	return durations.reduce((sum, duration) => sum + duration, 0) > 250;
}

function serialTime({ durations }: Tasks): number {
	return durations.reduce((sum, duration) => sum + waitS * Math.ceil(duration / waitS + 0.001), 0);
}

interface Outcome {
	seconds: number;
	pollsPerTask: number;
	mostPolls: number;
}

async function measure(context: TestContext, tasks: Tasks, how: How): Promise<Outcome> {
	const { rest, service } = context;
	const name = `${how} ${tasks.label}`;
	const path = name.replaceAll(/\W+/g, '-');
	const first = [called(path), oneItemEach()];
	const own = [...first, generate({}, { maxActiveTasks: active }), last()];
	const loop = requestLoop(service.baseUrl, service.apiKey, how === 'serial' ? 1 : active);
	const workflow = how.startsWith('ours')
		? await publish(context, name, own)
		: await publish(
				context,
				name,
				[...first, ...loop.nodes],
				[...chain(first), ['One Item Each', 'Loop'], ...loop.links],
			);
	const progress = how === 'ours, no progress' ? 'none' : 'honest';
	const jobs = tasks.durations.map((duration, index) => ({
		text: `${name}, ${index}`,
		standIn: { ms: duration * 1000, progress },
	}));
	await rest.callWebhook(path, { jobs });
	const [execution] = await rest.waitForExecutions(workflow.id, 1, 1_500_000);
	check(execution?.status === 'success', `${name}: ${execution?.resultData.error?.message}`);
	const results = items(execution, 'Last');
	check(results.length === jobs.length, `${name}: ${results.length} items`);
	check(
		results.every(({ json }) => json.status === 'done'),
		`${name}: tasks that are not done`,
	);
	const created = service.creations(({ body }) => String(body.text).startsWith(`${name}, `));
	check(created.length === jobs.length, `${name}: ${created.length} tasks were created`);
	const polls = created.map((task) => task.polls);
	return {
		seconds: (Date.parse(execution.stoppedAt ?? '') - Date.parse(execution.startedAt ?? '')) / 1000,
		pollsPerTask: polls.reduce((a, b) => a + b, 0) / polls.length,
		mostPolls: Math.max(...polls),
	};
}

async function measureAll(context: TestContext, say: (line: string) => void) {
	const hows = Object.keys(labels) as How[];
	const wanted = taskSets().flatMap((tasks) => hows.map((how) => ({ tasks, how })));
	// They wait most of the time, so they run beside each other; their beginnings are kept apart.
	return await Promise.all(
		wanted.map(async ({ tasks, how }, index) => {
			if (how === 'serial' && serialIsComputed(tasks)) return { tasks, how, outcome: undefined };
			await delay(1_500 * index);
			const outcome = await measure(context, tasks, how);
			say(`${tasks.label}, ${labels[how]}: ${outcome.seconds.toFixed(1)} s`);
			return { tasks, how, outcome };
		}),
	);
}

type Measured = Awaited<ReturnType<typeof measureAll>>;

function marksOf(all: Measured): Mark[] {
	const find = (label: string, how: How) =>
		all.find((one) => one.how === how && one.tasks.label === label);
	const ratio = (label: string, how: How): Mark => {
		const one = find(label, how);
		return {
			what: `${label}, ${labels[how]}: time beside the least possible`,
			measured: (one?.outcome?.seconds ?? NaN) / (one === undefined ? NaN : limitOf(one.tasks)),
			limit: 1.15,
			unit: 'x',
		};
	};
	const twenty = find('20 x 10 s', 'ours')?.outcome;
	return [
		ratio('20 x 10 s', 'ours'),
		ratio('20 x 10 s', 'ours, no progress'),
		ratio('20 x 5-60 s', 'ours'),
		ratio('20 x 5-60 s', 'ours, no progress'),
		ratio('100 x 10 s', 'ours'),
		ratio('100 x 10 s', 'ours, no progress'),
		{ what: '20 x 10 s, ours: time', measured: twenty?.seconds ?? NaN, limit: 14, unit: 's' },
		{
			what: '20 x 10 s, ours: most polls of a task',
			measured: twenty?.mostPolls ?? NaN,
			limit: 8,
			unit: '',
		},
	];
}

export const bench: Bench = {
	title: 'many items in a real n8n, and how close to the time of the tasks themselves',
	async run(say) {
		const context = await startContext();
		try {
			const all = await measureAll(context, say);
			const rows = all.map(({ tasks, how, outcome }) => {
				const limit = limitOf(tasks);
				const seconds = outcome?.seconds ?? serialTime(tasks);
				return [
					tasks.label,
					outcome === undefined ? `${labels[how]} (computed, not run)` : labels[how],
					seconds,
					limit,
					`${(seconds / limit).toFixed(2)} x`,
					outcome?.pollsPerTask ?? '-',
					outcome?.mostPolls ?? '-',
				];
			});
			const bars = all.filter(({ tasks }) => tasks.label === '20 x 10 s');
			return {
				tables: [
					{
						caption: `Whole execution, at most ${active} tasks active (serial: one). Least: the tasks' own time in ${active} places`,
						columns: ['tasks', 'how', 's', 'least s', 'beside least', 'polls a task', 'most'],
						rows,
					},
				],
				marks: marksOf(all),
				bars: [
					{
						title: '20 tasks of 10 s each, whole execution in n8n',
						unit: 's',
						bars: bars.map(({ how, tasks, outcome }) => ({
							label: labels[how],
							value: outcome?.seconds ?? serialTime(tasks),
							ours: how.startsWith('ours'),
						})),
					},
				],
				checked: [
					'every execution succeeded, gave one done task per item, and created each task once',
				],
			};
		} finally {
			await context.close();
		}
	},
};
