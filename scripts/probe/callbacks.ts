/** What only a callback shows. The address has to lead from the service to this machine. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import fastify, { type FastifyRequest } from 'fastify';
import { isObject, parseJson } from '../../nodes/MediaGeneration/service/json';
import { parseTask, taskIdOf } from '../../nodes/MediaGeneration/service/task';
import { type See, shapeOf } from './findings';
import { soundEffect, type Telling } from './making';
import type { ProbedService } from './service';

/** An address of this machine as the service reaches it, and the port where it leads to. */
export interface CallbackOptions {
	url: string;
	port: number;
	/** How long to wait for the first callback, and then for repeats, ms. */
	patienceMs: number;
	watchMs: number;
}

interface Call {
	at: number;
	request: FastifyRequest;
	body: unknown;
	/** What a look at the task said while the callback was held. */
	look: string;
}

/** Headers that say nothing of who sent a callback. */
const usual =
	/^(host|connection|content-length|content-type|accept|accept-encoding|accept-language|user-agent|transfer-encoding|sec-fetch-mode|x-forwarded-.*|x-real-ip|forwarded|via)$/;

/** Listens for callbacks on a path that can't be guessed: the first is answered 503, to see whether it is repeated, the others 200. */
async function listen(port: number, nonce: string, look: (body: unknown) => Promise<string>) {
	const calls: Call[] = [];
	const app = fastify({ forceCloseConnections: true });
	app.removeAllContentTypeParsers();
	app.addContentTypeParser('*', { parseAs: 'string' }, (_, text, done) => done(null, text));
	app.all('*', async (request, reply) => {
		if (!request.url.includes(nonce)) return await reply.status(404).send();
		const body = parseJson(typeof request.body === 'string' ? request.body : '');
		const first = calls.length === 0;
		calls.push({ at: Date.now(), request, body, look: 'no task ID in the callback' });
		const call = calls.at(-1) as Call;
		if (taskIdOf(body) !== undefined) call.look = await look(body);
		return await reply.status(first ? 503 : 200).send({ received: !first });
	});
	await app.listen({ port, host: '::' });
	return { calls, close: async () => await app.close() };
}

function reportFirst(call: Call, task: { id: string; answeredAt: number }, see: See) {
	const { method, headers } = call.request;
	const type = headers['content-type'] ?? 'no type';
	const asExpected = method === 'POST' && type.startsWith('application/json');
	see('call', `${method}, ${type}`, asExpected || (method === 'POST' ? 'copes' : 'fails'));
	const wrapped = isObject(call.body) && isObject(call.body.data);
	const found = parseTask(call.body)?.id === task.id;
	const shape = `${wrapped ? 'wrapped: ' : ''}${shapeOf(call.body)}`;
	see('callBody', shape, (found && !wrapped) || (found ? 'copes' : 'fails'));
	const early = call.at < task.answeredAt;
	see('early', early ? 'yes' : 'no', !early || 'copes');
	see('held', call.look, call.look === 'done' || 'copes');
	const unusual = Object.keys(headers).filter((name) => !usual.test(name));
	see('signed', unusual.join(', ') || 'none', unusual.length === 0 || 'copes');
}

function reportRepeats([first, ...later]: readonly Call[], see: See): void {
	const times = later.map(({ at }) => `${((at - (first?.at ?? at)) / 1000).toFixed(1)} s`);
	const [again, ...copies] = times;
	see('again503', again === undefined ? 'no' : `yes, after ${again}`);
	const more = `yes, ${copies.length} more: after ${copies.join(', ')}`;
	see('again200', copies.length === 0 ? 'no' : more, copies.length === 0 || 'copes');
}

/** Makes one task with a callback, and watches what comes. */
export async function watchCallbacks(
	service: ProbedService,
	{ url, port, patienceMs, watchMs }: CallbackOptions,
	{ findings, log }: Telling,
): Promise<void> {
	const see = findings.of();
	const nonce = randomUUID();
	const address = new URL(url);
	address.searchParams.set('probe', nonce);
	const receiver = await listen(port, nonce, async (body) => {
		const { json } = await service.get(`/v1/task/${encodeURIComponent(taskIdOf(body) ?? '')}`);
		return parseTask(json)?.status ?? 'not there';
	});
	try {
		const body = { ...soundEffect.body, receive_url: address.href };
		const created = await service.post(soundEffect.path, body);
		const answeredAt = Date.now();
		const id = taskIdOf(created.json);
		const refused = `refused (${created.status})`;
		see('receiveUrl', id === undefined ? refused : 'taken', id !== undefined || 'fails');
		if (id === undefined) return;
		log(`Task ${id}: ${soundEffect.name} with a callback`);
		for (const until = answeredAt + patienceMs; !receiver.calls[0] && Date.now() < until;)
			await delay(20);
		const [first] = receiver.calls;
		see('callback', first ? 'came' : 'did not come', first !== undefined || 'fails');
		if (first === undefined) return;
		await delay(watchMs);
		reportFirst(first, { id, answeredAt }, see);
		reportRepeats(receiver.calls, see);
	} finally {
		await receiver.close();
	}
}
