/** A chat model that does as it is told: an OpenAI-compatible server on 127.0.0.1 whose answers the test writes down. */
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
}

/** Words, the arguments of calls of the first tool (several in one answer are made in parallel), or an HTTP status with which it fails. */
export type ModelAnswer = string | Array<Record<string, unknown>> | number;

export type ScriptedModel = Awaited<ReturnType<typeof startScriptedModel>>;

type Message = Record<string, unknown> & { role: 'assistant' };

function messageOf(
	answer: Exclude<ModelAnswer, number>,
	{ tools = [] }: ChatRequest,
	turn: number,
): Message {
	if (typeof answer === 'string') return { role: 'assistant', content: answer };
	const name = tools[0]?.function.name;
	const calls = answer.map((fields, index) => ({
		index,
		id: `call_${turn}_${index}`,
		type: 'function',
		function: { name, arguments: JSON.stringify(fields) },
	}));
	return { role: 'assistant', content: '', tool_calls: calls };
}

/** In one piece: the agents of the tests ask for no stream. */
function body(message: Message) {
	const finish_reason = message.tool_calls === undefined ? 'stop' : 'tool_calls';
	const choices = [{ index: 0, message, finish_reason }];
	const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
	return { id: 'chat-1', created: 1, model: 'scripted', object: 'chat.completion', choices, usage };
}

/** @param script the answer to each request, in order; the last one is repeated */
export async function startScriptedModel(script: readonly [ModelAnswer, ...ModelAnswer[]]) {
	const requests: ChatRequest[] = [];
	const app = fastify();
	app.post('/v1/chat/completions', async (request, reply) => {
		const asked = request.body as ChatRequest;
		const turn = requests.push(asked) - 1;
		const answer = script[Math.min(turn, script.length - 1)] ?? '';
		if (typeof answer === 'number')
			return await reply.status(answer).send({ error: { message: 'The model is out of order' } });
		return await reply.send(body(messageOf(answer, asked, turn)));
	});
	const url = await app.listen({ host: '127.0.0.1', port: 0 });
	return {
		/** For the credential's Base URL (type `openAiApi`, field `url`). */
		url: `${url}/v1`,
		requests,
		/** What the model was told by its tool calls, in order. */
		toolResults: () =>
			(requests.at(-1)?.messages ?? [])
				.filter(({ role }) => role === 'tool')
				.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))),
		close: async () => await app.close(),
	};
}
