/**
 * A service in this process that does what a history says: it creates tasks, loses answers, refuses, throttles and calls back. It keeps
 * book of what was sent and of what it meant, which is what the rules are checked against.
 */
import type { IDataObject } from 'n8n-workflow';
import {
	OWN_FIELDS,
	PLAIN_TASK,
	type CreationFault,
	type CreationKind,
	type History,
	type LookFault,
	type RetryAfter,
	type TaskScript,
} from './history';
import { textOf } from './fields';
import { listAnswer } from './list';
import type { Machine } from '../support/machine';

export interface Request {
	method: string;
	url: string;
	headers: Record<string, unknown>;
	body: IDataObject | undefined;
	/** Its query, as far as it is not part of the URL. */
	qs?: IDataObject | undefined;
}
/** Who sends a request. */
export interface Sender {
	executionId: string;
	/** Whether its process lives, so that an answer is heard. */
	isAlive: () => boolean;
}
export interface Response {
	statusCode: number;
	headers: Record<string, unknown>;
	body: string;
}

/**
 * `free`: nothing was created, and the answer proves it. `told`: a task was created, and the answer names it. `unclear`: nobody
 * can tell from the answer.
 */
export type Fate = 'free' | 'told' | 'unclear';

/** One creation as it was sent. */
export interface Sent {
	/** Which item and part it is for, e.g. `i0p1`. */
	slot: string;
	/** The whole request, as text. */
	text: string;
	/** What became of it. */
	kind: CreationKind;
	executionId: string;
	atMs: number;
	fate: Fate;
	/** What all tasks before it have cost. */
	spentBefore: number;
	/** Whether an unclear answer names the task all the same. */
	named: boolean;
	task: Task | undefined;
	/** Ms at which its answer, or its error, came to the process that sent it; undefined where none came. */
	answeredMs: number | undefined;
}

export interface Task {
	id: string;
	script: TaskScript;
	createdMs: number;
	sent: Sent;
	/** Services show it with the task. */
	receiveUrl: unknown;
}

const REFUSALS: Partial<Record<CreationKind, { status: number; body: IDataObject }>> = {
	refused: { status: 400, body: { error: 'bad voice' } },
	unauthorized: { status: 401, body: { success: false, error: 'invalid key' } },
	'out of credits': { status: 402, body: { error: 'no credits' } },
	'daily cap': { status: 429, body: { error: 'daily limit reached' } },
	'refused inside 200': { status: 200, body: { success: false, message: 'bad text' } },
	full: { status: 429, body: { code: 'active_task_limit', message: 'too many active tasks' } },
	'limit without a name': { status: 429, body: { message: 'limit' } },
	busy: { status: 503, body: { success: false, code: 'server_busy', message: 'server busy' } },
};
const UNCLEAR: Partial<Record<CreationKind, { status: number; body: string }>> = {
	'HTTP 500': { status: 500, body: '{"error":"internal"}' },
	'HTTP 502 page': { status: 502, body: '<html>bad gateway</html>' },
	'HTTP 504': { status: 504, body: '' },
	'200 empty': { status: 200, body: '' },
	'200 page': { status: 200, body: '<html>welcome</html>' },
	'200 without ID': { status: 200, body: '{"success":true}' },
	'200 list': { status: 200, body: '[1,2]' },
	'sent elsewhere': { status: 303, body: '' },
};
const PLAIN_CREATION: CreationFault = { kind: 'ok', created: true, retryAfter: 'none' };
const PLAIN_LOOK: LookFault = { kind: 'ok', retryAfter: 'none', json: undefined };
const CREDITS = 100;
export const ELSEWHERE = 'other-client';
/** What the first item asks for. */
function fieldsBody(history: History) {
	const text = textOf(history, 0, '(0.0)');
	return history.node.operation === 'image' ? { prompt: text } : { text };
}
const SLOW_MS = 15_000;

const socketError = (code: string, syscall: string) =>
	Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
const never = async () => await new Promise<never>(() => undefined);

