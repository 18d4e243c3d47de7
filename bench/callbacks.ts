/** Callbacks at a trigger, beside posts at n8n's own Webhook node, in the same n8n. */
import { startContext, type TestContext } from '../test/n8n/harness/context';
import type { Bench } from './report';
import { check } from './stats';
import { called, last, publish, trigger } from './workflows';

const posts = 500;
const atOnce = 20;

/** Posts the bodies, so many at a time, and returns posts per second; every one must be answered 200. */
async function rate(url: string, bodies: unknown[]): Promise<number> {
	const queue = [...bodies];
	const started = performance.now();
	await Promise.all(
		Array.from({ length: atOnce }, async () => {
			for (let body = queue.pop(); body !== undefined; body = queue.pop()) {
				const answer = await fetch(url, {
					method: 'POST',
					headers: { 'content-type': 'application/json' },
					body: JSON.stringify(body),
				});
				await answer.arrayBuffer();
				check(answer.status === 200, `a post was answered ${answer.status}`);
			}
		}),
	);
	return (bodies.length * 1000) / (performance.now() - started);
}

/** Finished tasks as the service posts them. */
async function payloads({ service }: TestContext): Promise<unknown[]> {
	return await Promise.all(
		Array.from({ length: posts }, async (_, index) => {
			const answer = await fetch(`${service.baseUrl}/v1/task/sound-effect`, {
				method: 'POST',
				headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
				body: JSON.stringify({ text: `Sound ${index}` }),
			});
			const { task_id: id } = (await answer.json()) as { task_id: string };
			await service.finish(id);
			return service.payload(id);
		}),
	);
}

export const bench: Bench = {
	title: `${posts} callbacks, ${atOnce} at a time`,
	async run(say) {
		const context = await startContext({ settings: { taskMs: 3_600_000 } });
		try {
			const { n8n, rest, service } = context;
			const quiet = { downloadOutput: false };
			const flows = {
				webhook: await publish(context, 'webhook', [called('bench-webhook'), last()]),
				unverified: await publish(context, 'unverified', [
					trigger('bench-unverified', { ...quiet, verifyWithService: false }),
					last(),
				]),
				verified: await publish(context, 'verified', [trigger('bench-verified', quiet), last()]),
			};
			const urls = {
				webhook: `${n8n.baseUrl}/webhook/bench-webhook`,
				unverified: `${n8n.baseUrl}/webhook/bench-unverified/callback`,
				verified: `${n8n.baseUrl}/webhook/bench-verified/callback`,
			};
			const bodies = await payloads(context);
			await rate(urls.webhook, bodies.slice(0, 50)); // Warm.
			const rates: Record<string, number> = {};
			let asked = 0;
			for (const name of ['webhook', 'unverified', 'verified'] as const) {
				const before = service.polls().length;
				rates[name] = await rate(urls[name], bodies);
				if (name === 'verified') asked = service.polls().length - before;
				const expected = posts + (name === 'webhook' ? 50 : 0);
				await rest.waitForExecutions(flows[name].id, Math.min(expected, 100), 120_000);
				say(`${name}: ${Math.round(rates[name])} a second`);
			}
			const { webhook = 0, unverified = 0, verified = 0 } = rates;
			return {
				tables: [
					{
						caption: 'Answered posts a second; each one starts an execution',
						columns: ['', 'posts/s', 'beside the Webhook node', 'service requests a callback'],
						rows: [
							['n8n Webhook node', webhook, 1, 0],
							['trigger, not verified', unverified, unverified / webhook, 0],
							['trigger, verified', verified, verified / webhook, asked / posts],
						],
					},
				],
				marks: [
					{
						what: 'unverified callbacks beside the Webhook node',
						measured: unverified / webhook,
						limit: 0.9,
						bound: 'least',
						unit: 'x',
					},
					{
						what: 'service requests a verified callback',
						measured: asked / posts,
						limit: 1,
						unit: '',
					},
				],
				bars: [
					{
						title: 'Callbacks a second',
						unit: '/s',
						bars: [
							{ label: 'n8n Webhook node', value: webhook, ours: false },
							{ label: 'trigger, not verified', value: unverified, ours: true },
							{ label: 'trigger, verified', value: verified, ours: true },
						],
					},
				],
				checked: [`${posts} posts each, all answered 200`],
			};
		} finally {
			await context.close();
		}
	},
};
