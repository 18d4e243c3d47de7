/**
 * A service in this process that does what a history says: it creates tasks, loses answers, refuses, throttles and calls back. It keeps
 * book of what was sent and of what it meant, which is what the rules are checked against.
 */
import type { IDataObject } from 'n8n-workflow';
import { wireOf, type Came, type TaskExample } from '../answers';
import {
	CREATIONS,
	LOOKS,
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

const FATES = { refused: 'free', later: 'free', created: 'told', unclear: 'unclear' } as const;
export const PLAIN_CREATION: CreationFault = { kind: 'ok', created: true, retryAfter: 'none' };
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
const SILENCES = {
	unanswered: ['ECONNRESET', 'read'],
	unconnected: ['ECONNREFUSED', 'connect'],
	impossible: ['ENOTFOUND', 'getaddrinfo'],
	unsent: ['ENOENT', 'open'],
} as const;
const never = async () => await new Promise<never>(() => undefined);

export class Service {
	readonly sent: Sent[] = [];
	readonly tasks: Task[] = [];
	/** Readings of the list of tasks, and those that it showed: undefined where no list came. */
	readonly listed: Array<{ executionId: string; atMs: number; ids: string[] | undefined }> = [];
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
			const since = this.history.events.some(({ kind }) => /^(death|stop)$/.test(kind))
				? 0
				: undefined;
			const answer = listAnswer(this, this.history.list, { elapsed, type, fault, since });
			const shown = this.tasks.filter(({ id }) => answer.body.includes(`"${id}"`));
			const ids = fault === undefined && kind !== 'none' ? shown.map(({ id }) => id) : undefined;
			this.listed.push({ executionId: sender.executionId, atMs: elapsed, ids });
			this.world.note(`the list of tasks is read: ${fault ?? kind}`);
			return answer;
		}
		return await this.look(request, decodeURIComponent(pathname.split('/').pop() ?? ''));
	}

	private json(statusCode: number, body: unknown, retryAfter: RetryAfter = 'none'): Response {
		return { statusCode, headers: this.headers(retryAfter), body: JSON.stringify(body) };
	}

	/** An example's answer. It asks for the history's pause where it asks for none itself. */
	private told(came: Came, ids: Parameters<typeof wireOf>[1], retryAfter: RetryAfter): Response {
		if ('silence' in came) {
			const [code, syscall] = SILENCES[came.silence];
			throw socketError(code, syscall);
		}
		const { status, headers, text } = wireOf(came, ids);
		return { statusCode: status, headers: { ...this.headers(retryAfter), ...headers }, body: text };
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
		const example = CREATIONS.get(kind as `creation/${string}`);
		const { means = 'created', taskId: from = null } = example?.meaning ?? {};
		sent.fate = kind === 'never answered' ? 'unclear' : FATES[means];
		sent.named = means === 'unclear' && from !== null;
		if (sent.fate === 'told' || sent.named || (sent.fate === 'unclear' && created))
			sent.task = this.newTask(request, sent, kind);
		say(sent.task === undefined ? 'nothing created' : `created ${sent.task.id}`);
		const id = sent.task?.id ?? '';
		await machine.pause(kind === 'slow' ? SLOW_MS : 60);
		if (kind === 'never answered') return await never();
		if (example !== undefined) return this.told(example.answer, { from, to: id }, retryAfter);
		switch (kind) {
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
		const example = LOOKS.get(kind as `task/${string}`);
		const means = example?.meaning.means;
		const seemsFailed = kind === 'any JSON' || means === 'doubtful';
		const isFailed = !hidden && this.stateOf(task) === 'error';
		// What a second look repeats is believed, and a 404 confirms it.
		if (this.oddLooks.has(taskId) && !isFailed && (hidden || seemsFailed || means === 'missing'))
			return this.json(503, { success: false, code: 'server_busy' }, retryAfter);
		if (seemsFailed) this.oddLooks.add(taskId);
		if (example !== undefined && this.isTrue(example, hidden ? undefined : task)) {
			const { answer, request } = example;
			return this.told(answer, { from: request.taskId, to: taskId }, retryAfter);
		}
		switch (kind) {
			case 'any JSON':
				return this.json(200, json, retryAfter);
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

	/** Whether an example says of a task what the book says. Nobody has to know of one that was made, or has ended, a moment ago. */
	private isTrue({ meaning: { means, files = [] } }: TaskExample, task: Task | undefined): boolean {
		if (means === 'busy' || means === 'missing' || means === 'denied') return true;
		if (task === undefined) return false;
		if (means === 'running' || means === 'doubtful') return true;
		if (means === 'failed') return this.stateOf(task) === 'error';
		const hasFiles = means === 'done' && files.length > 0;
		return this.stateOf(task) === 'done' && hasFiles === (task.script.end === 'done');
	}
}
