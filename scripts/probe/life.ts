/** The life of one task, as looks at it show it. */
import { setTimeout as delay } from 'node:timers/promises';
import { outputsOf } from '../../nodes/MediaGeneration/service/outputs';
import { parseTask, type Task } from '../../nodes/MediaGeneration/service/task';
import { inWords } from './findings';
import type { Answer, ProbedService } from './service';

type Route = 'v1' | 'v1e';

export interface Pace {
	/** Between two looks at a task, ms. */
	pollMs: number;
	/** How long to wait for one task, ms. */
	patienceMs: number;
}

export interface Life {
	/** What both routes answered right after the creation. */
	first: Record<Route, Answer>;
	statuses: Set<string>;
	progress: unknown[];
	/** Words about errors on a task that was running. */
	words: Set<string>;
	/** Looks that said nothing of the task, e.g. a busy service. */
	unclear: Set<string>;
	/** Looks that found it done, but without a result. */
	withoutResult: number;
	/** The task as it was seen last. */
	task?: Task;
	/** The answer that showed the end; undefined if patience ended first. */
	last?: Answer;
}

const lookAt = async (service: ProbedService, route: Route, taskId: string) =>
	await service.ask(`/${route}/task/${encodeURIComponent(taskId)}`);

/** Notes what one look showed. Returns whether the task is over and nothing more is to come. */
function note(life: Life, answer: Answer): boolean {
	const task = answer.status === 200 ? parseTask(answer.json) : undefined;
	if (task === undefined) {
		life.unclear.add(inWords(answer));
		return false;
	}
	life.task = task;
	life.statuses.add(task.status);
	life.progress.push(task.raw.progress);
	if (task.state === 'running') {
		if (task.errorText !== undefined) life.words.add(task.errorText);
		return false;
	}
	const over = task.state === 'failed' || outputsOf(task).length > 0;
	if (over) life.last = answer;
	else life.withoutResult += 1;
	return over;
}

/** Looks at a task until it is over and has a result, or patience ends; by the second route until one of them has shown it. */
export async function follow(service: ProbedService, taskId: string, pace: Pace): Promise<Life> {
	const life: Life = {
		first: {
			v1: await lookAt(service, 'v1', taskId),
			v1e: await lookAt(service, 'v1e', taskId),
		},
		statuses: new Set(),
		progress: [],
		words: new Set(),
		unclear: new Set(),
		withoutResult: 0,
	};
	let route: Route = life.first.v1.status !== 200 && life.first.v1e.status === 200 ? 'v1e' : 'v1';
	for (const until = Date.now() + pace.patienceMs; Date.now() < until;) {
		if (note(life, await lookAt(service, route, taskId))) break;
		if (life.task === undefined) route = route === 'v1' ? 'v1e' : 'v1';
		await delay(pace.pollMs);
	}
	return life;
}
