/**
 * An HTTPS server behind an edge that loses its head: the request gets through TLS and is taken, and then the edge writes
 * plain text into the encrypted connection. A client reads that as a broken record (ERR_SSL_...), though its request arrived.
 */
import { readFileSync } from 'node:fs';
import { createServer as createHttpsServer } from 'node:https';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';

const file = (name: string) => readFileSync(join(__dirname, 'tls', name), 'utf8');

/** What the trap shows; a client has to trust it to get as far as sending a request. */
export const certificate = file('certificate.pem');

export interface TlsTrap {
	baseUrl: string;
	/** Bodies of the requests that arrived whole. */
	taken: string[];
	close(): Promise<void>;
}

const PLAIN_TEXT = 'HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';

async function listen(server: Server): Promise<number> {
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return (server.address() as AddressInfo).port;
}

export async function startTlsTrap(): Promise<TlsTrap> {
	const taken: string[] = [];
	/** The edge's connections to clients, by the port from which it speaks to the server behind it. */
	const clients = new Map<number, Socket>();
	const behind = createHttpsServer(
		{ key: file('key.pem'), cert: certificate, maxVersion: 'TLSv1.2' },
		(request) => {
			const chunks: Buffer[] = [];
			request.on('data', (chunk: Buffer) => chunks.push(chunk));
			request.on('end', () => {
				taken.push(Buffer.concat(chunks).toString());
				clients.get(request.socket.remotePort ?? 0)?.end(PLAIN_TEXT);
			});
		},
	);
	const port = await listen(behind);
	const edge = createServer((client) => {
		const inside = connect(port, '127.0.0.1', () => {
			if (inside.localPort !== undefined) clients.set(inside.localPort, client);
		});
		client.pipe(inside);
		inside.pipe(client);
		for (const [one, other] of [
			[client, inside],
			[inside, client],
		] as const) {
			one.on('error', () => other.destroy());
			one.on('close', () => other.destroy());
		}
	});
	const edgePort = await listen(edge);
	return {
		baseUrl: `https://127.0.0.1:${edgePort}`,
		taken,
		close: async () => {
			for (const client of clients.values()) client.destroy();
			await Promise.all(
				[edge, behind].map(async (server) => await new Promise((resolve) => server.close(resolve))),
			);
		},
	};
}
