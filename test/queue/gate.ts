/**
 * What stands before webhook processors in earnest: a proxy that asks nobody who is not ready. A webhook processor that has just started
 * answers 404 to everything for a moment, and a sender may take that for the last word; 503 says "try again".
 */
import { createServer, request } from 'node:http';
import { onCleanup } from '../../scripts/cleanup';

export interface Gate {
	/** Closed, it answers 503 by itself. */
	open: boolean;
	close(): Promise<void>;
}

export async function startGate(port: number, targetPort: number): Promise<Gate> {
	const server = createServer((incoming, outgoing) => {
		const refuse = (status: number) => {
			if (!outgoing.headersSent) outgoing.writeHead(status, { 'content-type': 'application/json' });
			outgoing.end(JSON.stringify({ message: 'no webhook processor is ready' }));
		};
		if (!gate.open) return refuse(503);
		const { method, url, headers } = incoming;
		const onward = request(
			{ host: '127.0.0.1', port: targetPort, method, path: url, headers },
			(answer) => {
				outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
				answer.pipe(outgoing);
			},
		);
		onward.on('error', (error: NodeJS.ErrnoException) =>
			refuse(error.code === 'ECONNREFUSED' ? 503 : 502),
		);
		incoming.pipe(onward);
	});
	await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
	const close = () =>
		new Promise<void>((resolve) => {
			server.close(() => resolve());
			server.closeAllConnections();
			forget();
		});
	const forget = onCleanup(close);
	const gate: Gate = { open: true, close };
	return gate;
}
