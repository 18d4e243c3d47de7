/** Many executions that wait for one long task each: polling beside suspended, where callbacks come. What looks cost: watching.ts. */
import { setTimeout as delay } from 'node:timers/promises';
import { startContext } from '../test/n8n/harness/context';
import { waitUntil } from '../test/n8n/harness/wait';
import { type Bench, shown } from './report';
import { check, mean, megabytes } from './stats';
import { called, generate, last, oneItemEach, publish } from './workflows';

const executions = 200;
const taskS = 150;
/** Requests are counted, and memory is read, while nothing but waiting goes on. */
const windowS = 30;
/** One before the sleep, and one in 30 s for the case that its callback gets lost. */
const looksAsleep = 6;

type Mode = 'poll' | 'callback';

interface Outcome {
	memoryMb: number;
	polls: number;
	/** At any one task, while its execution waits. */
	mostLooks: number;
	/** From a task's end to the end of its execution, mean, in s. */
	delayS: number;
}

async function measure(mode: Mode, say: (line: string) => void): Promise<Outcome> {
	const context = await startContext({ settings: { taskMs: taskS * 1000 } });
	try {
		const { n8n, rest, service } = context;
		const options = mode === 'callback' ? { gracePeriod: 0 } : {};
		const node = generate({ waitMode: mode }, options);
		const workflow = await publish(context, 'waiting', [
			called('waiting'),
			oneItemEach(),
			node,
			last(),
		]);
		await delay(3_000);
		const idle = n8n.memory().rssBytes;
		const started = Date.now();
		for (let index = 0; index < executions; index += 1) {
			await rest.callWebhook('waiting', {
				jobs: [{ text: `Task ${index}`, standIn: { ms: taskS * 1000 } }],
			});
		}
		await waitUntil(() => service.creations().length >= executions, {
			timeoutMs: 120_000,
			what: 'All creations',
		});
		say(`${mode}: all started after ${Math.round((Date.now() - started) / 1000)} s`);
		await delay(5_000);
		const before = service.polls().length;
		await delay(windowS * 1000);
		const polls = service.polls().length - before;
		const memoryMb = megabytes(n8n.memory().rssBytes - idle);
		// n8n lists a hundred of those that are not over; that there are more of them the creations say.
		const statuses = new Set((await rest.listExecutions(workflow.id)).map(({ status }) => status));
		check(
			[...statuses].join() === (mode === 'poll' ? 'running' : 'waiting'),
			`while ${mode} waits, executions are ${[...statuses].join(', ')}`,
		);
		const ended = await waitUntil(
			async () => {
				const all = await rest.listExecutions(workflow.id);
				const done = all.filter(({ status }) => status === 'success');
				return done.length >= executions ? done : undefined;
			},
			{ timeoutMs: 300_000, intervalMs: 1_000, what: 'All executions' },
		);
		check(service.creations().length === executions, 'one task an execution');
		// In order on both sides: which execution had which task does not matter to the mean.
		const stopped = ended.map(({ stoppedAt }) => Date.parse(stoppedAt ?? '')).sort((a, b) => a - b);
		const due = service.tasks.map(({ dueAt }) => dueAt).sort((a, b) => a - b);
		const delays = stopped.map((at, index) => (at - (due[index] ?? NaN)) / 1000);
		const mostLooks = Math.max(
			...service.tasks.map(
				({ id, dueAt }) => service.polls(id).filter(({ time }) => time < dueAt).length,
			),
		);
		return { memoryMb, polls, mostLooks, delayS: mean(delays) };
	} finally {
		await context.close();
	}
}

export const bench: Bench = {
	title: `${executions} executions that wait ${taskS} s`,
	async run(say) {
		const polling = await measure('poll', say);
		const suspended = await measure('callback', say);
		say(`polling ${JSON.stringify(polling)}`);
		say(`suspended ${JSON.stringify(suspended)}`);
		const row = (label: string, { memoryMb, polls, mostLooks, delayS }: Outcome) => [
			label,
			memoryMb,
			polls,
			mostLooks,
			delayS,
		];
		return {
			tables: [
				{
					caption: `While ${executions} executions wait: memory over idle, requests to the service in ${windowS} s, the most looks at any task, and the mean time from a task's end to its execution's end`,
					columns: ['', 'memory, MB', `polls in ${windowS} s`, 'looks at a task', 'delay, s'],
					rows: [row('polling', polling), row('suspended', suspended)],
				},
			],
			marks: [
				{
					what: `looks at a task of ${taskS} s whose execution sleeps`,
					measured: suspended.mostLooks,
					limit: looksAsleep,
					unit: '',
				},
			],
			bars: [
				{
					title: `Requests to the service in ${windowS} s`,
					unit: '',
					better: 'less',
					bars: [
						{ label: 'polling', value: polling.polls, ours: true },
						{ label: 'suspended', value: suspended.polls, ours: true },
					],
				},
			],
			headline: `${executions} polling executions hold ${shown(polling.memoryMb)} MB over idle, ${executions} suspended ones ${suspended.memoryMb > 0 ? `${shown(suspended.memoryMb)} MB` : 'none'}`,
			checked: [`${executions} tasks and ${executions} finished executions each`],
		};
	},
};
