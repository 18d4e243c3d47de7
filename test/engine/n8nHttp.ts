/** Requests and answers as n8n's server hands them to a node: Express's shape, bodies read by n8n's own rules. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { parseIncomingMessage } from '@n8n/backend-network';
import type { INode, Workflow, WorkflowExecuteMode } from 'n8n-workflow';
import { parse as parseQuery } from 'qs';

/** An error that n8n answers with this status. */
export class HttpError extends Error {
	constructor(
		readonly status: number,
		message: string,
	) {
		super(message);
	}
}

export type N8nRequest = IncomingMessage & {
	contentType?: string;
	encoding?: BufferEncoding;
	rawBody?: Buffer;
	readRawBody: () => Promise<void>;
	body?: unknown;
	query: unknown;
	params: object;
	originalUrl: string;
};

export type N8nResponse = ServerResponse & {
	status(code: number): N8nResponse;
	json(body: unknown): N8nResponse;
};

/** The request as n8n hands it on: `originalUrl`, `query`, and a body that is read on demand. */
export function asRequest(incoming: IncomingMessage): N8nRequest {
	const request = incoming as N8nRequest;
	request.originalUrl = request.url ?? '/';
	request.query = parseQuery(new URL(request.originalUrl, 'http://n8n').search.slice(1));
	request.params = {};
	parseIncomingMessage(request);
	request.readRawBody = async () => {
		if (request.rawBody !== undefined) return;
		const zipped = request.headers['content-encoding'] === 'gzip';
		const stream = zipped ? request.pipe(createGunzip()) : request;
		request.rawBody = await buffer(stream);
	};
	return request;
}

export function asResponse(outgoing: ServerResponse): N8nResponse {
	const response = outgoing as N8nResponse;
	response.status = (code) => {
		response.statusCode = code;
		return response;
	};
	response.json = (body) => {
		response.setHeader('content-type', 'application/json; charset=utf-8');
		response.end(JSON.stringify(body));
		return response;
	};
	return response;
}

const PARSED = [
	/^application\/json/,
	/^text\/plain/,
	/^application\/x-www-form-urlencoded/,
	/\/xml$/,
	/\+xml$/,
];

/** As n8n does it: since version 1.1 of a node, a body whose type n8n does not know is left unread. */
export async function parseBody(
	request: N8nRequest,
	workflow: Workflow,
	start: INode,
	mode: WorkflowExecuteMode,
) {
	if (start.typeVersion === 1) {
		const raw = '={{$parameter["options"]["binaryData"]}}';
		if (workflow.expression.getSimpleParameterValue(start, raw, mode, {}, undefined, false)) return;
	}
	const { contentType = '' } = request;
	if (start.typeVersion > 1 && !PARSED.some((type) => type.test(contentType))) return;
	await request.readRawBody();
	const { rawBody } = request;
	if (rawBody === undefined || rawBody.length === 0) return;
	const text = rawBody.toString(request.encoding).replace(/^\uFEFF/, '');
	try {
		if (contentType === 'application/json') request.body = JSON.parse(text);
		else if (contentType === 'application/x-www-form-urlencoded') request.body = parseQuery(text);
		else if (contentType === 'text/plain') request.body = text;
	} catch {
		throw new HttpError(422, 'Failed to parse request body');
	}
}
