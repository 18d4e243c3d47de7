/**
 * Opens files without any credential. It follows redirects one by one, so that every hop passes n8n's own protection against server-side
 * request forgery, which is off by default. It opens private addresses only if the service has one, and those of a machine's own metadata never.
 */
import { fileHostProblem } from './hosts';
import type { N8nContext } from '../n8n/execution';
import type { IExecuteFunctions } from 'n8n-workflow';
import { ABORTED, timeLimit } from '../base/abort';
import type { Clock } from '../base/clock';
import { urlOf } from '../base/url';
import { headerOf } from '../answers/limits';
import { connectionOf, reasonOf } from '../n8n/networkError';

export type ByteStream = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Buffer
>;

export interface OpenFile {
	ok: true;
	status: number;
	headers: Record<string, unknown>;
	/** Bytes that are here already are no stream. */
	body: ByteStream | AsyncGenerator<Buffer>;
	/** Must be called, once or more. Aborts the request: n8n 2.41 wraps streams by `Readable.from`; destroying an unread one leaves its socket open. */
	close(): void;
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

/** A host may be silent for this long: until the headers of one hop arrive, or in the middle of a file. */
const MINUTE_MS = 60_000;

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
		const { statusCode, headers, body } = (await context.helpers.httpRequest({
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
		// An abort appears as an error of the stream, even if nobody reads it.
		body.on('error', () => undefined);
		return {
			ok: true,
			status: statusCode,
			headers,
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

/**
 * Makes a stream without Node's stream module, which community nodes may not import: response bodies and the streams of n8n's store have
 * its classes, which share the static `from`. @param sample any such stream
 */
export function streamOf(sample: ByteStream, chunks: AsyncGenerator<Buffer>): ByteStream {
	const factory = sample.constructor as unknown as {
		from(iterable: AsyncIterable<Buffer>, options: { objectMode: boolean }): ByteStream;
	};
	return factory.from(chunks, { objectMode: false });
}

/**
 * Yields a body's chunks, and throws if the host sends none for a minute, or too few. The reader may take any time. One timer watches the
 * whole body and no chunk is copied: what thousands of chunks leave behind makes n8n's memory grow.
 */
export async function* watched(opened: OpenFile, { now, sleep }: Clock): AsyncGenerator<Buffer> {
	const over = new AbortController();
	/** Undefined while the reader is busy. */
	let waitingSince: number | undefined = now();
	/** How long the host has been waited for in this minute, before `waitingSince`. */
	let waitedMs = 0;
	let [bytes, least] = [0, 0];
	let problem: string | undefined;
	void (async () => {
		while (!over.signal.aborted) {
			const silentMs = waitingSince === undefined ? 0 : now() - waitingSince;
			const minuteMs = waitedMs + silentMs;
			if (silentMs >= MINUTE_MS) problem = 'the file host stopped sending';
			else if (minuteMs >= MINUTE_MS) {
				if (bytes < least) problem = 'the file host sent less than 64 kB in a minute';
				// Less in a minute after the first would hold a download, and what waits for it, for days.
				[bytes, least, waitedMs] = [0, 64_000, -silentMs];
			}
			if (problem !== undefined) return opened.close();
			await sleep(MINUTE_MS - Math.max(silentMs, waitedMs + silentMs), over.signal);
		}
	})();
	try {
		for await (const chunk of opened.body as AsyncIterable<Buffer>) {
			waitedMs += now() - (waitingSince ?? now());
			bytes += chunk.length;
			waitingSince = undefined;
			yield chunk;
			waitingSince = now();
		}
	} catch (error) {
		throw problem === undefined ? new Error(reasonOf(error)) : new Error(problem);
	} finally {
		over.abort(ABORTED);
	}
}
