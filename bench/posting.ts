/** Posts to a real n8n, some at a time, each answer counted. */
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'undici';

export const atOnce = 20;

export interface Post {
	/** On n8n's own address, whatever host a URL names. */
	url: string;
	body: string;
}

export interface Posted {
	status: number;
	ms: number;
}

/** Before a post that was answered 503 is sent again: with the node's own `Retry-After`, a sender comes back as soon. */
const AGAIN_MS = 1_000;

/** Sends each until it is answered otherwise than by 503. Its last answer, and how long all of that took. */
export async function postAll(
	baseUrl: string,
	posts: readonly Post[],
	connections = atOnce,
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
				if (status === 503) await delay(AGAIN_MS);
			}
			posted.push({ status, ms: performance.now() - sent });
		}
	};
	await Promise.all(Array.from({ length: connections }, sender));
	await pool.close();
	return posted;
}
