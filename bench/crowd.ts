/** Many executions that want more tasks at once than the account lets be active: how much of the limit is used, and what is asked in vain. */
import { setTimeout as delay } from 'node:timers/promises';
import { startContext } from '../test/n8n/harness/context';
import { simulate, usual } from './fleet';
import { checkJobs, leastTime } from './jobs';
import { savePoint } from './points';
import { type Bench, shown } from './report';
import { called, generate, last, oneItemEach, publish } from './workflows';

export const executions = 30;
export const tasksEach = 5;
export const active = 20;
export const taskS = 5;
/** The calls that start them come ten a second, about as fast as n8n takes them. */
const apartMs = 100;

/** The same on a virtual clock, by the real queue and schedule (fleet.ts). */
export async function simulated() {
	const tasks = Array.from({ length: tasksEach }, () => taskS * 1000);
	const {
		ms,
		refused,
		tasks: count,
	} = await simulate(
		Array.from({ length: executions }, (_, index) => ({ at: index * apartMs, tasks })),
		{ ...usual, processes: 1, concurrency: executions, active },
	);
	return { seconds: ms / 1000, creationsPerTask: 1 + refused / count };
}

export const bench: Bench = {
	title: `${executions} executions of ${tasksEach} tasks at an account that lets ${active} be active`,
	async run(say) {
		const context = await startContext({ settings: { activeTaskLimit: active } });
		try {
			const { rest, service } = context;
			const nodes = [called('crowd'), oneItemEach(), generate(), last()];
			const workflow = await publish(context, 'crowd', nodes);
			// Warm: code loaded, pools filled.
			await rest.callWebhook('crowd', { jobs: [{ text: 'warm', standIn: { ms: 100 } }] });
			const [warm] = await rest.waitForExecutions(workflow.id, 1);
			await rest.deleteExecution(warm?.id ?? '');
			service.reset();

			const all = Array.from({ length: executions }, (_, execution) =>
				Array.from({ length: tasksEach }, (__, index) => ({
					text: `${execution}-${index}`,
					standIn: { ms: taskS * 1000 },
				})),
			);
			const startedAt = Date.now();
			await Promise.all(
				all.map(async (jobs, index) => {
					await delay(index * apartMs);
					await rest.callWebhook('crowd', { jobs });
				}),
			);
			const ended = await rest.waitForExecutions(workflow.id, executions, 300_000);
			const stopped = Math.max(...ended.map(({ stoppedAt }) => Date.parse(stoppedAt ?? '')));
			// Which execution got which call does not matter: all of its items are told by their texts.
			const byFirst = new Map(all.map((jobs) => [jobs[0]?.text, jobs]));
			for (const execution of ended) {
				const run = execution.resultData.runData['One Item Each']?.[0];
				const job = run?.data?.main[0]?.[0]?.json.job as { text?: string } | undefined;
				checkJobs(context, execution, byFirst.get(job?.text) ?? []);
			}
			const tasks = executions * tasksEach;
			const seconds = (stopped - startedAt) / 1000;
			const least = leastTime(
				Array.from({ length: tasks }, () => taskS),
				active,
			);
			const creations = service.requests.filter(({ route }) => route === 'create').length / tasks;
			const polls = service.polls().length / tasks;
			const firstEnd = Math.min(...service.tasks.map(({ dueAt }) => dueAt));
			const early = service.requests.filter(
				({ route, status, time }) => route === 'create' && status === 429 && time < firstEnd,
			).length;
			say(`${seconds.toFixed(1)} s, ${creations.toFixed(2)} creations a task`);
			savePoint('crowd', { seconds, refusedPerTask: creations - 1, pollsPerTask: polls });
			const model = await simulated();
			return {
				tables: [
					{
						caption: `From the first call to the end of the last execution; tasks of ${taskS} s`,
						columns: ['', 's', 'beside least', 'creation requests a task', 'polls a task'],
						rows: [
							['in a real n8n', seconds, `${(seconds / least).toFixed(2)} x`, creations, polls],
							[
								'the same queue on a virtual clock',
								model.seconds,
								`${(model.seconds / least).toFixed(2)} x`,
								model.creationsPerTask,
								'-',
							],
							['the least possible', least, '1.00 x', 1, '-'],
						],
					},
					{
						caption: `Creations refused in a real n8n: those before the first task was over were asked when nobody knew of the limit yet, or in the first round`,
						columns: ['', 'refused'],
						rows: [
							['before the first task was over', early],
							['later', Math.round((creations - 1) * tasks) - early],
						],
					},
				],
				marks: [
					{
						what: 'time beside the least possible',
						measured: seconds / least,
						limit: 1.1,
						unit: 'x',
					},
					{ what: 'creation requests a task', measured: creations, limit: 1.2, unit: '' },
				],
				bars: [],
				headline: `${executions} executions of ${tasksEach} tasks at a full account take ${shown(seconds / least)} times the least, with ${shown(creations)} creation requests a task`,
				checked: [
					`${executions} executions succeeded with ${tasksEach} done items each, each task created once`,
					`never more than ${active} tasks active (${service.summary().maxActive})`,
				],
			};
		} finally {
			await context.close();
		}
	},
};