export class Service {
	readonly sent: Sent[] = [];
	readonly tasks: Task[] = [];
	/** Readings of the list of tasks: whether they came to a list, or to none. */
	readonly listed: Array<{
		executionId: string;
		atMs: number;
		said: 'list' | 'missing' | 'nothing';
		/** Those that it showed. */
		ids: string[];
	}> = [];
	/** An equal task that another client makes while nothing of this node runs. */
	readonly elsewhere: Array<{ id: string; createdMs: number; sent: Pick<Sent, 'text'> }> = [];
	private looks = 0;
	/** Tasks that were once answered with any JSON. */
	private readonly oddLooks = new Set<string>();
	private creations = 0;

	constructor(
		private readonly machine: Machine,
		private readonly history: History,
		readonly filesUrl: string,
		private readonly world: {
			note: (line: string) => void;
			/** Calls a receive URL. */
			call: (url: string, body: IDataObject) => void;
		},
	) {
		// Where n8n itself breaks, an execution leaves no notes, and its Retry may look for tasks.
		if (history.node.before !== 'fails' || history.breaks.length > 0) return;
		const text = JSON.stringify(fieldsBody(history));
		this.elsewhere.push({ id: ELSEWHERE, createdMs: 2_000, sent: { text } });
	}

	/** In credits. Tasks whose cost nobody names cost nothing. */
	get spent(): number {
		return this.tasks.reduce((sum, { script }) => sum + Math.max(0, script.cost), 0);
	}

	/** Whether a task is over, and how, at this moment. */
	stateOf({ script, createdMs }: Task, atMs = this.machine.elapsed): 'doing' | 'done' | 'error' {
		if (script.end === 'never' || atMs < createdMs + script.seconds * 1000) return 'doing';
		return script.end === 'error' ? 'error' : 'done';
	}

	/** The answer to one request. Rejects where the connection breaks. */
	async handle(request: Request, sender: Sender): Promise<Response> {
		const { pathname } = new URL(request.url);
		if (request.method === 'POST') return await this.create(request, sender);
		await this.machine.pause(30);
		if (pathname === '/v1/credits') return this.json(200, { credits: CREDITS - this.spent });
		if (pathname === '/v1/tasks') {
			const type = this.history.node.operation === 'sound' ? 'sound_effect' : 'speech';
			const { kind, faults } = this.history.list;
			const fault = faults[this.listed.length];
			const { elapsed } = this.machine;
			const isMissing = fault === 'missing' || (fault === undefined && kind === 'none');
			const said = isMissing ? 'missing' : fault === undefined ? 'list' : 'nothing';
			const since = this.history.events.some(({ kind }) => /^(death|stop)$/.test(kind))
				? 0
				: undefined;
			const answer = listAnswer(this, this.history.list, { elapsed, type, fault, since });
			const ids = this.tasks.flatMap(({ id }) => (answer.body.includes(`"${id}"`) ? [id] : []));
			this.listed.push({ executionId: sender.executionId, atMs: elapsed, said, ids });
			this.world.note(`the list of tasks is read: ${fault ?? kind}`);
			return answer;
		}
		return await this.look(request, decodeURIComponent(pathname.split('/').pop() ?? ''));
	}

	private json(statusCode: number, body: unknown, retryAfter: RetryAfter = 'none'): Response {
		return { statusCode, headers: this.headers(retryAfter), body: JSON.stringify(body) };
	}

	private headers(retryAfter: RetryAfter): Record<string, unknown> {
		if (retryAfter === 'none') return {};
		const date = (ms: number) => new Date(this.machine.wall() + ms).toUTCString();
		const dates: Partial<Record<RetryAfter, string>> = {
			date: date(20_000),
			'past date': date(-60_000),
		};
		return { 'retry-after': dates[retryAfter] ?? retryAfter };
	}

	/** What becomes of the next creation. */
	private nextFault(): CreationFault {
		const fault = this.history.creations[this.creations] ?? PLAIN_CREATION;
		this.creations += 1;
		return fault;
	}

