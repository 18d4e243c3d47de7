/**
 * Processes of n8n that share one account, in virtual time: the nodes' own queue, limits and polling, around a service and an
 * n8n of a few lines. What is assumed of n8n are three numbers: what a request and an execution cost a process, and how many
 * executions it runs at once.
 */
import { Limiter } from '../nodes/MediaGeneration/base/limiter';
import { VirtualClock } from '../test/support/virtualClock';
import { Process } from './fleetProcess';
import { Service, type Execution, type Fleet } from './fleetService';
import { leastTime } from './jobs';
import { check, mean } from './stats';

/** As measured with n8n 2.41 on the machine of docs/benchmarks.md, rounded (`overhead`, `callbacks`). */
export const usual: Omit<Fleet, 'processes' | 'active'> = {
	concurrency: 10,
	maxActiveTasks: 20,
	requestMs: 3,
	executionMs: 60,
	latencyMs: 5,
};

/** All executions, each by the process that has the most free slots when it is asked for. */
export async function simulate(executions: readonly Execution[], fleet: Fleet) {
	// A task has some dozens of wakes, and a queue asks every five seconds at the least.
	const clock = new VirtualClock(1_000_000, 200_000_000);
	const start = clock.now();
	const service = new Service(clock, fleet);
	const processes = Array.from(
		{ length: fleet.processes },
		(_, index) => new Process(clock, service, fleet, 7919 + index),
	);
	const free = new Limiter(fleet.processes * fleet.concurrency);
	const slowdowns: number[] = [];
	let [ranMs, running, mostRunning] = [0, 0, 0];
	const all = executions.map(async (execution) => {
		await clock.sleep(execution.at);
		await free.run(async () => {
			// As in n8n's queue, which any worker with a free slot takes from.
			const process = processes.reduce((a, b) => (b.running < a.running ? b : a));
			const startedAt = clock.now();
			mostRunning = Math.max(mostRunning, (running += 1));
			await process.run(execution);
			running -= 1;
			const tookMs = clock.now() - startedAt;
			slowdowns.push(tookMs / leastTime(execution.tasks, fleet.maxActiveTasks));
			ranMs += tookMs;
		});
	});
	await clock.run(Promise.all(all));
	const tasks = executions.reduce((sum, execution) => sum + execution.tasks.length, 0);
	check(service.created === tasks, `${service.created} tasks were created, not ${tasks}`);
	check(service.mostActive <= fleet.active, 'more tasks than the service lets be active');
	const { refused, polls } = service;
	/** Until the last execution is over. */
	const ms = clock.now() - start;
	return {
		...{ ms, tasks, refused, polls },
		/** How long executions ran beside what their own tasks take, mean: what queues and polling add. */
		slowdown: mean(slowdowns),
		/** Executions that ran at the same time: on average, and at most. */
		...{ running: ranMs / ms, mostRunning },
	};
}
export type Figures = Awaited<ReturnType<typeof simulate>>;
