import type { Context } from './context';
import type { Summary, TaskRecord } from './types';

/** The stand-in's ledger in one object. */
export function summarise({ store, settings, recorder, callbacks }: Context): Summary {
	const { tasks } = store;
	const polls = tasks.map((task) => task.polls);
	const requestsByStatus: Record<string, number> = {};
	let foreignAuthorization = 0;
	for (const { status, host, headers } of recorder.requests) {
		requestsByStatus[status] = (requestsByStatus[status] ?? 0) + 1;
		if (host !== 'api' && headers.authorization !== undefined) foreignAuthorization += 1;
	}
	const total = polls.reduce((sum, count) => sum + count, 0);
	return {
		creations: tasks.length,
		creationsByKind: countBy(tasks, (task) => task.kind),
		done: tasks.filter(({ status }) => status === 'done').length,
		failed: tasks.filter(({ status }) => status === 'error').length,
		active: store.active,
		maxActive: store.maxActive,
		credits: settings.credits,
		charged: tasks.reduce((sum, task) => sum + (task.refunded ? 0 : task.cost), 0),
		polls: total,
		pollsPerTask: {
			min: polls.reduce((least, count) => Math.min(least, count), tasks.length > 0 ? Infinity : 0),
			mean: tasks.length > 0 ? total / tasks.length : 0,
			max: polls.reduce((most, count) => Math.max(most, count), 0),
		},
		callbacks: callbacks.records.length,
		requests: recorder.requests.length,
		requestsByStatus,
		foreignAuthorization,
	};
}

function countBy(tasks: TaskRecord[], name: (task: TaskRecord) => string): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const task of tasks) counts[name(task)] = (counts[name(task)] ?? 0) + 1;
	return counts;
}
