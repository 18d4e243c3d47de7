/** A thousand tasks of a second or so in one execution of a real n8n: what is left of the time when tasks are shorter than a pause. */
import { jobsOf, leastTime, runJobs } from './jobs';
import { mark, times, type Bench } from './report';
import { called, generate, inN8n, last, oneItemEach, publish } from './workflows';

const count = 1_000;
const active = 100;
const inTurn = [0.3, 0.9, 2.5, 1.2];
const durations = Array.from({ length: count }, (_, index) => inTurn[index % inTurn.length] ?? 0);
const labels = {
	honest: 'the service reports progress',
	none: 'the service reports none',
};

export const bench: Bench = {
	title: `${count.toLocaleString('en-US')} tasks of ${inTurn.join(', ')} s in turn in one execution, ${active} active`,
	run: inN8n({ settings: { activeTaskLimit: active } }, async (context, say) => {
		const leastS = leastTime(durations, active);
		const measure = async (path: string, progress: keyof typeof labels, all: number[]) => {
			const node = generate({}, { maxActiveTasks: active });
			const workflow = await publish(context, path, [called(path), oneItemEach(), node, last()]);
			return await runJobs(context, workflow, jobsOf(path, all, { progress }));
		};
		// Warm: code loaded, pools filled.
		await measure('warm', 'none', durations.slice(0, 50));
		const rows = [];
		for (const progress of ['honest', 'none'] as const) {
			const { seconds, pollsPerTask } = await measure(progress, progress, durations);
			const label = labels[progress];
			say(`${label}: ${seconds.toFixed(1)} s, ${pollsPerTask.toFixed(2)} polls a task`);
			rows.push({ label, seconds, ratio: seconds / leastS, polls: pollsPerTask });
		}
		return {
			tables: [
				{
					caption: `Whole execution. Least: tasks in their order, each into the first of ${active} free slots`,
					columns: ['', 's', 'least s', 'beside least', 'polls a task'],
					rows: rows.map(({ label, seconds, ratio, polls }) => [
						...[label, seconds, leastS, times(ratio), polls],
					]),
				},
			],
			marks: rows.flatMap(({ label, ratio, polls }) => [
				mark(`${label}: time beside the least possible`, ratio, [1.25, 'x']),
				mark(`${label}: polls a task`, polls, [3, '']),
			]),
			checked: ['one execution each, every item done, each task created once'],
		};
	}),
};
