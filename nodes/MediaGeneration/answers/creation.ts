/**
 * Decides what an answer to a creation means for payment. Only a request that can't have created anything is sent again; anything unclear is
 * `unknown` and never repeated. Pure. Sources: docs/service.md, "Shapes" (refusal inside 200) and "HTTP" (429, 503, 500).
 */
import { askedPauseMs, isAboutTasks, isServerBusy, limitIn } from './limits';
import { ownTextsOf } from './ownTexts';
import { saidIn, type Said } from './said';
import {
	deniesSuccess,
	isSuccessful,
	refusalInside,
	type Answer,
	type NoAnswer,
	type Reply,
} from './reply';
import type { CreationRequest } from './request';
import type { Failure } from '../base/outcomes';
import { quote } from '../base/words';
import { namedTask, parseTask, taskIdOf, type NamedTask } from './task';
import { asText, type JsonObject } from '../base/json';
import { urlOf } from '../base/url';
import { IN_FRONT, isAboutCredits, OUT_OF_CREDITS, unreachableAdvice } from './failures';

/** Nothing was created, and the same request may be sent again. */
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
	/** Refused for good, and nothing was paid: outcome `rejected`. `said` is missing if no answer came. */
	| { kind: 'refused'; failure: Failure; said?: Said };

/** A person decides: the machine never sends such a creation again. */
export const UNCLEAR_ADVICE =
	'It may be paid for, so it is not sent again: look at the tasks and credits of the account at the service. If the task is there, fetch it with "Task: Wait" and its ID; if not, start a new execution for this item, or add the option "Resend If Answer Was Lost".';

/** The same with the option "Resend If Answer Was Lost". */
export const SENT_AGAIN =
	'It may be paid for. The next try sends it again if its task is not found, because the option "Resend If Answer Was Lost" is on: look at the tasks and credits of the account first.';

function rejected(message: string, advice: string, httpStatus?: number): Failure {
	const description = `${advice} No task was created and nothing was paid.`;
	return { outcome: 'rejected', message, description, httpStatus };
}

const ELSEWHERE =
	'The Base URL redirects elsewhere, and the API key is never sent along. Enter the final address in the credential.';