	private async create(request: Request, { executionId, isAlive }: Sender): Promise<Response> {
		const fault = this.nextFault();
		const slot = /i\d+p\d+/.exec(JSON.stringify(request.body))?.[0] ?? '?';
		const atMs = this.machine.elapsed;
		const sent: Sent = {
			slot,
			text: JSON.stringify(request.body),
			kind: fault.kind,
			executionId,
			atMs,
			fate: 'free',
			spentBefore: this.spent,
			named: false,
			task: undefined,
			answeredMs: undefined,
		};
		this.sent.push(sent);
		try {
			return await this.creationAnswer(request, fault, sent);
		} finally {
			if (isAlive()) sent.answeredMs = this.machine.elapsed;
		}
	}

	private async creationAnswer(
		request: Request,
		{ kind, created, retryAfter }: CreationFault,
		sent: Sent,
	): Promise<Response> {
		const { machine } = this;
		const say = (what: string) =>
			this.world.note(`POST ${sent.slot} of execution ${sent.executionId}: ${kind}, ${what}`);
		const refusal = REFUSALS[kind];
		if (refusal !== undefined) {
			say('nothing created');
			await machine.pause(40);
			return this.json(refusal.status, refusal.body, retryAfter);
		}
		if (kind === 'never connected' || kind === 'no such host') {
			say('nothing sent');
			await machine.pause(5);
			throw kind === 'no such host'
				? socketError('ENOTFOUND', 'getaddrinfo')
				: socketError('ECONNREFUSED', 'connect');
		}
		if (kind === 'redirected') {
			say('nothing created');
			await machine.pause(40);
			return { statusCode: 307, headers: { location: 'https://other.example/x' }, body: '' };
		}
		const unclear = UNCLEAR[kind];
		const lost = kind === 'reset' || kind === 'never answered';
		const odd = kind === 'refusal with a task' || kind === 'sent to a task';
		sent.named = odd;
		sent.fate = unclear !== undefined || lost || odd ? 'unclear' : 'told';
		if (sent.fate === 'unclear' && !odd && !created) {
			say('nothing created, but who knows');
		} else {
			sent.task = this.newTask(request, sent, kind);
			say(`created ${sent.task.id}`);
		}
		const id = sent.task?.id ?? '';
		await machine.pause(kind === 'slow' ? SLOW_MS : 60);
		if (kind === 'reset') throw socketError('ECONNRESET', 'read');
		if (kind === 'never answered') return await never();
		if (unclear !== undefined)
			return { statusCode: unclear.status, headers: {}, body: unclear.body };
		switch (kind) {
			case 'refusal with a task':
				return this.json(409, { error: 'a task like this runs', task_id: id });
			case 'sent to a task':
				return { statusCode: 303, headers: { location: `/v1/task/${id}` }, body: '' };
			case 'refusal inside 200 with a task':
				return this.json(200, { success: false, message: 'odd', data: { task_id: id } });
			case 'ID under data':
				return this.json(200, { success: true, data: { task_id: id } });
			case 'ID is a number':
				return { statusCode: 200, headers: {}, body: `{"task_id":${id}}` };
			case 'key echoed':
				return this.json(200, { task_id: id, echo: JSON.stringify(request) });
			default: {
				const cost = sent.task?.script.cost ?? -1;
				return this.json(200, { task_id: id, ...(cost < 0 ? {} : { credit_cost: cost }) });
			}
		}
	}

