/** Every request has a total limit of its own: n8n's time-out counts idle time only, and its helper ignores a signal given to it. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { createClient } from '../../nodes/MediaGeneration/service/client';

/** n8n's helper with an answer that drips: it never settles, whatever it is given. */
const context = {
	getCredentials: async () =>
		await Promise.resolve({ apiKey: 'sk_test-key', baseUrl: 'https://api.example' }),
	helpers: {
		httpRequestWithAuthentication: async () => await new Promise(() => undefined),
	},
} as unknown as IExecuteFunctions;

test.each(['GET', 'POST'] as const)(
	'%s: no answer, but perhaps sent',
	async (method) => {
		const client = await createClient(context);
		const reply = await client.send({
			method,
			path: '/v1/anything',
			...(method === 'POST' ? { body: { text: 'rain' } } : {}),
			purpose: 'read',
			timeoutMs: 100,
		});
		expect(reply).toMatchObject({ answered: false, kind: 'unanswered' });
	},
	5_000,
);
