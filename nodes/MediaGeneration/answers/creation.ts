/**
 * Decides what an answer to a creation means for payment. Only a request that can't have created anything is sent again; anything unclear is
 * `unknown` and never repeated. Pure. Sources: docs/service.md, "Shapes" (refusal inside 200) and "HTTP" (429, 503, 500).
 */
import { askedPauseMs, isAboutTasks, isServerBusy, limitIn } from './limits';
import { ownTextsOf } from './ownTexts';
import { saidIn, type Said } from './said';
import { deniesSuccess, refusalInside, type Answer, type NoAnswer, type Reply } from './reply';
import type { CreationRequest } from './request';
import type { Failure } from '../base/outcomes';
import { quote } from '../base/words';
import { namedTask, parseTask, taskIdOf, type NamedTask } from './task';
import { asText, isObject, type JsonObject } from '../base/json';
import { urlOf } from '../base/url';
import { IN_FRONT, isAboutCredits, OUT_OF_CREDITS, unreachableAdvice } from './failures';

/** A refusal that created nothing. */
export interface Refusal {
	/** `full`: too many tasks; `limited`: too many requests. Both wait in the account's queue. `retry`: sent again after a pause. */
	kind: 'retry' | 'full' | 'limited';
	failure: Failure;
	/** The pause that the service asks for, however long. */
	retryAfterMs: number | undefined;
	/** How long a series of such refusals is retried; undefined: until the deadline. */
	patienceMs: number | undefined;
}

export type Creation =
	| { kind: 'created'; taskId: string; answer: JsonObject }
	| Refusal
	/** A task may exist, and may be paid for: outcome `unknown`. */
	| { kind: 'unclear'; failure: Failure }
	/** Nothing was created, and nothing paid: outcome `rejected`. */
	| { kind: 'refused'; failure: Failure; said?: Said };

/** A person decides: the machine never sends such a creation again. */
export const UNCLEAR_ADVICE =
	'It may be paid for, so it is not sent again: look at the tasks and credits of the account at the service. If the task is there, fetch it with "Task: Wait" and its ID; if not, start a new execution for this item, or add the option "Resend If Answer Was Lost".';

/** With the option "Resend If Answer Was Lost". */
export const SENT_AGAIN =
	'It may be paid for. The next try sends it again if its task is not found, because the option "Resend If Answer Was Lost" is on: look at the tasks and credits of the account first.';

function unclear(message: string, httpStatus?: number, taskId?: string): Creation {
	const failure: Failure = {
		outcome: 'unknown',
		message,
		description: UNCLEAR_ADVICE,
		taskId,
		httpStatus,
	};
	return { kind: 'unclear', failure };
}

function rejected(message: string, advice: string, httpStatus?: number): Failure {
	const description = `${advice} No task was created and nothing was paid.`;
	return { outcome: 'rejected', message, description, httpStatus };
}

const ELSEWHERE =
	'The Base URL redirects elsewhere, and the API key is never sent along. Enter the final address in the credential.';

/** By status. Only the redirects listed here are refusals: they ask for the same request elsewhere, so this one did nothing (RFC 9110, 15.4). */
const REFUSAL_ADVICE: Readonly<Record<number, string>> = {
	301: ELSEWHERE,
	307: ELSEWHERE,
	308: ELSEWHERE,
	401: 'Check the API key in the credential (invalid, expired or revoked) and the credits of the account.',
	402: OUT_OF_CREDITS,
	403: 'The API key is not allowed to do this. Check the key and the plan at the service.',
	404: 'Check the Base URL in the credential and the path, voice or model named in the node.',
	// A proxy's refusal of CONNECT reaches n8n as if it were the service's answer.
	407: 'A proxy on the way asks for a login: check the user and password in HTTPS_PROXY.',
	413: 'The input is too large for the service. Shorten it.',
};

const LIMITS: Readonly<Record<ReturnType<typeof limitIn>, [refused: string, advice: string]>> = {
	cap: [
		'The API key has reached its daily or spend limit',
		'Raise the limit of the key on the API Keys page of the service, use another key, or run again tomorrow.',
	],
	rate: [
		'The service accepts no more tasks at the moment',
		'Lower the option Max Active Tasks, raise the Timeout option, or run again later.',
	],
	ambiguous: [
		'The service refused the task because of a limit it does not name',
		'It is either a rate limit (run again later or lower Max Active Tasks) or the daily spend limit of the API key (raise it on the API Keys page).',
	],
};

const saidBy = ({ words }: Said) => quote(words) ?? '';

/** Nothing was created: a pause that the service asks for is kept, whatever the words, which decide only without one. */
function readTooMany(said: Said): Creation {
	const retryAfterMs = askedPauseMs(said);
	const limit = limitIn(said);
	const isCap = limit === 'cap' && retryAfterMs === undefined;
	const [refused, advice] = LIMITS[limit];
	const failure = rejected(`${refused} (${saidBy(said)})`, advice, said.answer.status);
	if (isCap) return { kind: 'refused', failure, said };
	if (limit !== 'rate' && retryAfterMs === undefined)
		return { kind: 'retry', failure, retryAfterMs, patienceMs: 60_000 };
	const kind = limit === 'rate' && isAboutTasks(said) ? 'full' : 'limited';
	return { kind, failure, retryAfterMs, patienceMs: undefined };
}

function unusable({ answer: { text, body, unread }, isPage }: Said): string {
	if (unread !== undefined) return `an answer ${unread}`;
	if (text === '') return 'an empty answer';
	if (isPage) return 'a page that is not JSON, from something in front of the service';
	if (body === undefined) return 'an answer that is not JSON';
	// An endpoint that creates no task, such as one that clones a voice, returns its result here.
	return `an answer without task_id (${quote(text)})`;
}

