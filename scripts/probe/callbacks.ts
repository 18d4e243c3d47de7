/** What only a callback shows. The address has to lead from the service to this machine. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import { isObject } from '../../nodes/MediaGeneration/base/json';
import { parseTask, taskIdOf } from '../../nodes/MediaGeneration/transport/task';
import { newServer } from '../../test/service/server';
import { type See, shapeOf } from './findings';
import { type Probing, soundEffect } from './making';
import type { ProbedService } from './service';

/** Headers that say nothing of who sent a callback. */
const usual =
	/^(host|connection|content-length|content-type|accept|accept-encoding|accept-language|user-agent|transfer-encoding|sec-fetch-mode|x-forwarded-.*|x-real-ip|forwarded|via)$/;

/** Listens for callbacks on a path that can't be guessed: the first is answered 503, to see whether it is repeated, the others 200. */
async function listen(port: number, nonce: string, service: ProbedService) {
	/** With what a look at the task said while the callback was held. */
	const calls: Array<{ at: number; request: FastifyRequest; look: string }> = [];
	const app = newServer();
	app.all('*', async (request, reply) => {
		if (!request.url.includes(nonce)) return await reply.status(404).send();
		const call = { at: Date.now(), request, look: 'no task ID in the callback' };
		const first = calls.push(call) === 1;
		const taskId = taskIdOf(request.body);
		if (taskId !== undefined)
			call.look = parseTask((await service.look('v1', taskId)).json)?.status ?? 'not there';
		return await reply.status(first ? 503 : 200).send({ received: !first });
	});
	await app.listen({ port, host: '::' });
	return { calls, app };
}

function reportRequest({ method, headers, body }: FastifyRequest, taskId: string, see: See): void {
	const type = headers['content-type'] ?? 'no type';
	const isPost = method === 'POST';
	see('call', `${method}, ${type}`, isPost && type.startsWith('application/json'), isPost);
	const isWrapped = isObject(body) && isObject(body.data);
	const isFound = parseTask(body)?.id === taskId;
	const shape = `${isWrapped ? 'wrapped: ' : ''}${shapeOf(body)}`;
	see('callBody', shape, isFound && !isWrapped, isFound);
	const unusual = Object.keys(headers).filter((name) => !usual.test(name));
	see('signed', unusual.join(', ') || 'none', unusual.length === 0);
}

/** Makes one task with a callback, and watches what comes. */
export async function watchCallbacks(
	service: ProbedService,
	url: string,
	{ port, patience, watch, log, see }: Probing,
): Promise<void> {
	const nonce = randomUUID();
	const address = new URL(url);
	address.searchParams.set('probe', nonce);
	const { calls, app } = await listen(port, nonce, service);
	try {
		const [name, { path, body }] = soundEffect;
		const created = await service.post(path, { ...body, receive_url: address.href });
		const answeredAt = Date.now();
		const id = taskIdOf(created.json);
		see('receiveUrl', id === undefined ? `refused (${created.status})` : 'taken', !!id, false);
		if (id === undefined) return;
		log(`Task ${id}: ${name} with a callback`);
		while (calls.length === 0 && Date.now() < answeredAt + patience * 1000) await delay(20);
		const [first] = calls;
		see('callback', first ? 'came' : 'did not come', first !== undefined, false);
		if (first === undefined) return;
		await delay(watch * 1000);
		reportRequest(first.request, id, see);
		see('early', first.at < answeredAt ? 'yes' : 'no', first.at >= answeredAt);
		see('held', first.look, first.look === 'done');
		const later = calls.slice(1).map(({ at }) => `${((at - first.at) / 1000).toFixed(1)} s`);
		const [again, ...copies] = later;
		see('again503', again === undefined ? 'no' : `yes, after ${again}`);
		const more = `yes, ${copies.length} more: after ${copies.join(', ')}`;
		see('again200', copies.length === 0 ? 'no' : more, copies.length === 0);
	} finally {
		await app.close();
	}
}
