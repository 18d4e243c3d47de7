/** A thousand tasks of a second or so in one execution of a real n8n: what is left of the time when tasks are shorter than a pause. */
import { startContext, type TestContext } from '../test/n8n/harness/context';
import { seededRandom } from '../test/unit/virtualClock';
import { runJobs, leastTime, type JobRun } from './jobs';
import { type Bench, type Mark, shown } from './report';
import { called, generate, last, oneItemEach, publish } from './workflows';

const count = 1_000;
const active = 100;
const shortestMs = 300;
const longestMs = 2_500;

const progresses = ['honest', 'none'] as const;
type Progress = (typeof progresses)[number];
const labels: Record<Progress, string> = {
	honest: 'the service reports progress',
	none: 'the service reports none',
};

function durations(): number[] {
	const random = seededRandom(11);
	return Array.from({ length: count }, () =>
		Math.round(shortestMs + (longestMs - shortestMs) * random()),
	);
}

async function measure(
	context: TestContext,
	path: string,
	progress: Progress,
	tasks: readonly number[],
): Promise<JobRun> {
	const node = generate({}, { maxActiveTasks: active });
	const workflow = await publish(context, path, [called(path), oneItemEach(), node, last()]);
	const jobs = tasks.map((ms, index) => ({
		text: `${path}, ${index}`,
		standIn: { ms, progress },
	}));
	return await runJobs(context, workflow, jobs);
}

export const bench: Bench = {
	title: `${count.toLocaleString('en-US')} tasks of 0.3 to 2.5 s in one execution, ${active} active`,
	async run(say) {
		const context = await startContext({ settings: { activeTaskLimit: active } });
		try {
			const tasks = durations();
			const least = leastTime(
				tasks.map((ms) => ms / 1000),
				active,
			);
			// Warm: code loaded, pools filled.
			await measure(context, 'warm', 'none', tasks.slice(0, 50));
			const rows: Array<{ progress: Progress; seconds: number; polls: number }> = [];
			for (const progress of progresses) {
				const { seconds, pollsPerTask } = await measure(context, progress, progress, tasks);
				say(
					`${labels[progress]}: ${seconds.toFixed(1)} s, ${pollsPerTask.toFixed(2)} polls a task`,
				);
				rows.push({ progress, seconds, polls: pollsPerTask });
			}
			return {
				tables: [
					{
						caption: `Whole execution. Least: the tasks' own time in ${active} slots`,
						columns: ['', 's', 'least s', 'beside least', 'polls a task'],
						rows: rows.map(({ progress, seconds, polls }) => [
							labels[progress],
							seconds,
							least,
							`${(seconds / least).toFixed(2)} x`,
							polls,
						]),
					},
				],
				marks: rows.flatMap(({ progress, seconds, polls }): Mark[] => [
					{
						what: `${labels[progress]}: time beside the least possible`,
						measured: seconds / least,
						limit: 1.35,
						unit: 'x',
					},
					{ what: `${labels[progress]}: polls a task`, measured: polls, limit: 3, unit: '' },
				]),
				bars: [],
				headline: `1,000 tasks of 0.3 to 2.5 s, ${active} active, take ${rows.map(({ seconds }) => shown(seconds / least)).join(' (no progress: ')}) times the least`,
				checked: ['one execution each, every item done, each task created once'],
			};
		} finally {
			await context.close();
		}
	},
};
