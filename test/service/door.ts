import type { FastifyReply, FastifyRequest } from 'fastify';
import { flatten, json, send, sendDripping, sendRaw, type Answer } from './answer';
import { heldBack } from './clock';
import type { Context } from './context';
import type { FaultAction, HostName, RecordedRequest, RouteName, TaskKind } from './types';

export interface Call {
	request: FastifyRequest;
	record: RecordedRequest;
	params: Record<string, string>;
}
export type Route = (call: Call) => Answer | Promise<Answer>;
type Door = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Every request goes through here: it is recorded, may meet a fault, and is answered by its route. */
export function door(
	context: Context,
	host: HostName,
	name: RouteName,
	route: Route,
	kind: TaskKind | null = null,
): Door {
	return async (request, reply) => {
		const params = (request.params ?? {}) as Record<string, string>;
		const record = context.recorder.start(request, host);
		record.route = name;
		record.taskId = params.task_id ?? null;
		const task = record.taskId === null ? undefined : context.store.get(record.taskId);
		if (task && name === 'poll') task.polls += 1;
		record.kind = kind ?? task?.kind ?? null;
		const fault = context.faults.strike(record);
		record.fault = fault?.type ?? null;
		const carryOut = async () => await route({ request, record, params });
		if (fault) return await misbehave(context, fault, carryOut, record, request, reply);
		return await respond(record, reply, await carryOut());
	};
}

async function respond(
	record: RecordedRequest,
	reply: FastifyReply,
	answer: Answer,
): Promise<FastifyReply> {
	record.status = answer.status;
	return await send(reply, flatten(answer));
}

function destroy(
	record: RecordedRequest,
	request: FastifyRequest,
	reply: FastifyReply,
): FastifyReply {
	record.status = -1;
	reply.hijack();
	request.raw.socket.resetAndDestroy();
	return reply;
}

/** README, Faults: which of them carry the request out is said there. */
async function misbehave(
	context: Context,
	fault: FaultAction,
	carryOut: () => Promise<Answer>,
	record: RecordedRequest,
	request: FastifyRequest,
	reply: FastifyReply,
): Promise<FastifyReply> {
	const say = async (answer: Answer) => await respond(record, reply, answer);
	const hold = () => {
		heldBack.add(reply);
		reply.raw.once('close', () => heldBack.delete(reply));
	};
	const sleep = async (ms: number) => {
		hold();
		await context.timers.sleep(ms);
		heldBack.delete(reply);
	};
	switch (fault.type) {
		case 'reset':
		case 'processThenReset':
			if (fault.type === 'processThenReset') await carryOut();
			if (fault.ms !== undefined) await sleep(fault.ms);
			return destroy(record, request, reply);
		case 'status':
			return await say(faultBody(fault.status, fault.body, fault.headers));
		case 'processThenStatus':
			await carryOut();
			return await say(faultBody(fault.status, fault.body, fault.headers));
		case 'stall':
			if (fault.ms === undefined) {
				hold();
				return reply.hijack();
			}
			await sleep(fault.ms);
			return await say(json(504, { success: false, error: 'Gateway timeout' }));
		case 'hold': {
			const answer = await carryOut();
			await fault.until;
			return await say(answer);
		}
		case 'drip': {
			const answer = await carryOut();
			record.status = answer.status;
			hold();
			void sendDripping(reply, flatten(answer), fault, context.timers);
			return reply;
		}
		case 'redirect':
			return await say({
				status: fault.status ?? 302,
				headers: { location: fillIn(fault.to, context.urls, request.url) },
				content: '',
			});
		case 'emptyBody':
		case 'html':
		case 'malformedJson':
		case 'notObject':
		case 'truncate':
		case 'dropHeader':
			return twist(fault, await carryOut(), record, reply);
	}
}

/** The request was carried out; what the caller reads of it is not what it should be. */
function twist(
	fault: Extract<
		FaultAction,
		{
			type: 'emptyBody' | 'html' | 'malformedJson' | 'notObject' | 'truncate' | 'dropHeader';
		}
	>,
	answer: Answer,
	record: RecordedRequest,
	reply: FastifyReply,
): FastifyReply | Promise<FastifyReply> {
	switch (fault.type) {
		case 'emptyBody':
			return respond(record, reply, { status: 200, content: '' });
		case 'html':
			return respond(record, reply, faultBody(200, HTML_PAGE));
		case 'malformedJson':
			return respond(record, reply, {
				status: 200,
				headers: { 'content-type': 'application/json' },
				content: '{"success":true,"task_id":"',
			});
		case 'notObject':
			return respond(record, reply, json(200, fault.body ?? null));
		case 'truncate':
			record.status = answer.status;
			sendRaw(reply, flatten(answer), fault.bytes);
			return reply;
		case 'dropHeader': {
			record.status = answer.status;
			const flat = flatten(answer);
			delete flat.headers[fault.name.toLowerCase()];
			sendRaw(reply, flat);
			return reply;
		}
	}
}

const HTML_PAGE =
	'<!DOCTYPE html><html><head><title>Just a moment...</title></head><body><h1>Please wait</h1></body></html>';

/** A string goes out as it is, as HTML if it begins with `<`; anything else as JSON. */
function faultBody(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
	if (body === undefined)
		return json(status, { success: false, error: `Fault ${status}` }, headers);
	if (typeof body !== 'string') return json(status, body, headers);
	const type = body.startsWith('<') ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8';
	return { status, content: body, headers: { 'content-type': type, ...headers } };
}

/** `{api}`, `{files}`, `{other}` and `{path}` stand for the hosts' addresses and the request's own path and query. */
function fillIn(to: string, urls: Record<HostName, string>, path: string): string {
	return to.replace(/\{(api|files|other|path)\}/g, (_, name: string) =>
		name === 'path' ? path : urls[name as HostName],
	);
}
