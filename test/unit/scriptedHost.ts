/** A file host that serves what a function says, as n8n's HTTP client hands it over; virtual time, and a count of what is still open. */
import { createHash } from 'node:crypto';
import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import type { FailedDownload } from '../../nodes/MediaGeneration/files/fileAnswer';
import { Tries } from '../../nodes/MediaGeneration/files/tries';
import { Download, type DownloadDeps } from '../../nodes/MediaGeneration/files/download';
import type { NotOpened, OpenFile } from '../../nodes/MediaGeneration/transport/fileHost';
import type { OutputKind } from '../../nodes/MediaGeneration/transport/outputs';
import { VirtualClock } from '../support/virtualClock';

export const FILE = Buffer.concat([
	Buffer.from('ID3'),
	Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 31 + (index >> 8)) % 251)),
]);
export const digest = (buffer: Buffer) => createHash('sha256').update(buffer).digest('hex');

export interface Served {
	status?: number;
	/** An empty value takes a header away. */
	headers?: Record<string, string>;
	body?: Buffer;
	/** Bytes after which the connection breaks, or stands still. */
	breakAfter?: number;
	stallAfter?: number;
	chunkBytes?: number;
	/** Whether a body that stands still hears that it is closed. */
	deaf?: boolean;
	/** Virtual time between two chunks. */
	gapMs?: number;
}

export interface Asked {
	kind?: OutputKind;
	maxBytes?: number;
	url?: string;
}

async function* chunksOf(
	{ body = FILE, breakAfter, stallAfter, chunkBytes = 1_000, gapMs, deaf }: Served,
	clock: VirtualClock,
	over: AbortSignal,
): AsyncGenerator<Buffer> {
	const aborted = new Promise<never>((_, reject) => {
		over.addEventListener('abort', () => reject(new Error('canceled')));
	});
	aborted.catch(() => undefined);
	const end = Math.min(breakAfter ?? Infinity, stallAfter ?? Infinity, body.length);
	for (let at = 0; at < end; at += chunkBytes) {
		if (gapMs !== undefined) await Promise.race([clock.sleep(gapMs, over), aborted]);
		yield await Promise.resolve(body.subarray(at, Math.min(at + chunkBytes, end)));
	}
	if (breakAfter !== undefined) throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
	if (stallAfter !== undefined) await (deaf === true ? new Promise(() => undefined) : aborted);
}

export function host(
	serve: (headers: Record<string, string>, count: number) => Served | NotOpened,
) {
	const clock = new VirtualClock();
	const requests: Array<Record<string, string>> = [];
	/** The values of User-Agent. */
	const agents = new Set<string>();
	const open = new Set<OpenFile>();
	/** How many listened for the end of the download whenever an answer was opened. */
	const listeners: number[] = [];
	const deps: DownloadDeps = {
		async open(_url, headers, signal): Promise<OpenFile | NotOpened> {
			const { 'User-Agent': agent, ...others } = headers;
			agents.add(agent ?? '');
			requests.push(others);
			if (requests.length > 5_000) throw new Error('more than 5,000 requests');
			const served = serve(headers, requests.length);
			if ('ok' in served) return served;
			const { status = 200, body = FILE } = served;
			const given: Record<string, string> = {
				'content-length': String(body.length),
				etag: '"v1"',
				'content-type': 'audio/mpeg',
				...served.headers,
			};
			const over = new AbortController();
			const abort = () => over.abort();
			signal?.addEventListener('abort', abort);
			if (signal !== undefined) listeners.push(getEventListeners(signal, 'abort').length);
			const file: OpenFile = {
				ok: true,
				status,
				headers: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')),
				body: Readable.from(chunksOf(served, clock, over.signal), { objectMode: false }),
				streamOf: (chunks) => Readable.from(chunks, { objectMode: false }),
				close() {
					open.delete(file);
					signal?.removeEventListener('abort', abort);
					over.abort();
					file.body.on('error', () => undefined);
					file.body.destroy();
				},
			};
			open.add(file);
			return await Promise.resolve(file);
		},
		now: clock.now,
		sleep: clock.sleep,
	};
	const download = async ({
		kind = 'audio',
		maxBytes = 1e9,
		url = 'https://files.example/a.mp3',
	}: Asked = {}) => {
		// As `files` does it.
		for (const tries = new Tries(deps); ;) {
			const opened = new Download({ url, kind, maxBytes }, deps, tries);
			const parts: Buffer[] = [];
			try {
				const begun = await opened.begin();
				if (!('problem' in begun)) {
					for await (const chunk of begun.stream) parts.push(chunk as Buffer);
					const { received, length } = opened;
					return { type: begun.type, received, length, bytes: Buffer.concat(parts) };
				}
			} catch {
				// It is told by the end.
			} finally {
				opened.close();
			}
			const end = opened.end as FailedDownload;
			if (!end.startOver) throw new Error(end.problem);
		}
	};
	return {
		clock,
		requests,
		agents,
		listeners,
		deps,
		/** How many answers were opened and not closed. */
		stillOpen: () => open.size,
		run: async (asked?: Asked) => await clock.run(download(asked)),
	};
}

export const rangeStart = (headers: Record<string, string>) =>
	Number(/bytes=(\d+)-/.exec(headers.Range ?? '')?.[1] ?? 0);

/** The file from `start` on, as a host that knows ranges sends it; `end` is the last byte that it sends. */
export function partial(start: number, extra: Served = {}, end = FILE.length - 1): Served {
	return {
		status: 206,
		body: FILE.subarray(start, end + 1),
		...extra,
		headers: { 'content-range': `bytes ${start}-${end}/${FILE.length}`, ...extra.headers },
	};
}

/** What a well-behaved host answers. */
export const honest = (headers: Record<string, string>, extra: Served = {}): Served =>
	headers.Range === undefined ? extra : partial(rangeStart(headers), extra);
