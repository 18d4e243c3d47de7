/**
 * What stands before n8n's processes in earnest: a proxy that passes calls of webhooks to a webhook processor, everything else to the main,
 * and asks nobody who is not ready. A webhook processor that has just started answers 404 to everything for a moment, and a sender may take
 * that for the last word; 503 says "try again".
 */
import { createServer, request } from 'node:http';
import { onCleanup } from '../../scripts/cleanup';

export interface Gate {
	/** Closed, it answers calls of webhooks with 503 by itself. */
	open: boolean;
	close(): Promise<void>;
}

const isWebhook = (url = '') => /^\/webhook(-waiting)?\//.test(url);

export async function startGate(
	port: number,
	ports: { webhook: number; main: number },
): Promise<Gate> {
	const server = createServer((incoming, outgoing) => {
		const refuse = (status: number) => {
			if (!outgoing.headersSent) outgoing.writeHead(status, { 'content-type': 'application/json' });
			outgoing.end(JSON.stringify({ message: 'no webhook processor is ready' }));
		};
		const { method, url, headers } = incoming;
		const webhook = isWebhook(url);
		if (webhook && !gate.open) return refuse(503);
		const target = webhook ? ports.webhook : ports.main;
		const onward = request(
			{ host: '127.0.0.1', port: target, method, path: url, headers },
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
