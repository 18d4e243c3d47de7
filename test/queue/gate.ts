/**
 * What stands before n8n's processes in earnest: a proxy that passes calls of webhooks to a webhook processor, everything else to the main,
 * and asks nobody who is not ready. A webhook processor that has just started answers 404 to everything for a moment, and a sender may take
 * that for the last word; 503 says "try again". Calls of one path go to the same webhook processor as long as that is ready, because each
 * keeps its own memory of duplicates.
 */
import { createServer, request } from 'node:http';
import { onCleanup } from '../../scripts/cleanup';

/** A process behind the gate. */
export interface Backend {
	port: number;
	/** Whether the gate may ask it. */
	open: boolean;
}

const isWebhook = (path: string) => /^\/webhook(-waiting)?\//.test(path);

/** A number for a path, the same each time. */
const numberOf = (path: string) =>
	[...path].reduce((sum, letter) => (31 * sum + (letter.codePointAt(0) ?? 0)) % 65_521, 0);

/** The processor that takes the calls of a path, or the next one that is ready; undefined when none is. */
function processorFor(path: string, webhooks: readonly Backend[]): Backend | undefined {
	const first = numberOf(path) % webhooks.length;
	return [...webhooks.slice(first), ...webhooks.slice(0, first)].find(({ open }) => open);
}

/** @returns what closes it */
export async function startGate(
	port: number,
	{ webhooks, main }: { webhooks: readonly Backend[]; main: number },
) {
	const server = createServer((incoming, outgoing) => {
		const refuse = (status: number) => {
			if (!outgoing.headersSent) outgoing.writeHead(status, { 'content-type': 'application/json' });
			outgoing.end(JSON.stringify({ message: 'no webhook processor is ready' }));
		};
		const { method, url = '/', headers } = incoming;
		const { pathname } = new URL(url, 'http://gate');
		const target = isWebhook(pathname) ? processorFor(pathname, webhooks)?.port : main;
		if (target === undefined) return refuse(503);
		const onward = request(
			// On kept connections one call of a thousand was answered 400, while n8n refused others before it read their bodies.
			{ host: '127.0.0.1', port: target, method, path: url, headers, agent: false },
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
	return close;
}