/** Advice by status. Only the redirects listed here are refusals: they ask for the same request elsewhere, so this one did nothing (RFC 9110, 15.4). */
const REFUSAL_ADVICE: Readonly<Record<number, string>> = {
	0: 'Correct the fields that the message names, or check the credits.',
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

/** Returns whether something may have been created. A gateway gives up with 408, or with 499 (google.rpc.Code, CANCELLED). */
export const leavesOpen = (status: number) => status >= 500 || status === 408 || status === 499;

/** Returns the ID of the new task in an answer that leaves no doubt. In a refusal, a bare "id" may merely number the answer. */
const plainIdIn = (answer: Answer) =>
	isSuccessful(answer) && !deniesSuccess(answer.body) ? taskIdOf(answer.body) : undefined;

const created = (taskId: string, { body }: Answer): Creation => {
	return { kind: 'created', taskId, answer: body as JsonObject };
};

type Evidence = ReturnType<typeof evidenceIn>;

/** Collects what the meaning of an answer depends on. */
function evidenceIn(answer: Answer, own: readonly string[]) {
	const { status, body } = answer;
	const said = saidIn(answer, own);
	const words = quote(said.words) ?? '';
	// Nothing was created at 429: whatever is named is another task.
	const mayName = status !== 429;
	const named = mayName ? namedTask(answer, own) : undefined;
	const alive = mayName && named === undefined ? aliveIn(answer, own) : undefined;
	const isSuccess = isSuccessful(answer);
	const hasTask = named !== undefined;
	return {
		...{ said, words, status },
		/** The status, or the code of a refusal inside HTTP 200: 0 if it has none. */
		code: (isSuccess && !hasTask ? refusalInside(body) : undefined) ?? status,
		/** The ID of the new task, unless the answer is a refusal. A bare "id" beside another task merely numbers the answer. */
		createdId: isSuccess && taskIdOf(body) === named?.taskId ? named?.taskId : undefined,
		/** A task that may be the new one, and whether a refusal names it. */
		named: named ?? alive ?? pointedTo(answer),
		isInRefusal: alive !== undefined || (named !== undefined && !isSuccess),
	};
}

/** Finds the task that a refusal shows as alive, by a bare `id`. What merely numbers the answer has no such status, and the request can name a task itself. */
function aliveIn({ body, status }: Answer, own: readonly string[]): NamedTask | undefined {
	const isRefusal = deniesSuccess(body) || (status >= 400 && status < 500);
	const task = isRefusal ? parseTask(body) : undefined;
	const { id: taskId, status: state = '' } = task ?? {};
	const isAlive = /^(queued|pending|created|doing|running|processing|done)$/i.test(state);
	return isAlive && taskId !== undefined && !own.includes(taskId) ? { taskId } : undefined;
}

/** Finds what an answer points to, as a 303 does by definition (RFC 9110, 15.4.4): `.../task/ID`, as in the poll routes, or `?task_id=ID`. */
function pointedTo({ status, headers, body }: Answer): NamedTask | undefined {
	if (status >= 400) return undefined;
	const { pathname = '', searchParams } = urlOf(headers.location, 'https://any.example') ?? {};
	const [, inPath] = /\/tasks?\/([^/]+)\/?$/.exec(pathname) ?? [];
	const inBody = status >= 300 ? taskIdOf(body) : undefined;
	const taskId = inBody ?? asText(searchParams?.get('task_id')) ?? inPath;
	return taskId === undefined ? undefined : { taskId };
}

/**
 * The first line that applies decides: status and headers first, codes second, words last.
 * @param request whose own words, which a refusal can quote, decide nothing
 */
export function readCreation(reply: Reply, request: CreationRequest): Creation {
	if (!reply.answered) return readSilence(reply);
	const plainId = plainIdIn(reply);
	if (plainId !== undefined) return created(plainId, reply);
	const evidence = evidenceIn(reply, ownTextsOf(request));
	const { said, words, status, code, createdId, named } = evidence;
	const unclear = (what: string) => mayExist(`The service ${what}`, status, named?.taskId);
	const naming = named && `named a task (${quote(named.taskId) ?? 'see its answer'})`;
	if (evidence.isInRefusal) return unclear(`refused the request (${words}) but ${naming}`);
	if (createdId !== undefined) return created(createdId, reply);
	if (status >= 300 && status < 400 && !(status in REFUSAL_ADVICE))
		return unclear(
			`answered with a redirect (${words})${naming === undefined ? '' : ` and ${naming}`}`,
		);
	if (code === 429) return readTooMany(evidence);
	if (code === 503 && isServerBusy(said)) return readBusy(evidence);
	if (status < 200 || leavesOpen(code))
		return unclear(`failed while it handled the request (${words})`);
	if (code >= 200 && code < 300)
		return unclear(`accepted the request (HTTP ${status}) but sent ${unusable(said)}`);
	// Inside HTTP 200, a limit may have no code.
	const isLimit = limitIn(said) === 'rate' || askedPauseMs(said) !== undefined;
	return status < 300 && isLimit ? readTooMany(evidence) : readRefusal(evidence);
}

function mayExist(what: string, httpStatus?: number, taskId?: string): Creation {
	const message = `${what}; the task may exist`;
	const common = { outcome: 'unknown', description: UNCLEAR_ADVICE } as const;
	return { kind: 'unclear', failure: { ...common, message, taskId, httpStatus } };
}

function readBusy({ said, words, status }: Evidence): Creation {
	const advice = 'Run again later, or raise the Timeout option.';
	const failure = rejected(`The service is busy (${words})`, advice, status);
	return { kind: 'retry', failure, retryAfterMs: askedPauseMs(said), patienceMs: undefined };
}

/** Nothing was created. A pause that the service asks for is kept, whatever the words, which decide only without one. */
function readTooMany({ said, words, status }: Evidence): Creation {
	const retryAfterMs = askedPauseMs(said);
	const limit = limitIn(said);
	const [refused, advice] = LIMITS[limit];
	const failure = rejected(`${refused} (${words})`, advice, status);
	if (limit === 'cap' && retryAfterMs === undefined) return { kind: 'refused', failure, said };
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

function readRefusal({ said, words, status, code }: Evidence): Creation {
	const isBlocked = said.isPage && code >= 400 && ![404, 407, 413].includes(code);
	const byCode = REFUSAL_ADVICE[isAboutCredits(code, said.reasons) ? 402 : code];
	const advice = isBlocked ? IN_FRONT : (byCode ?? 'Correct the fields that the message names.');
	const inside = words.replace(/^HTTP \d+(: )?/, '') || 'no reason given';
	const why = code === status ? ` (${words})` : `: ${inside}`;
	return {
		kind: 'refused',
		failure: rejected(`The service refused the task${why}`, advice, status),
		said,
	};
}

function readSilence({ kind, reason }: NoAnswer): Creation {
	const why = quote(reason);
	if (kind === 'unanswered') return mayExist(`The answer to the request never came (${why})`);
	if (kind === 'unsent') {
		const still =
			'Check that n8n still has the files of this execution, and that the service takes files of their size, and run again.';
		return { kind: 'refused', failure: rejected(`The request was not sent whole: ${why}`, still) };
	}
	const advice = `${unreachableAdvice(reason)}, then run again.`;
	const failure = rejected(`The service could not be reached: ${why}`, advice);
	const patienceMs = kind === 'impossible' ? 10_000 : 60_000;
	return { kind: 'retry', failure, retryAfterMs: undefined, patienceMs };
}
