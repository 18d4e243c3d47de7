/** Many items, short tasks and many executions in a real n8n, beside the least time in which the account can do their tasks. */
import { setTimeout as delay } from 'node:timers/promises';
import type { TestContext } from '../test/n8n/harness/context';
import { seededRandom } from '../test/support/virtualClock';
import { active, crowd, executions, leastOf, tasksEach } from './crowd';
import { jobsOf, leastTime, runJobs } from './jobs';
import { mark, times, type Bench, type Report, type Say } from './report';
import { check } from './stats';
import { called, chain, generate, inN8n, last, oneItemEach } from './workflows';
import { publish, requestLoop } from './workflows';

const waitS = 5;

/** In s. */
type Tasks = { label: string; durations: number[] };

function taskSets(): Tasks[] {
	const random = seededRandom(6);
	return [
		{ label: '20 x 12 s', durations: Array<number>(20).fill(12) },
		{ label: '20 x 5-23 s', durations: Array.from({ length: 20 }, () => 5 + 18 * random()) },
		{ label: '100 x 6 s', durations: Array<number>(100).fill(6) },
	];
}

const hows = {
	ours: 'ours',
	batched: `HTTP Request + Wait ${waitS} s, ${active} at a time`,
};
type How = keyof typeof hows;

async function measure(context: TestContext, { label, durations }: Tasks, how: How) {
	const { service } = context;
	const path = `${how} ${label}`.replaceAll(/\W+/g, '-');
	const first = [called(path), oneItemEach()];
	const own = [...first, generate({}, { maxActiveTasks: active }), last()];
	const loop = requestLoop(service.baseUrl, service.apiKey, active);
	const links = [...chain(first), ['One Item Each', 'Loop'] as [string, string], ...loop.links];
	const workflow =
		how === 'ours'
			? await publish(context, path, own)
			: await publish(context, path, [...first, ...loop.nodes], links);
	return await runJobs(context, workflow, jobsOf(path, durations));
}

/** Items of one execution, beside a loop of HTTP Request and Wait. */
async function many(context: TestContext, say: Say): Promise<Report> {
	const each = Object.keys(hows) as How[];
	const wanted = taskSets().flatMap((tasks) => each.map((how) => ({ tasks, how })));
	// They wait most of the time, so they run beside each other; their beginnings are kept apart.
	const all = await Promise.all(
		wanted.map(async ({ tasks, how }, index) => {
			await delay(1_500 * index);
			const outcome = await measure(context, tasks, how);
			const leastS = leastTime(tasks.durations, active);
			say(`${tasks.label}, ${hows[how]}: ${outcome.seconds.toFixed(1)} s`);
			return { ...outcome, label: tasks.label, how, leastS, ratio: outcome.seconds / leastS };
		}),
	);
	return {
		tables: [
			{
				caption: `Whole execution, at most ${active} tasks active. Least: tasks in their order, each into the first of ${active} free slots`,
				columns: ['tasks', 'how', 's', 'least s', 'beside least', 'polls a task', 'most'],
				rows: all.map(({ label, how, seconds, leastS, ratio, pollsPerTask, mostPolls }) => [
					...[label, hows[how], seconds, leastS, times(ratio)],
					...[pollsPerTask, mostPolls],
				]),
			},
		],
		marks: all
			.filter(({ how }) => how === 'ours')
			.map(({ label, ratio }) => mark(`${label}, ours`, ratio, [1.06, 'x'])),
		checked: ['every execution succeeded, gave one done task per item, and created each task once'],
	};
}

const short = { count: 1_000, active: 100, inTurn: [0.3, 0.9, 2.5, 1.2] };

/** Tasks that are shorter than a pause. */
async function shortTasks(context: TestContext, say: Say): Promise<Report> {
	context.service.settings.activeTaskLimit = short.active;
	const durations = Array.from(
		{ length: short.count },
		(_, index) => short.inTurn[index % short.inTurn.length] ?? 0,
	);
	const leastS = leastTime(durations, short.active);
	const run = async (path: string, all: number[]) => {
		const node = generate({}, { maxActiveTasks: short.active });
		const workflow = await publish(context, path, [called(path), oneItemEach(), node, last()]);
		return await runJobs(context, workflow, jobsOf(path, all));
	};
	await run('warm', durations.slice(0, 50));
	const { seconds, pollsPerTask } = await run('short', durations);
	say(`short: ${seconds.toFixed(1)} s`);
	const title = `${short.count} tasks of ${short.inTurn.join(', ')} s in turn, ${short.active} active`;
	return {
		tables: [
			{
				caption: `${title}: whole execution`,
				columns: ['', 's', 'least s', 'beside least', 'polls a task'],
				rows: [['ours', seconds, leastS, times(seconds / leastS), pollsPerTask]],
			},
		],
		marks: [
			mark('short tasks: time beside the least', seconds / leastS, [1.5, 'x']),
			mark('short tasks: polls a task', pollsPerTask, [3, '']),
		],
		checked: ['each short task was created once and is done'],
	};
}

/** Executions that want more tasks at once than the account lets be active. */
async function crowded(context: TestContext, say: Say): Promise<Report> {
	const { rest, service } = context;
	service.reset();
	const nodes = [called('crowd'), oneItemEach(), generate(), last()];
	const workflow = await publish(context, 'crowd', nodes);
	const { failed, ...measured } = await crowd({ rest, service }, workflow, { count: executions });
	check(failed === 0, `${failed} executions failed`);
	const { seconds, creations, polls } = measured;
	const leastS = leastOf(executions);
	say(`crowd: ${seconds.toFixed(1)} s, ${creations.toFixed(2)} creations a task`);
	return {
		tables: [
			{
				caption: `${executions} executions of ${tasksEach} tasks, all called at once, at an account that lets ${active} be active: from the first call to the end of the last execution`,
				columns: ['', 's', 'beside least', 'creations a task', 'polls a task'],
				rows: [
					['in a real n8n', seconds, times(seconds / leastS), creations, polls],
					['the least possible', leastS, times(1), 1, '-'],
				],
			},
		],
		marks: [
			mark('crowd: time beside the least possible', seconds / leastS, [1.08, 'x']),
			mark('crowd: creations a task', creations, [1.15, '']),
		],
		checked: [`never more than ${active} tasks of the crowd active`],
	};
}

export const bench: Bench = {
	title:
		'many items, short tasks, many executions, and how close to the time of the tasks themselves',
	run: inN8n({}, async (context, say) => {
		const reports = [];
		for (const part of [many, shortTasks, crowded]) reports.push(await part(context, say));
		return {
			tables: reports.flatMap(({ tables }) => tables),
			marks: reports.flatMap(({ marks }) => marks),
			checked: reports.flatMap(({ checked }) => checked),
		};
	}),
};
