import type { FastifyReply, FastifyRequest } from 'fastify';
import { flatten, send, sendDripping, sendRaw, type Answer } from './answer';
import { heldBack } from './clock';
import type { Context } from './context';
import type {
	FaultAction,
	StatusFault,
	HostName,
	RecordedRequest,
	RouteName,
	TaskKind,
} from './types';

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
		const meeting = { context, record, request, reply };
		if (fault) return await misbehave(fault, carryOut, meeting);
		const answer = await carryOut();
		return answer.reset === true ? destroy(meeting) : await respond(meeting, answer);
	};
}

interface Meeting {
	context: Context;
	record: RecordedRequest;
	request: FastifyRequest;
	reply: FastifyReply;
}

async function respond({ record, reply }: Meeting, answer: Answer): Promise<FastifyReply> {
	record.status = answer.status;
	return await send(reply, flatten(answer));
}

function destroy({ record, request, reply }: Meeting): FastifyReply {
	record.status = -1;
	reply.hijack();
	request.raw.socket.resetAndDestroy();
	return reply;
}

/** README, Faults: which of them carry the request out is said there. */
async function misbehave(
	fault: FaultAction,
	carryOut: () => Promise<Answer>,
	meeting: Meeting,
): Promise<FastifyReply> {
	const { context, record, reply } = meeting;
	const say = async (status: number, answer: Partial<Answer>) =>
		await respond(meeting, { status, content: '', ...answer });
	const hold = () => {
		heldBack.add(reply);
		reply.raw.once('close', () => heldBack.delete(reply));
	};
	if (fault.type === 'reset') return destroy(meeting);
	if (fault.type === 'status') return await say(fault.status, saidBy(fault));
	if (fault.type === 'redirect')
		return await say(302, {
			headers: { location: fault.to.replace('{other}', context.urls.other) },
		});
	if (fault.type === 'stall') {
		hold();
		return reply.hijack();
	}
	const answer = await carryOut();
	const raw = () => {
		record.status = answer.status;
		return flatten(answer);
	};
	switch (fault.type) {
		case 'processThenReset':
			return destroy(meeting);
		case 'processThenStatus':
			return await say(fault.status, saidBy(fault));
		case 'hold':
			await fault.until;
			return await respond(meeting, answer);
		case 'emptyBody':
			return await say(200, {});
		case 'html':
			return await say(200, {
				headers: { 'content-type': 'text/html; charset=utf-8' },
				content: HTML_PAGE,
			});
		case 'malformedJson':
			return await say(200, {
				headers: { 'content-type': 'application/json' },
				content: '{"success":true,"task_id":"',
			});
		case 'drip':
			hold();
			void sendDripping(reply, raw(), async () => await context.timers.sleep(100));
			return reply;
		case 'truncate':
			return sendRaw(reply, raw(), fault.bytes);
		case 'dropHeader': {
			const flat = raw();
			delete flat.headers[fault.name.toLowerCase()];
			return sendRaw(reply, flat);
		}
	}
}

const saidBy = ({ status, body, headers }: StatusFault): Partial<Answer> => ({
	json: body ?? { success: false, error: `Fault ${status}` },
	...(headers && { headers }),
});

const HTML_PAGE =
	'<!DOCTYPE html><html><head><title>Just a moment...</title></head><body><h1>Please wait</h1></body></html>';
