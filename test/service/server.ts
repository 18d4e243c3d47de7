import type { AddressInfo } from 'node:net';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { jsonOrText, parseForm } from './form';

/** A server whose bodies are parsed as JSON or forms where they can be, and kept as text where they can't. */
export function newServer(): FastifyInstance {
	const app = fastify({
		logger: false,
		forceCloseConnections: true,
		exposeHeadRoutes: false,
		bodyLimit: 128 * 1024 * 1024,
		routerOptions: { maxParamLength: 5000 },
	});
	app.removeAllContentTypeParsers();
	app.addContentTypeParser(
		/^multipart\/form-data/,
		{ parseAs: 'buffer' },
		async ({ headers }: FastifyRequest, bytes: Buffer) =>
			await parseForm(bytes, headers['content-type'] ?? ''),
	);
	app.addContentTypeParser('*', { parseAs: 'string' }, (_request, text, done) =>
		done(null, text === '' ? undefined : jsonOrText(String(text))),
	);
	return app;
}

/** A port that was asked for is in use. */
export class PortTakenError extends Error {
	constructor(readonly port: number) {
		super(`Port ${port} on 127.0.0.1 is taken`);
	}
}

/** Listens on 127.0.0.1; the address without a slash at its end. */
export async function listen(app: FastifyInstance, port: number): Promise<string> {
	try {
		await app.listen({ host: '127.0.0.1', port });
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw new PortTakenError(port);
		throw error;
	}
	return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}
