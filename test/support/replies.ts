/** Replies and clients as the network's door makes them, for everything above it. */
import { Account } from '../../nodes/MediaGeneration/transport/account';
import type { ApiRequest, ServiceClient } from '../../nodes/MediaGeneration/transport/client';
import type { Answer, NoAnswer, Reply } from '../../nodes/MediaGeneration/answers/reply';
import { saidIn } from '../../nodes/MediaGeneration/answers/said';

/** A creation, where a test is not about what it says. */
export const RAIN = {
	kind: 'sound-effect',
	path: '/v1/task/sound-effect',
	body: { text: 'Rain on a roof' },
};

/** An answer; a body that is a string stands for itself and is not JSON. */
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
		kind: 'unanswered',
		reason: 'socket hang up',
		...fields,
	};
}

/**
 * A client whose replies come from a function; every request is kept. What an answer says of throttling it learns as the
 * real door does.
 */
export function scriptedClient(
	reply: (request: ApiRequest, count: number) => Reply | Promise<Reply>,
	now?: () => number,
): ServiceClient & { requests: ApiRequest[] } {
	const requests: ApiRequest[] = [];
	const account = new Account();
	return {
		requests,
		account,
		credentials: { baseUrl: 'https://api.example', apiKey: 'sk_test-key', callbackSecret: '' },
		async send(request) {
			requests.push(request);
			const replied = await reply(request, requests.length);
			if (replied.answered)
				account.noteThrottling(request.purpose, saidIn(replied, request.own), now?.());
			return replied;
		},
	};
}
