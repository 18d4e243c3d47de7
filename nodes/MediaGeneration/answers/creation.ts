/**
 * Decides what an answer to a creation means for payment. Only a request that can't have created anything is sent again; anything unclear is
 * `unknown` and never repeated. Pure. Sources: docs/service.md, "Shapes" (refusal inside 200) and "HTTP" (429, 503, 500).
 */
import { isServerBusy, kindOf429, retryAfterMs } from './limits';
import { reasonsOf } from './said';
import type { Answer, NoAnswer, Reply } from './reply';
import type { Failure } from '../base/outcomes';
import { quote } from '../base/words';
import { mentionsTask, taskIdIn, taskIdOf } from './task';
import { errorTextOf } from './said';
import { asText, isObject, urlOf, type JsonObject } from '../base/json';
import { wordsOf } from './said';
import { isAboutCredits, OUT_OF_CREDITS } from './failures';

/** A refusal that created nothing. */
export interface Refusal {
	/** `full`: too many tasks; `limited`: too many requests. Both wait in the account's queue. `retry`: sent again after a pause. */
	kind: 'retry' | 'full' | 'limited';
	failure: Failure;
	retryAfterMs: number | undefined;
	/** How long a series of such refusals is retried; undefined: until the deadline. */
	patienceMs: number | undefined;
}

export type Creation =
	| { kind: 'created'; taskId: string; answer: JsonObject }
	| Refusal
	/** A task may exist, and may be paid for: outcome `unknown`. */
	| { kind: 'unclear'; failure: Failure }
	/** Refused, and nothing was paid: outcome `rejected`. */
	| { kind: 'failed'; failure: Failure };

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

function retry(failure: Failure, { headers }: Answer): Refusal {
	return { kind: 'retry', failure, retryAfterMs: retryAfterMs(headers), patienceMs: undefined };
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

const LIMITS: Readonly<Record<ReturnType<typeof kindOf429>, [refused: string, advice: string]>> = {
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

const saidBy = (answer: Answer) => quote(wordsOf(answer)) ?? `HTTP ${answer.status}`;

function readTooMany(answer: Answer): Creation {
	const limit = kindOf429(answer.body);
	const [refused, advice] = LIMITS[limit];
	const failure = rejected(`${refused} (${saidBy(answer)})`, advice, answer.status);
	if (limit === 'cap') return { kind: 'failed', failure };
	const again = retry(failure, answer);
	if (limit === 'ambiguous') return { ...again, patienceMs: 60_000 };
	// These words refer to running or queued tasks, not to requests.
	const isFull = /active.?task|concurren|queue/i.test(reasonsOf(answer.body));
	return { ...again, kind: isFull ? 'full' : 'limited' };
}

function unusable({ text, body, unread }: Answer): string {
	if (unread !== undefined) return `an answer ${unread}`;
	if (text === '') return 'an empty answer';
	if (body === undefined) return 'an answer that is not JSON';
	// An endpoint that creates no task, such as one that clones a voice, returns its result here.
	return `an answer without task_id (${quote(text)})`;
}

function readSuccess(answer: Answer): Creation {
	const { body, status } = answer;
	// A refusal can arrive inside HTTP 200 (docs/service.md, "Shapes"). If it contains a task ID anywhere, that task may be paid for.
	if (isObject(body) && body.success === false && !mentionsTask(answer.text)) {
		if (/active.?task.?limit/i.test(reasonsOf(body)) || isServerBusy(body))
			return readTooMany(answer);
		const advice = 'Correct the fields that the message names, or check the credits.';
		const message = `The service refused the task: ${quote(errorTextOf(body)) ?? 'no reason given'}`;
		return { kind: 'failed', failure: rejected(message, advice, status) };
	}
	const taskId = taskIdOf(body);
	if (taskId !== undefined && isObject(body)) return { kind: 'created', taskId, answer: body };
	const message = `The service accepted the request (HTTP ${status}) but sent ${unusable(answer)}; the task may exist`;
	const { text, headers } = answer;
	return unclear(message, status, taskIdIn(text) ?? taskIdInAddress(headers.location));
}

function readSilence({ kind, reason }: NoAnswer): Creation {
	if (kind === 'unanswered')
		return unclear(`The answer to the request never came (${reason}); the task may exist`);
	if (kind === 'unsent') {
		const still =
			'Check that n8n still has the files of this execution, and that the service takes files of their size, and run again.';
		const message = `The request was not sent whole: ${reason}`;
		return { kind: 'failed', failure: rejected(message, still) };
	}
	const advice = 'Check the Base URL in the credential and whether the service is up.';
	const failure = rejected(`The service could not be reached: ${reason}`, advice);
	const patienceMs = kind === 'impossible' ? 10_000 : 60_000;
	return { kind: 'retry', failure, retryAfterMs: undefined, patienceMs };
}

export function readCreation(reply: Reply): Creation {
	if (!reply.answered) return readSilence(reply);
	const { status } = reply;
	return status >= 200 && status < 300 ? readSuccess(reply) : readRefusal(reply);
}

function readRefusal(answer: Answer): Creation {
	const { status, body, headers } = answer;
	const said = saidBy(answer);
	if (mentionsTask(answer.text)) {
		const taskId = taskIdOf(body) ?? taskIdIn(answer.text);
		const message = `The service refused the request (${said}) but named a task (${taskId ?? 'see its answer'}); it may exist`;
		return unclear(message, status, taskId);
	}
	if (status === 429) return readTooMany(answer);
	if (status === 503 && isServerBusy(body)) {
		const later = 'Run again later, or raise the Timeout option.';
		return retry(rejected(`The service is busy (${said})`, later, status), answer);
	}
	if (status >= 300 && status < 400 && !(status in REFUSAL_ADVICE)) {
		// It may point to what the request created, as a 303 does by definition (RFC 9110, 15.4.4).
		const taskId = taskIdOf(body) ?? taskIdInAddress(headers.location);
		const named = taskId === undefined ? '' : ` and named a task (${taskId})`;
		const message = `The service answered with a redirect (${said})${named}; the task may exist`;
		return unclear(message, status, taskId);
	}
	// A gateway gives up with 408, or with 499 (google.rpc.Code, CANCELLED).
	if (status >= 500 || status === 408 || status === 499 || status < 200) {
		const message = `The service failed while it handled the request (${said}); the task may exist`;
		return unclear(message, status);
	}
	const advice =
		REFUSAL_ADVICE[isAboutCredits(status, said) ? 402 : status] ??
		'Correct the fields that the message names.';
	const failure = rejected(`The service refused the task (${said})`, advice, status);
	return { kind: 'failed', failure };
}

/** Finds the ID in a task's address: `.../task/ID`, as in the poll routes, or `?task_id=ID`. */
function taskIdInAddress(location: unknown): string | undefined {
	const { pathname = '', searchParams } = urlOf(location, 'https://any.example') ?? {};
	const [, inPath] = /\/tasks?\/([^/]+)\/?$/.exec(pathname) ?? [];
	return asText(searchParams?.get('task_id')) ?? inPath;
}
