/**
 * Executions over several processes of n8n that share one account: what polling and sleeping cost, beside first come, first served, and
 * beside n8n's own Wait node with as many sleepers in the same cluster.
 */
import { startQueueContext } from '../test/queue/context';
import { commitsPerSleeper, concurrency, crowdBesideWait, crowdOf } from './cluster';
import { executions, workers } from './cluster';
import { active, type Crowd, leastOf } from './crowd';
import { type Cell, mark, times, type Bench } from './report';
import { ourWay, waitWay } from './sleepers';
import { quantile } from './stats';
import { called, generate, last, oneItemEach } from './workflows';

const sleepers = 40;

const seconds = (delaysMs: readonly number[], share: number) => quantile(delaysMs, share) / 1000;
const delays = (delaysMs: readonly number[]): Cell[] =>
	[0.5, 0.95, 1].map((share) => seconds(delaysMs, share));

export const bench: Bench = {
	title: `${executions} executions of 5 tasks over ${workers} workers and 2 webhook processors, at an account that lets ${active} be active`,
	async run(say) {
		const context = await startQueueContext({ workers, concurrency });
		try {
			const { service } = context;
			const ways = { polled: generate(), suspended: ourWay.nodes(service)[0] ?? generate() };
			const flow = async (name: keyof typeof ways) =>
				await context.publish([called(name), oneItemEach(), ways[name], last()]);
			const leastS = leastOf(executions);
			const polled = await crowdOf(context, await flow('polled'));
			const tell = (how: string, { seconds, creations }: Crowd) =>
				say(`${how}: ${seconds.toFixed(1)} s, ${creations.toFixed(2)} creations a task`);
			tell('polled', polled);
			service.reset();
			const { ours, theirs } = await crowdBesideWait(context, await flow('suspended'));
			tell('suspended', ours);
			const row = (label: string, of: Crowd): Cell[] => [
				...[label, of.seconds, times(of.seconds / leastS), of.creations, of.refused, of.polls],
				...[of.failed, ...delays(of.delaysMs)],
			];
			const one = { count: sleepers, tasks: 1 };
			const [waits, sleeps, sleepsOnFive] = [
				await commitsPerSleeper(context, waitWay, one),
				await commitsPerSleeper(context, ourWay, one),
				await commitsPerSleeper(context, ourWay, { ...one, tasks: 5 }),
			];
			say(`commits: ${waits.toFixed(0)}, ours ${sleeps.toFixed(0)}`);
			const late = seconds(ours.delaysMs, 0.95) / seconds(theirs, 0.95);
			return {
				tables: [
					{
						caption: `All called at once. Least: ${leastS} s, tasks in their order, each into the first of ${active} free slots. Delay: from the end of an execution's last task to the execution's end. Beside each suspended execution sleeps one of the Wait node, called when the last task of the other ends`,
						columns:
							';s;beside least;creations a task;refused;polls a task;failed;delay s, median;95%;most'.split(
								';',
							),
						rows: [
							row('polled', polled),
							row('suspended', ours),
							["n8n's Wait node", ...Array<Cell>(6).fill('-'), ...delays(theirs)],
						],
					},
					{
						caption: `PostgreSQL's commits for an execution that sleeps, mean of ${sleepers}`,
						columns: ['', 'commits', "beside n8n's"],
						rows: [
							["n8n's Wait node", waits, times(1)],
							['ours, one task', sleeps, times(sleeps / waits)],
							['ours, five tasks', sleepsOnFive, times(sleepsOnFive / waits)],
						],
					},
				],
				marks: [
					mark('polled: time beside the least possible', polled.seconds / leastS, [1.12, 'x']),
					mark('polled: creations a task', polled.creations, [1.2, '']),
					mark('suspended: time beside the least possible', ours.seconds / leastS, [1.2, 'x']),
					mark('suspended: creations a task', ours.creations, [1.25, '']),
					mark("suspended: delay at 95%, beside n8n's Wait node", late, [1.1, 'x']),
					mark("commits, beside n8n's Wait node", sleeps / waits, [1.2, 'x']),
					mark('executions of ours that failed', polled.failed + ours.failed, [0, '']),
				],
				checked: [
					'each execution that succeeded gave 5 done items, each task was created once',
					`never more than ${active} tasks active while executions were compared`,
				],
			};
		} finally {
			await context.close();
		}
	},
};
