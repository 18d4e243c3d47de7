import type { FastifyRequest } from 'fastify';
import { now } from './clock';
import type { HostName, RecordedRequest } from './types';

/** Beyond this number, the oldest requests are forgotten. */
const KEPT = 300_000;

/** Every request to the three hosts, in order of arrival. The control interface is left out. */
export class Recorder {
	readonly requests: RecordedRequest[] = [];

	start(request: FastifyRequest, host: HostName): RecordedRequest {
		const record: RecordedRequest = {
			time: now(),
			host,
			method: request.method,
			url: request.url,
			route: 'unknown',
			kind: null,
			taskId: null,
			headers: request.headers,
			body: request.body,
			status: 0,
			fault: null,
		};
		if (this.requests.length >= KEPT) this.requests.splice(0, KEPT / 10);
		this.requests.push(record);
		return record;
	}

	reset(): void {
		this.requests.length = 0;
	}
}
