/**
 * The stand-in under a public name: as an n8n on a private address reaches a service on the internet, by TLS and through a
 * proxy. Such a service can call nobody back.
 */
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, request, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { onCleanup } from '../../../scripts/cleanup';

const host = 'media.example.com';
const file = (name: string) => join(__dirname, 'tls', name);

export interface PublicName {
	baseUrl: string;
	/** What n8n has to be started with. */
	env: Record<string, string>;
	/** Where the stand-in really is. */
	leadTo(baseUrl: string): void;
	close(): Promise<void>;
}

async function listen(server: Server): Promise<number> {
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return (server.address() as AddressInfo).port;
}

export async function startPublicName(): Promise<PublicName> {
	let target = '';
	const sockets = new Set<Socket>();
	const service = createHttpsServer(
		{ key: readFileSync(file('key.pem')), cert: readFileSync(file('certificate.pem')) },
		(incoming, outgoing) => {
			const { method, url, headers } = incoming;
			const onward = request(`${target}${url ?? '/'}`, { method, headers }, (answer) => {
				outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
				answer.pipe(outgoing);
			});
			onward.on('error', () => outgoing.destroy());
			incoming.pipe(onward);
		},
	);
	const servicePort = await listen(service);
	const proxy = createHttpServer((_incoming, outgoing) => outgoing.writeHead(502).end());
	proxy.on('connect', ({ url }, client: Socket) => {
		sockets.add(client);
		if (url !== `${host}:443`) return client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
		const onward = connect(servicePort, '127.0.0.1', () => {
			client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
			client.pipe(onward).pipe(client);
		});
		for (const [one, other] of [
			[client, onward],
			[onward, client],
		] as const)
			one.on('error', () => other.destroy()).on('close', () => other.destroy());
	});
	const proxyPort = await listen(proxy);
	const close = async () => {
		forget();
		for (const socket of sockets) socket.destroy();
		for (const server of [proxy, service]) {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		}
	};
	const forget = onCleanup(close);
	return {
		baseUrl: `https://${host}`,
		env: {
			HTTPS_PROXY: `http://127.0.0.1:${proxyPort}`,
			NO_PROXY: '127.0.0.1,0.0.0.0,localhost',
			NODE_EXTRA_CA_CERTS: file('certificate.pem'),
		},
		leadTo(baseUrl) {
			target = baseUrl;
		},
		close,
	};
}
