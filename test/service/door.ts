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
		const answer = await carryOut();
		if (answer.reset === true) return destroy(record, request, reply);
		return await respond(record, reply, answer);
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
	switch (fault.type) {
		case 'reset':
		case 'processThenReset':
			if (fault.type === 'processThenReset') await carryOut();
			return destroy(record, request, reply);
		case 'status':
		case 'processThenStatus':
			if (fault.type === 'processThenStatus') await carryOut();
			return await say(
				json(
					fault.status,
					fault.body ?? { success: false, error: `Fault ${fault.status}` },
					fault.headers,
				),
			);
		case 'stall':
			hold();
			return reply.hijack();
		case 'hold': {
			const answer = await carryOut();
			await fault.until;
			return await say(answer);
		}
		case 'drip': {
			const answer = await carryOut();
			record.status = answer.status;
			hold();
			void sendDripping(reply, flatten(answer), async () => await context.timers.sleep(100));
			return reply;
		}
		case 'redirect':
			return await say({
				status: 302,
				headers: { location: fault.to.replace('{other}', context.urls.other) },
				content: '',
			});
		case 'emptyBody':
		case 'html':
		case 'malformedJson':
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
			type: 'emptyBody' | 'html' | 'malformedJson' | 'truncate' | 'dropHeader';
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
			return respond(record, reply, {
				status: 200,
				headers: { 'content-type': 'text/html; charset=utf-8' },
				content: HTML_PAGE,
			});
		case 'malformedJson':
			return respond(record, reply, {
				status: 200,
				headers: { 'content-type': 'application/json' },
				content: '{"success":true,"task_id":"',
			});
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
