/**
 * How long n8n refuses callbacks of an execution that is about to sleep: from the last look at its task to the first
 * moment in which its resume URL is open (docs/waiting.md, "Three ways to wake"). A callback in between is answered 409.
 */
import { request } from 'undici';
import { startContext } from '../test/n8n/harness/context';
import { waitUntil } from '../test/n8n/harness/wait';
import type { Bench, Report } from './report';

const RUNS = 20;

function quantile(sorted: number[], share: number): number {
	return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

export const bench: Bench = {
	title: 'the moment in which a callback of a suspending execution is refused',
	async run(say): Promise<Report> {
		const context = await startContext({ settings: { taskMs: 3_600_000 } });
		try {
			const { rest, service } = context;
			const workflow = await context.addWorkflow('suspend', { PATH: 'race' });
			await rest.publish(workflow);
			const windows: number[] = [];
			for (let run = 0; run < RUNS; run += 1) {
				const before = service.creations().length;
				const jobs = [{ text: `Race ${run}`, standIn: {} }];
				await rest.callWebhook('race', { jobs, grace: 0, timeout: 3600 });
				const task = await waitUntil(() => service.creations()[before], {
					timeoutMs: 20_000,
					what: 'The creation',
				});
				// Knocks until the door opens: that a task is none of its own says who is asleep, and asks the service nothing.
				const body = JSON.stringify({ id: 'a-task-of-nobody' });
				const opened = await waitUntil(
					async () => {
						const answer = await request(task.receiveUrl ?? '', {
							method: 'POST',
							headers: { 'content-type': 'application/json' },
							body,
						});
						await answer.body.dump();
						const lastLook = service.polls(task.id).at(-1);
						return answer.statusCode === 200 && lastLook !== undefined ? Date.now() : undefined;
					},
					{ timeoutMs: 20_000, intervalMs: 1, what: 'The suspension' },
				);
				const last = service.polls(task.id).at(-1);
				if (last === undefined) throw new Error('No look at the task was recorded');
				windows.push(opened - last.time);
			}
			if (service.creations().length !== RUNS) throw new Error('Not one task a run');
			windows.sort((a, b) => a - b);
			say(`windows in ms: ${windows.join(' ')}`);
			return {
				tables: [
					{
						caption: `From the last look at a task to the open resume URL, ${RUNS} executions (an upper bound: it holds the answer to the callback that came through, too)`,
						columns: ['', 'ms'],
						rows: [
							['shortest', windows[0] ?? 0],
							['median', quantile(windows, 0.5)],
							['longest', windows.at(-1) ?? 0],
						],
					},
				],
				marks: [],
				bars: [],
				checked: [`${RUNS} tasks created, one an execution`],
			};
		} finally {
			await context.close();
		}
	},
};
