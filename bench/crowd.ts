/** Many executions that want more tasks at once than the account lets be active: how much of the limit is used, and what is refused. */
import { startContext } from '../test/n8n/harness/context';
import { checkJobs, leastTime } from './jobs';
import { savePoint } from './saved';
import { mark, times, type Bench } from './report';
import { called, generate, last, oneItemEach, publish } from './workflows';

export const executions = 30;
export const active = 20;
/** Of each execution, in s: the next one begins where the one before ended. */
const inTurn = [2, 5, 3];
export const tasksOf = (execution: number) =>
	Array.from({ length: 5 }, (_, index) => inTurn[(5 * execution + index) % inTurn.length] ?? 0);

export const bench: Bench = {
	title: `${executions} executions of 5 tasks of ${inTurn.join(', ')} s, all called at once, at an account that lets ${active} be active`,
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
				tasksOf(execution).map((seconds, index) => ({
					text: `${execution}-${index}`,
					standIn: { ms: seconds * 1000 },
				})),
			);
			const startedAt = Date.now();
			await Promise.all(all.map(async (jobs) => await rest.callWebhook('crowd', { jobs })));
			const ended = await rest.waitForExecutions(workflow.id, executions, 300_000);
			const stopped = Math.max(...ended.map(({ stoppedAt }) => Date.parse(stoppedAt ?? '')));
			// Which execution got which call does not matter: its items are recognized by their texts.
			const byFirst = new Map(all.map((jobs) => [jobs[0]?.text, jobs]));
			for (const execution of ended) {
				const run = execution.resultData.runData['One Item Each']?.[0];
				const job = run?.data?.main[0]?.[0]?.json.job as { text?: string } | undefined;
				checkJobs(context, execution, byFirst.get(job?.text) ?? []);
			}
			const durations = all.flatMap((_, execution) => tasksOf(execution));
			const seconds = (stopped - startedAt) / 1000;
			const leastS = leastTime(durations, active);
			const ratio = seconds / leastS;
			const creations =
				service.requests.filter(({ route }) => route === 'create').length / durations.length;
			const polls = service.polls().length / durations.length;
			say(`${seconds.toFixed(1)} s, ${creations.toFixed(2)} creations a task`);
			savePoint('crowd', { seconds, refusedPerTask: creations - 1, pollsPerTask: polls });
			return {
				tables: [
					{
						caption: `From the first call to the end of the last execution. Least: tasks in their order, each into the first of ${active} free slots`,
						columns: ['', 's', 'beside least', 'creation requests a task', 'polls a task'],
						rows: [
							['in a real n8n', seconds, times(ratio), creations, polls],
							['the least possible', leastS, times(1), 1, '-'],
						],
					},
				],
				marks: [
					mark('time beside the least possible', ratio, [1.05, 'x']),
					mark('creation requests a task', creations, [1.06, '']),
				],
				bars: [],
				checked: [
					`${executions} executions succeeded with 5 done items each, each task created once`,
					`never more than ${active} tasks active (${service.summary().maxActive})`,
				],
			};
		} finally {
			await context.close();
		}
	},
};
