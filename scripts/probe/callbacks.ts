/** What only a callback shows. The address has to lead from the service to this machine. */
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { isObject, parseJson } from '../../nodes/MediaGeneration/service/json';
import { parseTask, taskIdOf } from '../../nodes/MediaGeneration/service/task';
import { type Findings, shapeOf } from './findings';
import type { Kind } from './kinds';
import type { ProbedService } from './service';

export interface CallbackOptions {
	/** An address of this machine as the service reaches it. */
	url: string;
	/** Where this machine listens for it. */
	port: number;
	/** How long to wait for the first callback, and then for repeats, ms. */
	patienceMs: number;
	watchMs: number;
}

interface Call {
	at: number;
	method: string;
	path: string;
	headers: IncomingMessage['headers'];
	body: unknown;
	/** What a look at the task said while the callback was held. */
	look?: string;
	/** How this call was answered. */
	status: number;
}

/** Headers that say nothing of who sent a callback. */
const usual =
	/^(host|connection|content-length|content-type|accept|accept-encoding|accept-language|user-agent|transfer-encoding|sec-fetch-mode|x-forwarded-.*|x-real-ip|forwarded|via)$/;

async function bodyOf(request: IncomingMessage): Promise<string> {
	const chunks: Buffer[] = [];
	for await (const chunk of request) chunks.push(chunk as Buffer);
	return Buffer.concat(chunks).toString('utf8');
}

/** Listens for callbacks on a path that can't be guessed: the first is answered 503, to see whether it is repeated, the others 200. */
class Receiver {
	readonly calls: Call[] = [];
	private readonly nonce = randomUUID();
	private readonly events = new EventEmitter();
	private readonly server = createServer((request, response) => {
		void this.take(request).then((status) => {
			response.writeHead(status, { 'content-type': 'application/json' });
			response.end(status === 200 ? '{"received":true}' : '{"error":"try again"}');
			this.events.emit('answered');
		});
	});

	constructor(
		private readonly options: CallbackOptions,
		private readonly look: (taskId: string) => Promise<string>,
	) {}

	get address(): string {
		const url = new URL(this.options.url);
		url.searchParams.set('probe', this.nonce);
		return url.href;
	}

	async listen(): Promise<void> {
		await new Promise<void>((resolve, reject) => {
			this.server.once('error', reject);
			this.server.listen(this.options.port, resolve);
		});
	}

	/** Resolves when the first callback is answered, or when patience ends. */
	async firstCall(): Promise<void> {
		const signal = AbortSignal.timeout(this.options.patienceMs);
		await once(this.events, 'answered', { signal }).catch(() => undefined);
	}

	async close(): Promise<void> {
		this.server.closeAllConnections();
		await new Promise((resolve) => this.server.close(resolve));
	}

	private async take(request: IncomingMessage): Promise<number> {
		const path = request.url ?? '';
		if (!path.includes(this.nonce)) return 404;
		const status = this.calls.length === 0 ? 503 : 200;
		const call: Call = {
			at: Date.now(),
			method: request.method ?? '',
			path,
			headers: request.headers,
			body: undefined,
			status,
		};
		this.calls.push(call);
		call.body = parseJson(await bodyOf(request));
		const taskId = taskIdOf(call.body);
		if (taskId !== undefined) call.look = await this.look(taskId);
		return status;
	}
}

const about = (question: string): [string, string] => ['Callbacks', question];

function reportFirst(call: Call, taskId: string, answeredAt: number, findings: Findings): void {
	findings.add(
		about('How it comes'),
		'POST, application/json',
		`${call.method}, ${call.headers['content-type'] ?? 'no type'}`,
		call.method === 'POST' && /^application\/json/.test(call.headers['content-type'] ?? ''),
	);
	const task = parseTask(call.body);
	const wrapped = isObject(call.body) && isObject(call.body.data);
	findings.add(
		about('Its body'),
		'the task, at the root',
		`${wrapped ? 'wrapped: ' : ''}${shapeOf(call.body)}`,
		!wrapped && task?.id === taskId,
	);
	findings.add(
		about('Before the creation was answered'),
		'no',
		call.at < answeredAt ? 'yes' : 'no',
		call.at >= answeredAt,
	);
	findings.add(
		about('What a look says while the callback is held'),
		'done',
		call.look ?? 'no task ID in the callback',
		call.look === 'done',
	);
	const unusual = Object.keys(call.headers).filter((name) => !usual.test(name));
	findings.add(
		about('Headers that could sign it'),
		'none',
		unusual.join(', ') || 'none',
		unusual.length === 0,
	);
}

function reportRepeats(calls: Call[], findings: Findings): void {
	const [first, ...later] = calls;
	if (first === undefined) return;
	const times = later.map(({ at }) => `${((at - first.at) / 1000).toFixed(1)} s`);
	findings.add(
		about('Sent again after 503'),
		'left open',
		later.length === 0 ? 'no' : `yes, after ${times[0]}`,
	);
	const copies = later.slice(1);
	findings.add(
		about('Sent again after 200'),
		'no',
		copies.length === 0 ? 'no' : `yes, ${copies.length} more: after ${times.slice(1).join(', ')}`,
		copies.length === 0,
	);
}

/** Makes one task with a callback, and watches what comes. Its ID is logged as soon as it is known. */
export async function watchCallbacks(
	service: ProbedService,
	kind: Kind,
	{
		findings,
		log,
		...options
	}: CallbackOptions & { findings: Findings; log: (text: string) => void },
): Promise<void> {
	const receiver = new Receiver(options, async (taskId) => {
		const { json } = await service.ask(`/v1/task/${encodeURIComponent(taskId)}`);
		return parseTask(json)?.status ?? 'not there';
	});
	await receiver.listen();
	try {
		const body = { ...kind.body, receive_url: receiver.address };
		const created = await service.ask(kind.path, { method: 'POST', body });
		const answeredAt = Date.now();
		const taskId = taskIdOf(created.json);
		if (taskId === undefined)
			return findings.add(
				about('A creation with receive_url'),
				'taken',
				`refused (${created.status})`,
				false,
			);
		log(`Task ${taskId}: ${kind.name} with a callback`);
		if (receiver.calls.length === 0) await receiver.firstCall();
		const [first] = receiver.calls;
		findings.add(
			about('A callback'),
			'comes',
			first === undefined ? 'did not come' : 'came',
			first !== undefined,
		);
		if (first === undefined) return;
		await delay(options.watchMs);
		reportFirst(first, taskId, answeredAt, findings);
		reportRepeats(receiver.calls, findings);
	} finally {
		await receiver.close();
	}
}
