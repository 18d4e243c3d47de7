import type { FastifyRequest } from 'fastify';
import { now } from './clock';
import type { FaultAction, HostName, RouteName, TaskKind } from './types';

/** Beyond this number, the oldest requests are forgotten. */
const KEPT = 300_000;

export type RecordedRequest = ReturnType<typeof recordOf>;

const recordOf = (request: FastifyRequest, host: HostName) => ({
	time: now(),
	host,
	method: request.method,
	url: request.url,
	route: 'unknown' as RouteName,
	kind: null as TaskKind | null,
	taskId: null as string | null,
	headers: request.headers,
	/** Parsed JSON, a `Form`, or the text where it is neither. */
	body: request.body,
	/** 0 = not answered (yet), -1 = connection destroyed. */
	status: 0,
	/** Type of the fault that struck. */
	fault: null as FaultAction['type'] | null,
});

/** Every request to the three hosts, in order of arrival. The control interface is left out. */
export class Recorder {
	readonly requests: RecordedRequest[] = [];

	start(request: FastifyRequest, host: HostName): RecordedRequest {
		const record = recordOf(request, host);
		if (this.requests.length >= KEPT) this.requests.splice(0, KEPT / 10);
		this.requests.push(record);
		return record;
	}

	reset(): void {
		this.requests.length = 0;
	}
}
