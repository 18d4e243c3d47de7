/** Posts to a real n8n, some at a time, each answer counted. */
import { Pool } from 'undici';
import { check } from './stats';

export const atOnce = 20;

export interface Post {
	/** On n8n's own address, whatever host a URL names. */
	url: string;
	body: string;
}

/** How long each took to be answered 200, in ms. */
export async function postAll(baseUrl: string, posts: readonly Post[]): Promise<number[]> {
	const pool = new Pool(baseUrl, { connections: atOnce });
	const answerMs: number[] = [];
	const waiting = posts.values();
	const sender = async () => {
		for (const { url, body } of waiting) {
			const { pathname, search } = new URL(url, baseUrl);
			const sent = performance.now();
			const headers = { 'content-type': 'application/json' };
			const path = pathname + search;
			const answer = await pool.request({ method: 'POST', path, headers, body });
			const text = await answer.body.text();
			check(answer.statusCode === 200, `a post was answered ${answer.statusCode}: ${text}`);
			answerMs.push(performance.now() - sent);
		}
	};
	await Promise.all(Array.from({ length: atOnce }, sender));
	await pool.close();
	return answerMs;
}
