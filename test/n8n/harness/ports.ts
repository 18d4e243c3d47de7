import { createServer } from 'node:net';

/** Is the port free on 127.0.0.1 (and, as n8n's editor is opened by it, on localhost)? */
export function isPortFree(port: number): Promise<boolean> {
	return new Promise((resolve) => {
		const server = createServer();
		server.once('error', () => resolve(false));
		server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
	});
}

/** `count` different free ports on 127.0.0.1, all of them held while the others are chosen. */
export async function freePorts(count: number): Promise<number[]> {
	const servers = Array.from({ length: count }, () => createServer());
	const ports = await Promise.all(
		servers.map(
			(server) =>
				new Promise<number>((resolve, reject) => {
					server.once('error', reject);
					server.listen(0, '127.0.0.1', () => {
						const address = server.address();
						if (address === null || typeof address === 'string') reject(new Error('No port'));
						else resolve(address.port);
					});
				}),
		),
	);
	await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
	return ports;
}
