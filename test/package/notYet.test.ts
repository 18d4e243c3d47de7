/** How the harness of the suites in a real n8n takes an n8n that is busy for a moment. */
import fastify from 'fastify';
import { fetch } from '../n8n/harness/http';

/** What n8n answers before any handler, while its database is busy. */
const busy = { code: 503, message: 'Database is not ready!' };

async function asked(
	answers: Array<{ status: number; body: unknown }>,
	patience: { patienceMs?: number; pauseMs?: number } = { pauseMs: 1 },
) {
	const bodies: unknown[] = [];
	const app = fastify();
	app.post('/rest/workflows', async (request, reply) => {
		bodies.push(request.body);
		const { status, body } = answers[Math.min(bodies.length, answers.length) - 1] ?? {
			status: 500,
			body: {},
		};
		return await reply.status(status).send(body);
	});
	const url = await app.listen({ host: '127.0.0.1', port: 0 });
	try {
		const headers = { 'content-type': 'application/json' };
		const init = { method: 'POST', headers, body: '{"name":"one"}' };
		const response = await fetch(`${url}/rest/workflows`, init, patience);
		return { status: response.status, body: await response.json(), bodies };
	} finally {
		await app.close();
	}
}

it('asks again, with the same request, while n8n says that its database is not ready', async () => {
	const answers = [503, 503, 200].map((status) => ({
		status,
		body: status === 503 ? busy : { data: { id: '1' } },
	}));
	expect(await asked(answers)).toEqual({
		status: 200,
		body: { data: { id: '1' } },
		bodies: [{ name: 'one' }, { name: 'one' }, { name: 'one' }],
	});
});

it('passes on any other 503, such as that of the nodes, at once', async () => {
	const body = { error: 'The service can not be asked' };
	const { status, bodies } = await asked([{ status: 503, body }]);
	expect({ status, times: bodies.length }).toEqual({ status: 503, times: 1 });
});

it('passes on the last answer of an n8n that never gets ready', async () => {
	const { status, body } = await asked([{ status: 503, body: busy }], { patienceMs: 0 });
	expect({ status, body }).toEqual({ status: 503, body: busy });
});
