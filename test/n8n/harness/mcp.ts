/** A client of n8n's MCP Server Trigger. */
import { fetch } from './http';
import { waitUntil } from './wait';

/** @param url of the trigger, which is there a moment after its workflow was published */
export async function mcpClient(url: string) {
	let session: Record<string, string> = {};
	const send = async (method: string, params: object) => {
		const response = await fetch(url, {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
				...session,
			},
			body: JSON.stringify({ jsonrpc: '2.0', method, params, id: 1 }),
		});
		const sessionId = response.headers.get('mcp-session-id');
		if (sessionId !== null) session = { 'mcp-session-id': sessionId };
		return { ok: response.ok, text: await response.text() };
	};
	const clientInfo = { name: 'test', version: '1' };
	const hello = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo };
	await waitUntil(async () => (await send('initialize', hello)).ok, { what: 'The MCP server' });
	return {
		/** What a call of the tool answers. */
		call: async (name: string) => (await send('tools/call', { name, arguments: {} })).text,
	};
}