/** Whether something may have been created. A gateway gives up with 408, or with 499 (google.rpc.Code, CANCELLED). */
export const leavesOpen = (status: number) => status >= 500 || status === 408 || status === 499;

function readSuccess(said: Said, named: NamedTask | undefined): Creation {
	const { answer, words } = said;
	const { body, status, headers } = answer;
	const taskId = taskIdOf(body);
	const inner = refusalInside(body);
	const hasId = named !== undefined || (taskId !== undefined && !deniesSuccess(body));
	const isBusy = inner === 503 && isServerBusy(said);
	if (inner !== undefined && (isBusy || !leavesOpen(inner)) && !hasId) {
		const isLimit = limitIn(said) === 'rate' || askedPauseMs(said) !== undefined;
		if (inner === 429 || isLimit) return readTooMany(said);
		const advice =
			REFUSAL_ADVICE[inner] ?? 'Correct the fields that the message names, or check the credits.';
		const reason = quote(words.replace(/^HTTP \d+(: )?/, '')) ?? 'no reason given';
		const failure = rejected(`The service refused the task: ${reason}`, advice, status);
		return { kind: 'refused', failure, said };
	}
	if (taskId !== undefined && isObject(body)) return { kind: 'created', taskId, answer: body };
	const message = `The service accepted the request (HTTP ${status}) but sent ${unusable(said)}; the task may exist`;
	return unclear(message, status, named?.taskId ?? taskIdInAddress(headers.location));
}

function readSilence({ kind, reason }: NoAnswer): Creation {
	if (kind === 'unanswered')
		return unclear(`The answer to the request never came (${quote(reason)}); the task may exist`);
	if (kind === 'unsent') {
		const still =
			'Check that n8n still has the files of this execution, and that the service takes files of their size, and run again.';
		const message = `The request was not sent whole: ${quote(reason)}`;
		return { kind: 'refused', failure: rejected(message, still) };
	}
	const message = `The service could not be reached: ${quote(reason)}`;
	const failure = rejected(message, `${unreachableAdvice(reason)}, then run again.`);
	const patienceMs = kind === 'impossible' ? 10_000 : 60_000;
	return { kind: 'retry', failure, retryAfterMs: undefined, patienceMs };
}

/** @param request whose own words, which a refusal can quote, decide nothing */
export function readCreation(reply: Reply, request: CreationRequest): Creation {
	if (!reply.answered) return readSilence(reply);
	const own = ownTextsOf(request);
	const said = saidIn(reply, own);
	const named = namedTask(reply, own);
	const alive = named === undefined ? aliveIn(reply, own) : undefined;
	if (alive !== undefined) return namesTask(said, alive);
	if (reply.status >= 200 && reply.status < 300) return readSuccess(said, named);
	if (named === undefined) return readRefusal(said);
	return namesTask(said, taskIdOf(reply.body) ?? named.taskId);
}

/** Finds the task that a refusal shows as alive, by a bare `id`. What merely numbers the answer has no such status, and the request can name a task itself. */
function aliveIn({ body, status }: Answer, own: readonly string[]): string | undefined {
	const isRefusal = deniesSuccess(body) || (status >= 400 && status < 500);
	const task = isRefusal && status !== 429 ? parseTask(body) : undefined;
	const { id, status: state = '' } = task ?? {};
	const isAlive = /^(queued|pending|created|doing|running|processing|done)$/i.test(state);
	return isAlive && !own.includes(id ?? '') ? id : undefined;
}

function namesTask(said: Said, taskId: string | undefined): Creation {
	const message = `The service refused the request (${saidBy(said)}) but named a task (${quote(taskId) ?? 'see its answer'}); it may exist`;
	return unclear(message, said.answer.status, taskId);
}

function readRefusal(said: Said): Creation {
	const { isPage, reasons, answer } = said;
	const { status, body, headers } = answer;
	const words = saidBy(said);
	if (status === 429) return readTooMany(said);
	if (status === 503 && isServerBusy(said)) {
		const later = 'Run again later, or raise the Timeout option.';
		const failure = rejected(`The service is busy (${words})`, later, status);
		return { kind: 'retry', failure, retryAfterMs: askedPauseMs(said), patienceMs: undefined };
	}
	if (status >= 300 && status < 400 && !(status in REFUSAL_ADVICE)) {
		// It may point to what the request created, as a 303 does by definition (RFC 9110, 15.4.4).
		const taskId = taskIdOf(body) ?? taskIdInAddress(headers.location);
		const which = taskId === undefined ? '' : ` and named a task (${quote(taskId)})`;
		const message = `The service answered with a redirect (${words})${which}; the task may exist`;
		return unclear(message, status, taskId);
	}
	if (leavesOpen(status) || status < 200) {
		const message = `The service failed while it handled the request (${words}); the task may exist`;
		return unclear(message, status);
	}
	const isBlocked = isPage && status >= 400 && ![404, 407, 413].includes(status);
	const advice = isBlocked
		? IN_FRONT
		: (REFUSAL_ADVICE[isAboutCredits(status, reasons) ? 402 : status] ??
			'Correct the fields that the message names.');
	const failure = rejected(`The service refused the task (${words})`, advice, status);
	return { kind: 'refused', failure, said };
}

/** Finds the ID in a task's address: `.../task/ID`, as in the poll routes, or `?task_id=ID`. */
function taskIdInAddress(location: unknown): string | undefined {
	const { pathname = '', searchParams } = urlOf(location, 'https://any.example') ?? {};
	const [, inPath] = /\/tasks?\/([^/]+)\/?$/.exec(pathname) ?? [];
	return asText(searchParams?.get('task_id')) ?? inPath;
}