	private newTask({ body }: Request, sent: Sent, kind: CreationKind): Task {
		const script = this.history.tasks[this.tasks.length] ?? PLAIN_TASK;
		// A number, as some services have it, and none that is part of another one.
		const number = 71_000_000 + this.tasks.length;
		const ids: Partial<Record<CreationKind, string>> = {
			'ID is a number': `900719925${number}3`,
			'ID is odd': `gen/${number}%2F, a`,
		};
		const task: Task = {
			id: ids[kind] ?? String(number),
			script,
			createdMs: this.machine.elapsed,
			sent,
			receiveUrl: body?.receive_url,
		};
		this.tasks.push(task);
		const url = task.receiveUrl;
		if (typeof url === 'string' && script.end !== 'never') {
			for (const delay of script.callbacks)
				this.machine.later((script.seconds + delay) * 1000, () => {
					this.world.note(`the service calls back for ${task.id}`);
					this.world.call(url, this.described(task));
				});
		}
		return task;
	}

	/** What the service says of a task. */
	private described(task: Task): IDataObject {
		const { id, script, createdMs, receiveUrl } = task;
		const file = `${this.filesUrl}/${encodeURIComponent(id)}`;
		const status = this.stateOf(task);
		const share = (this.machine.elapsed - createdMs) / (script.seconds * 1000);
		const honest = Math.min(99, Math.floor(100 * share));
		const progress = script.progress === 'none' ? null : script.progress === 'stuck' ? 50 : honest;
		return {
			id,
			status,
			type: 'speech',
			receive_url: receiveUrl as string,
			// As PHP writes it.
			request: JSON.stringify({ receive_url: receiveUrl }).replaceAll('/', '\\/'),
			...OWN_FIELDS[script.own],
			progress: status === 'done' ? 100 : progress,
			...(script.cost < 0 ? {} : { credit_cost: script.cost }),
			...(status === 'error' ? { error_message: 'too loud' } : {}),
			metadata:
				status === 'done' && script.end === 'done'
					? { audio_url: `${file}.wav`, srt_url: `${file}.srt` }
					: {},
		};
	}

	private async look({ headers }: Request, taskId: string): Promise<Response> {
		const { kind, retryAfter, json } = this.history.looks[this.looks] ?? PLAIN_LOOK;
		this.looks += 1;
		const { machine } = this;
		const task = this.tasks.find(({ id }) => id === taskId);
		const hidden =
			task === undefined || machine.elapsed < task.createdMs + task.script.hiddenFor * 1000;
		if (kind !== 'ok') this.world.note(`a look at ${taskId}: ${kind}`);
		// A 404 confirms the failure that any JSON can have told.
		if (this.oddLooks.has(taskId) && (hidden || kind === 'HTTP 404'))
			return this.json(503, { success: false, code: 'server_busy' });
		switch (kind) {
			case 'busy':
				return this.json(503, { success: false, code: 'server_busy' }, retryAfter);
			case 'too fast':
				return this.json(429, { message: 'too many requests' }, retryAfter);
			case 'HTTP 401':
				return this.json(401, { error: 'expired' });
			case 'HTTP 403':
				return this.json(403, { error: 'no' });
			case 'HTTP 401 page':
				return { statusCode: 401, headers: {}, body: '<html>who are you</html>' };
			case 'HTTP 404':
				return this.json(404, { error: 'no such task' });
			case 'HTTP 500 page':
				return { statusCode: 500, headers: {}, body: '<html>oops</html>' };
			case '200 empty':
				return { statusCode: 200, headers: {}, body: '' };
			case '200 refused':
				return this.json(200, { success: false, message: 'too fast' });
			case 'error without a task':
				return this.json(200, { status: 'error', message: 'Too many requests' });
			case 'any JSON':
				// What a second look repeats is believed.
				if (this.oddLooks.has(taskId)) return this.json(503, { code: 'server_busy' }, retryAfter);
				this.oddLooks.add(taskId);
				return this.json(200, json, retryAfter);
			case 'reset':
				throw socketError('ECONNRESET', 'read');
			case 'never answered':
				return await never();
			case 'slow':
				await machine.pause(SLOW_MS);
				break;
			case 'ok':
			case 'key echoed':
		}
		if (hidden) return this.json(404, { error: 'no such task' });
		const described = this.described(task);
		return this.json(
			200,
			kind === 'key echoed' ? { ...described, echo: JSON.stringify(headers) } : described,
		);
	}
}
