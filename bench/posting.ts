/** One round of posts to a webhook of n8n: every answer and every execution is counted. */
import { Pool } from 'undici';
import type { TestContext } from '../test/n8n/harness/context';
import { waitUntil } from '../test/n8n/harness/wait';
import { check, quantile } from './stats';

export const posts = 500;
export const atOnce = 20;

/** Tasks of the service that are done, as it would post them. */
async function payloads({ service }: TestContext, count: number): Promise<string[]> {
	const pool = new Pool(service.baseUrl, { connections: atOnce });
	const made = await Promise.all(
		Array.from({ length: count }, async (_, index) => {
			const { body } = await pool.request({
				method: 'POST',
				path: '/v1/task/sound-effect',
				headers: {
					authorization: `Bearer ${service.apiKey}`,
					'content-type': 'application/json',
				},
				body: JSON.stringify({ text: `Sound ${index}`, stand_in: { ms: 0 } }),
			});
			const { task_id: taskId } = (await body.json()) as { task_id: string };
			return JSON.stringify(service.payload(taskId));
		}),
	);
	await pool.close();
	return made;
}

export interface Outcome {
	/** Until the last answer. */
	perSecond: number;
	/** Until the last execution was over. */
	executedPerSecond: number;
	p95Ms: number;
	requests: number;
}

async function finished(context: TestContext, workflowId: string): Promise<number> {
	const filter = encodeURIComponent(JSON.stringify({ workflowId, status: ['success'] }));
	const { count } = await context.rest.request<{ count: number }>(
		'GET',
		`/executions?filter=${filter}&limit=1`,
	);
	return count;
}

export async function measure(
	context: TestContext,
	way: { label: string; url: string },
	workflowId: string,
	count = posts,
): Promise<Outcome> {
	const { n8n, service } = context;
	const bodies = await payloads(context, count);
	const before = await finished(context, workflowId);
	const requestsBefore = service.polls().length;
	const pool = new Pool(n8n.baseUrl, { connections: atOnce });
	const times: number[] = [];
	const statuses: number[] = [];
	const started = performance.now();
	let next = 0;
	const sender = async () => {
		for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
			const sent = performance.now();
			const headers = { 'content-type': 'application/json' };
			const path = `/webhook/${way.url}`;
			const answer = await pool.request({ method: 'POST', path, headers, body });
			await answer.body.dump();
			times.push(performance.now() - sent);
			statuses.push(answer.statusCode);
		}
	};
	await Promise.all(Array.from({ length: atOnce }, sender));
	const answeredS = (performance.now() - started) / 1000;
	await waitUntil(async () => (await finished(context, workflowId)) - before >= count, {
		timeoutMs: 180_000,
		intervalMs: 100,
		what: `${count} executions of ${way.label}`,
	});
	const executedS = (performance.now() - started) / 1000;
	await pool.close();
	check(
		statuses.length === count && statuses.every((status) => status === 200),
		`${way.label}: answers other than 200`,
	);
	check(
		(await finished(context, workflowId)) - before === count,
		`${way.label}: more than ${count} executions`,
	);
	return {
		perSecond: count / answeredS,
		executedPerSecond: count / executedS,
		p95Ms: quantile(times, 0.95),
		requests: (service.polls().length - requestsBefore) / count,
	};
}
