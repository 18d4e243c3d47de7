/** A chat model that does as it is told: an OpenAI-compatible server on 127.0.0.1 that calls the first tool once, then ends. */
import fastify from 'fastify';

export interface ToolDefinition {
	function: {
		name: string;
		description: string;
		parameters: { properties: Record<string, { type?: string; description?: string }> };
	};
}

interface ChatRequest {
	tools?: ToolDefinition[];
	messages: Array<{ role: string; content: unknown }>;
	stream?: boolean;
}

export interface ChatModel {
	/** For the credential's Base URL. */
	readonly url: string;
	readonly requests: ChatRequest[];
	/** What the model was told by the tool, in order. */
	toolResults(): string[];
	close(): Promise<void>;
}

type Message = Record<string, unknown> & { role: 'assistant' };

/** Answers in one piece or, where asked for, as a stream of one piece. */
function body(message: Message, stream: boolean): string {
	const finish = message.tool_calls === undefined ? 'stop' : 'tool_calls';
	const base = { id: 'chat-1', created: 1, model: 'scripted' };
	const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
	if (!stream) {
		const choices = [{ index: 0, message, finish_reason: finish }];
		return JSON.stringify({ ...base, object: 'chat.completion', choices, usage });
	}
	const chunk = (delta: unknown, finish_reason: string | null) =>
		`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
	return `${chunk(message, null)}${chunk({}, finish)}data: [DONE]\n\n`;
}

/** @param toolArguments what the model fills into the tool's fields */
export async function startChatModel(toolArguments: Record<string, unknown>): Promise<ChatModel> {
	const requests: ChatRequest[] = [];
	const app = fastify();
	app.post('/v1/chat/completions', async (request, reply) => {
		const asked = request.body as ChatRequest;
		requests.push(asked);
		const name = asked.tools?.[0]?.function.name;
		const answered = asked.messages.some(({ role }) => role === 'tool');
		const call = { name, arguments: JSON.stringify(toolArguments) };
		const message: Message =
			answered || name === undefined
				? { role: 'assistant', content: 'Here it is.' }
				: {
						role: 'assistant',
						content: '',
						tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: call }],
					};
		const stream = asked.stream === true;
		return await reply
			.type(stream ? 'text/event-stream' : 'application/json')
			.send(body(message, stream));
	});
	const url = await app.listen({ host: '127.0.0.1', port: 0 });
	return {
		url: `${url}/v1`,
		requests,
		toolResults: () =>
			(requests.at(-1)?.messages ?? [])
				.filter(({ role }) => role === 'tool')
				.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))),
		close: async () => await app.close(),
	};
}
