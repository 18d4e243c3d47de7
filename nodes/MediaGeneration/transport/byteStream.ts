/** Streams of bytes: of a file host, which is given up if it stalls, and for n8n's store. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { ABORTED } from '../base/abort';
import type { Clock } from '../base/clock';
import { reasonOf } from '../n8n/networkError';

export type ByteStream = Exclude<
	Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0],
	Buffer
>;

export interface OpenBytes {
	/** Bytes that are here already are no stream. */
	body: ByteStream | AsyncGenerator<Buffer>;
	/** Must be called, once or more. Aborts the request: n8n 2.41 wraps streams by `Readable.from`; destroying an unread one leaves its socket open. */
	close(): void;
}

/** A host may be silent for this long: until the headers of one hop arrive, or in the middle of a file. */
export const MINUTE_MS = 60_000;

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
export async function* watched(opened: OpenBytes, { now, sleep }: Clock): AsyncGenerator<Buffer> {
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
