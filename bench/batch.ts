/** Many items in a real n8n: our node beside a loop of HTTP Request and Wait, and beside the time the tasks themselves take. */
import { setTimeout as delay } from 'node:timers/promises';
import type { TestContext } from '../test/n8n/harness/context';
import { seededRandom } from '../test/support/virtualClock';
import { jobsOf, leastTime, runJobs } from './jobs';
import { barsOf, mark, times, type Bench } from './report';
import { called, chain, generate, inN8n, last, oneItemEach } from './workflows';
import { publish, requestLoop } from './workflows';

const active = 20;
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
	silent: 'ours, service shows no progress',
	batched: `HTTP Request + Wait ${waitS} s, ${active} at a time`,
	serial: `HTTP Request + Wait ${waitS} s, one by one`,
};
type How = keyof typeof hows;
const isOurs = (how: How) => how === 'ours' || how === 'silent';

async function measure(context: TestContext, { label, durations }: Tasks, how: How) {
	const { service } = context;
	const path = `${how} ${label}`.replaceAll(/\W+/g, '-');
	const first = [called(path), oneItemEach()];
	const own = [...first, generate({}, { maxActiveTasks: active }), last()];
	const loop = requestLoop(service.baseUrl, service.apiKey, how === 'serial' ? 1 : active);
	const links = [...chain(first), ['One Item Each', 'Loop'] as [string, string], ...loop.links];
	const workflow = isOurs(how)
		? await publish(context, path, own)
		: await publish(context, path, [...first, ...loop.nodes], links);
	const progress = how === 'silent' ? 'none' : 'honest';
	return await runJobs(context, workflow, jobsOf(path, durations, { progress }));
}

export const bench: Bench = {
	title: 'many items in a real n8n, and how close to the time of the tasks themselves',
	run: inN8n({}, async (context, say) => {
		const wanted = taskSets().flatMap((tasks) =>
			(Object.keys(hows) as How[]).map((how) => ({ tasks, how })),
		);
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
					caption: `Whole execution, at most ${active} tasks active (serial: one). Least: tasks in their order, each into the first of ${active} free slots`,
					columns: ['tasks', 'how', 's', 'least s', 'beside least', 'polls a task', 'most'],
					rows: all.map(({ label, how, seconds, leastS, ratio, pollsPerTask, mostPolls }) => [
						...[label, hows[how], seconds, leastS, times(ratio), pollsPerTask, mostPolls],
					]),
				},
			],
			marks: all
				.filter(({ how }) => isOurs(how))
				.map(({ label, how, ratio }) => mark(`${label}, ${hows[how]}`, ratio, [1.05, 'x'])),
			bars: barsOf(
				'20 tasks of 5 to 23 s, whole execution in n8n',
				['s', 'less'],
				all
					.filter(({ label }) => label === '20 x 5-23 s')
					.map(({ how, seconds }) => ({ label: hows[how], value: seconds, ours: isOurs(how) })),
			),
			checked: [
				'every execution succeeded, gave one done task per item, and created each task once',
			],
		};
	}),
};
