import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { bulkStream } from './media/bulk';
import type { Settings } from './types';

/** Content that is made while it is sent. */
export interface Bulk {
	length: number;
	chunks: Iterable<Buffer>;
}

/** What a route says, before a fault may twist it. `json` goes before `content`. */
export interface Answer {
	status: number;
	headers?: Record<string, string>;
	json?: unknown;
	/** No answer comes: the connection is reset. */
	reset?: boolean;
	content?: string | Buffer | Bulk;
}

export function json(status: number, body: unknown, headers?: Record<string, string>): Answer {
	return { status, json: body, ...(headers ? { headers } : {}) };
}

/** A refusal, in the style that the settings ask for (docs/service.md, "Shapes": it can arrive inside HTTP 200). */
export function refusal(settings: Settings, status: number, error: string, code?: string): Answer {
	const extra = code === undefined ? {} : { code };
	if (settings.refusalStyle === 'insideHttp200')
		return json(200, { success: false, message: error, ...extra });
	return json(status, { success: false, error, ...extra });
}

export interface FlatAnswer {
	status: number;
	headers: Record<string, string>;
	body: string | Buffer | Bulk;
}

/** The bytes and headers of an answer; header names in lower case. */
export function flatten(answer: Answer): FlatAnswer {
	const headers: Record<string, string> = {};
	const isJson = answer.json !== undefined;
	const body = isJson ? JSON.stringify(answer.json) : (answer.content ?? '');
	headers['content-type'] = isJson
		? 'application/json; charset=utf-8'
		: 'text/plain; charset=utf-8';
	headers['content-length'] = String(
		typeof body === 'string' ? Buffer.byteLength(body) : body.length,
	);
	for (const [name, value] of Object.entries(answer.headers ?? {}))
		headers[name.toLowerCase()] = value;
	return { status: answer.status, headers, body };
}

function isBulk(body: FlatAnswer['body']): body is Bulk {
	return typeof body === 'object' && !Buffer.isBuffer(body);
}

/** Sends through Fastify. */
export async function send(
	reply: FastifyReply,
	{ status, headers, body }: FlatAnswer,
): Promise<FastifyReply> {
	const payload = isBulk(body) ? bulkStream(body.chunks) : body;
	return await reply.code(status).headers(headers).send(payload);
}

/** Sends just these headers and, of the body, no more than `limit` bytes; then the connection is cut. */
export function sendRaw(
	reply: FastifyReply,
	{ status, headers, body }: FlatAnswer,
	limit = Infinity,
): FastifyReply {
	reply.hijack();
	const { raw } = reply;
	raw.writeHead(status, headers);
	const chunks = isBulk(body) ? body.chunks : [Buffer.from(body)];
	const source = Readable.from(firstBytes(chunks, limit), { objectMode: false });
	source.pipe(raw, { end: limit === Infinity });
	if (limit === Infinity) return reply;
	source.on('end', () => {
		if (limit === 0) raw.flushHeaders();
		// Not at once: a client on a busy machine that sees the end together with the headers may never look at them.
		setTimeout(() => raw.socket?.destroySoon(), 150).unref();
	});
	return reply;
}

/** Sends the headers at once, and then a space again and again until the caller gives up. */
export async function sendDripping(
	reply: FastifyReply,
	{ status, headers }: FlatAnswer,
	pause: () => Promise<void>,
): Promise<void> {
	reply.hijack();
	const { raw } = reply;
	const { 'content-length': _length, ...others } = headers;
	raw.writeHead(status, others);
	while (!raw.destroyed) {
		raw.write(' ');
		await pause();
	}
}

function* firstBytes(chunks: Iterable<Buffer>, limit: number): Generator<Buffer> {
	let left = limit;
	for (const chunk of chunks) {
		if (left <= 0) return;
		yield left >= chunk.length ? chunk : chunk.subarray(0, left);
		left -= chunk.length;
	}
}
