/** A file host that serves what a function says, as n8n's HTTP client hands it over; virtual time, and a count of what is still open. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { IBinaryData } from 'n8n-workflow';
import { storeFile, type DownloadDeps } from '../../nodes/MediaGeneration/files/download';
import type { WantedFile } from '../../nodes/MediaGeneration/files/outputFile';
import type { NotOpened, OpenFile } from '../../nodes/MediaGeneration/transport/fileHost';
import { binaryStore } from '../support/binaryStore';
import { fakeN8n } from '../support/n8n';
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
	/** Virtual time between two chunks. */
	gapMs?: number;
}

async function* chunksOf(
	{ body = FILE, breakAfter, stallAfter, chunkBytes = 1_000, gapMs }: Served,
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
	if (stallAfter !== undefined) await aborted;
}

export function host(
	serve: (count: number) => Served | NotOpened,
	mode: 'filesystem' | 'default' = 'filesystem',
) {
	const clock = new VirtualClock();
	/** The addresses. */
	const requests: string[] = [];
	const open = new Set<OpenFile>();
	/** How long it takes before it reads. */
	const store = { pauseMs: 0, ...binaryStore(mode) };
	const { context } = fakeN8n({ store });
	context.helpers.prepareBinaryData = async (...file) => {
		if (store.pauseMs > 0) await clock.sleep(store.pauseMs);
		return await store.helpers.prepareBinaryData(...(file as [Readable, string, string]));
	};
	const deps: DownloadDeps = {
		context,
		async open(url, signal): Promise<OpenFile | NotOpened> {
			requests.push(url);
			if (requests.length > 5_000) throw new Error('more than 5,000 requests');
			const served = serve(requests.length);
			if ('ok' in served) return served;
			const { status = 200, body: bytes = FILE } = served;
			const given: Record<string, string> = {
				'content-length': String(bytes.length),
				etag: '"v1"',
				'content-type': 'audio/mpeg',
				...served.headers,
			};
			const over = new AbortController();
			const abort = () => over.abort();
			signal?.addEventListener('abort', abort);
			const body = Readable.from(chunksOf(served, clock, over.signal), { objectMode: false });
			const file: OpenFile = {
				ok: true,
				status,
				headers: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')),
				body,
				close() {
					open.delete(file);
					signal?.removeEventListener('abort', abort);
					over.abort();
					body.on('error', () => undefined);
					body.destroy();
				},
			};
			open.add(file);
			return await Promise.resolve(file);
		},
		now: clock.now,
		sleep: clock.sleep,
	};
	const download = async (asked: Partial<WantedFile> = {}) => {
		const url = 'https://files.example/a.mp3';
		const stored = await storeFile(
			{ url, kind: 'audio', maxBytes: 1e9, baseName: 'a', ...asked },
			deps,
		);
		const { output, binary, problem } = stored;
		if (problem !== undefined) throw new Error(problem);
		const { fileName = '', mimeType, fileSize: received } = output;
		const type = { mimeType, extension: fileName.slice('a.'.length) };
		return { type, received, bytes: store.bytesOf(binary as IBinaryData) };
	};
	return {
		clock,
		requests,
		deps,
		store,
		/** How many answers were opened and not closed. */
		stillOpen: () => open.size,
		download,
		run: async (...asked: Parameters<typeof download>) => await clock.run(download(...asked)),
	};
}
