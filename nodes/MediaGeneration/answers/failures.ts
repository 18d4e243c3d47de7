/** Describes the failures of tasks: they say what was paid for and what to do next. */
import { asFailure, messageOf, type Failure } from '../base/outcomes';
import { quote, seconds } from '../base/words';
import { isObject } from '../base/json';
import type { Poll } from './poll';
import { errorTextOf } from './said';
import type { Task } from './task';

const USE_WAIT = 'Nothing needs to be paid again: use the operation "Task: Wait" with this task ID';

export const FAILED_ADVICE =
	'The service ended this task with an error. Correct the input if the reason points to it, then run the node that created the task again, which pays for a new one. Services usually refund failed tasks; check the credits.';

export function taskFailed(taskId: string, task: Task): Failure {
	const reason = quote(errorTextOf(task.raw));
	const message = `Task ${taskId} failed${reason === undefined ? '' : `: ${reason}`}`;
	return { outcome: 'failed', message, description: FAILED_ADVICE, taskId, status: task.status };
}

export function timedOut(
	taskId: string,
	timeoutMs: number,
	{ task, detail }: { task: Task | undefined; detail: string | undefined },
): Failure {
	const seen = task ? `its last status was "${task.status}"` : 'the service never described it';
	const words = quote(detail);
	const trouble = words === undefined ? '' : ` The last poll failed: ${words}.`;
	const message = `Task ${taskId} was not finished after ${seconds(timeoutMs)}; ${seen}`;
	const description = `The task is paid for and may still finish. ${USE_WAIT}. For later runs, raise the Timeout option.${trouble}`;
	return { outcome: 'timed_out', message, description, taskId, status: task?.status };
}

export function cancelled(taskId: string, status: string | undefined): Failure {
	const message = `The execution was stopped while task ${taskId} was running`;
	const description = `The task keeps running at the service, and you are charged for it. ${USE_WAIT}.`;
	return { outcome: 'cancelled', message, description, taskId, status };
}

/** Describes a task that the service does not show. */
export function notShown(taskId: string, poll: Poll & { kind: 'denied' | 'missing' }): Failure {
	const { kind, detail, httpStatus } = poll;
	const why = quote(detail) ?? 'no reason given';
	const task = `Task ${quote(taskId, 100)} can't be`;
	const [what, description] =
		kind === 'missing'
			? [
					`found at the service: ${why}`,
					'Check that the Base URL and the API key belong to the account that made the task, and that the task ID is complete.',
				]
			: poll.final
				? [
						`read: ${why}`,
						'Look at the task at the service: it was created, and you may be charged for it.',
					]
				: [
						`read: the service refused to show it (${why})`,
						`The API key may have expired, been revoked or run out of credits. Put a valid key of the same account into the credential. ${USE_WAIT}.`,
					];
	return { outcome: 'unreachable', message: `${task} ${what}`, description, taskId, httpStatus };
}

/** Describes an unexpected exception: of n8n's store, a parser, a bug of ours. @param taskId the item's first; without one, nobody knows what was created */
export function broken(
	error: unknown,
	reached: 'nothing' | 'sent' | 'done',
	taskId?: string,
): Failure {
	if (reached === 'nothing') return asFailure(error);
	const reason = messageOf(error);
	if (taskId === undefined) {
		const message = `Creating the task was interrupted (${reason}). The task may exist`;
		const description =
			'The service may have created the task and charged for it. Check the task list at the service.';
		return { outcome: 'unknown', message, description };
	}
	if (reached === 'sent') {
		const message = `Task ${taskId} exists, but waiting for it was interrupted: ${reason}`;
		return { outcome: 'unreachable', message, description: `${USE_WAIT}.`, taskId };
	}
	const message = `Task ${taskId} is done, but its result could not be handed over: ${reason}`;
	const description = `${USE_WAIT}, once n8n can store the files.`;
	return { outcome: 'undelivered', message, description, taskId, status: 'done' };
}

/** Describes a task that should have made a file, but names none. */
export function withoutOutputs(taskId: string, task: Task): Failure {
	const { metadata } = task.raw;
	const reason = quote(errorTextOf(task.raw));
	const keys = Object.keys(isObject(metadata) ? metadata : {}).slice(0, 20);
	const has = keys.length === 0 ? 'is empty' : `has only: ${quote(keys.join(', '))}`;
	const why =
		reason === undefined
			? `the service names no output file; its metadata ${has}`
			: `the service made no file: ${reason}`;
	const message = `Task ${taskId} is done, but ${why}`;
	const description =
		reason === undefined
			? 'Look at the task with "Task: Get". If the files appear later, "Task: Wait" with this task ID fetches them without paying again.'
			: 'The service made nothing for the reason that it gives. Correct the input, then run the node that created the task again, which pays for a new one.';
	return { outcome: 'undelivered', message, description, taskId, status: task.status };
}

export const OUT_OF_CREDITS = 'The account seems to be out of credits. Add credits at the service.';

export const IN_FRONT =
	'Something in front of the service has answered, such as a CDN, a firewall or a proxy, which says nothing about the API key. Check the Base URL in the credential, and whether this n8n is let through.';

/** Such a 401 says nothing about the key (docs/service.md, "HTTP"). */
export const isAboutCredits = (status: number, said: string): boolean =>
	status === 401 && /\b(credits?|balance)\b/i.test(said);

/** What to do, without the full stop. @param reason why no answer came, or none that could be read */
export const unreachableAdvice = (reason: string): string =>
	/certificate/i.test(reason)
		? "n8n does not trust the service's certificate. If it is one of your company's own, set NODE_EXTRA_CA_CERTS to its file for the whole n8n, restart it"
		: 'Check the Base URL in the credential and whether the service is up';

function refusalAdvice(reason: string, status: number): string {
	if (isAboutCredits(status, reason)) return OUT_OF_CREDITS;
	return /permission|scope/i.test(reason)
		? 'The API key lacks a right that this needs. Give it that right at the service, or use another key.'
		: 'Check the API key in the credential: it may be invalid, expired or revoked.';
}

export function unreadable(
	what: string,
	reason: string,
	{ httpStatus, isPage = false }: { httpStatus?: number | undefined; isPage?: boolean } = {},
): Failure {
	const refused = httpStatus === 401 || httpStatus === 403;
	const message = `${what} could not be read: ${quote(reason) ?? 'no reason given'}`;
	const description = refused
		? isPage
			? IN_FRONT
			: refusalAdvice(reason, httpStatus)
		: `${unreachableAdvice(reason)}, then run again. Nothing was paid.`;
	return { outcome: refused ? 'rejected' : 'unreachable', message, description, httpStatus };
}
