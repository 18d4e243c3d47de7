/** Posts to a real n8n, some at a time, each answer counted. */
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';

export interface Post {
	/** On n8n's own address, whatever host a URL names. */
	url: string;
	body: string;
}

export interface Posted {
	status: number;
	ms: number;
}

/** Sends each again, after the pause that the answer asks for, while it is answered 503. Its last answer, and how long all of that took. */
export async function postAll(
	baseUrl: string,
	posts: readonly Post[],
	connections: number,
): Promise<Posted[]> {
	const pool = new Pool(baseUrl, { connections });
	const posted: Posted[] = [];
	const waiting = posts.values();
	const sender = async () => {
		for (const { url, body } of waiting) {
			const { pathname, search } = new URL(url, baseUrl);
			const sent = performance.now();
			const headers = { 'content-type': 'application/json' };
			const request = { method: 'POST', path: pathname + search, headers, body } as const;
			let status = 503;
			while (status === 503) {
				const answer = await pool.request(request);
				await answer.body.dump();
				status = answer.statusCode;
				if (status === 503) await delay(1_000 * Number(answer.headers['retry-after'] ?? 1));
			}
			posted.push({ status, ms: performance.now() - sent });
		}
	};
	await Promise.all(Array.from({ length: connections }, sender));
	await pool.close();
	return posted;
}
