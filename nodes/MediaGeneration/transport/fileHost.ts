/**
 * Opens files without any credential. It follows redirects one by one, so that every hop passes n8n's own protection against server-side
 * request forgery, which is off by default. It opens private addresses only if the service has one, and those of a machine's own metadata never.
 */
import { MINUTE_MS, type ByteStream, type OpenBytes } from './byteStream';
import { fileHostProblem } from './hosts';
import type { N8nContext } from '../n8n/execution';
import { timeLimit } from '../base/abort';
import { urlOf } from '../base/url';
import { headerOf } from '../answers/limits';
import { connectionOf, reasonOf } from '../n8n/networkError';

export interface OpenFile extends OpenBytes {
	ok: true;
	status: number;
	headers: Record<string, unknown>;
}

export interface NotOpened {
	ok: false;
	reason: string;
	/** Whether another try may help. */
	transient: boolean;
}

/** Never rejects. An abort of the signal ends the request, even while its body is being read. */
export type OpenFileFn = (
	url: string,
	signal: AbortSignal | undefined,
) => Promise<OpenFile | NotOpened>;

function redirectTarget(location: string | undefined, from: string): URL | string {
	const target = urlOf(location, from);
	if (target === undefined) return 'it redirects without a usable address';
	if (target.protocol !== 'https:' && target.protocol !== 'http:')
		return `it redirects to ${target.protocol} which is not followed`;
	if (from.startsWith('https:')) target.protocol = 'https:';
	return target;
}

const noFile = (reason: string, transient = false): NotOpened => ({ ok: false, reason, transient });

async function request(
	context: N8nContext,
	url: string,
	signal: AbortSignal | undefined,
): Promise<OpenFile | NotOpened> {
	// The helper's own time limit counts silence only, and a header that comes letter by letter is not silence.
	const limit = timeLimit(MINUTE_MS, signal);
	try {
		const response = (await context.helpers.httpRequest({
			method: 'GET',
			url,
			headers: {
				Accept: '*/*',
				'Accept-Encoding': 'identity',
				// Some file hosts refuse clients that are not browsers (docs/service.md, "HTTP").
				'User-Agent': 'Mozilla/5.0 (compatible; n8n-nodes-media-generation)',
			},
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: MINUTE_MS,
			abortSignal: limit.signal,
		})) as { statusCode: number; headers: Record<string, unknown>; body: ByteStream };
		limit.met();
		const { body } = response;
		// An abort appears as an error of the stream, even if nobody reads it.
		body.on('error', () => undefined);
		return {
			ok: true,
			status: response.statusCode,
			headers: response.headers,
			body,
			close: () => {
				limit.end();
				limit.abort();
				body.destroy();
			},
		};
	} catch (error) {
		limit.end();
		if (limit.timedOut()) return noFile('it did not answer within 60 s', true);
		return noFile(reasonOf(error), connectionOf(error) !== 'impossible');
	}
}

/** Where the service itself is reached by https, or is not known, files come by https alone. */
export function fileOpener(deps: { context: N8nContext; baseUrl?: string }): OpenFileFn {
	const baseUrl = urlOf(deps.baseUrl);
	return async (address, signal) => {
		let next: URL | string = urlOf(address) ?? 'its address names no host';
		for (let hop = 0; hop <= 5 && typeof next !== 'string'; hop += 1) {
			const problem = fileHostProblem(next, baseUrl);
			if (problem !== undefined) return noFile(problem);
			// No host of a private network has a certificate for a name that leads there by accident or by malice.
			if (baseUrl?.protocol !== 'http:') next.protocol = 'https:';
			const opened = await request(deps.context, next.href, signal);
			if (!opened.ok || ![301, 302, 303, 307, 308].includes(opened.status)) return opened;
			opened.close();
			next = redirectTarget(headerOf(opened.headers, 'location'), next.href);
		}
		return noFile(typeof next === 'string' ? next : 'it redirects more than 5 times');
	};
}
