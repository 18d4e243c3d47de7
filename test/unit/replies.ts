/** Replies and clients as the network's door makes them, for everything above it. */
import type { Account } from '../../nodes/MediaGeneration/service/account';
import type {
	Answer,
	ApiRequest,
	NoAnswer,
	Reply,
	ServiceClient,
} from '../../nodes/MediaGeneration/service/client';
import { Room } from '../../nodes/MediaGeneration/service/room';

/** An answer; a body that is a string stands for itself and is no JSON. */
export function answer(
	status: number,
	body: unknown = '',
	headers: Record<string, unknown> = {},
): Answer {
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	return {
		answered: true,
		status,
		headers,
		body: typeof body === 'string' ? undefined : body,
		text,
	};
}

export function noAnswer(fields: Partial<NoAnswer> = {}): NoAnswer {
	return {
		answered: false,
		sent: true,
		permanent: false,
		aborted: false,
		reason: 'socket hang up',
		...fields,
	};
}

export interface ScriptedClient extends ServiceClient {
	requests: ApiRequest[];
}

/** A client whose replies come from a function; every request is kept. */
export function scriptedClient(
	reply: (request: ApiRequest, count: number) => Reply | Promise<Reply>,
): ScriptedClient {
	const requests: ApiRequest[] = [];
	const account: Account = { pausedUntil: 0, routes: new Map(), room: new Room() };
	return {
		requests,
		account,
		credentials: { baseUrl: 'https://api.example', apiKey: 'sk_test-key', callbackSecret: '' },
		redact: (text) => text,
		async send(request) {
			requests.push(request);
			return await reply(request, requests.length);
		},
	};
}
