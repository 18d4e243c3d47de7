/** Fetches a file into n8n's binary store: all of it or nothing, leaving nothing open. A download that breaks off starts over. */
import { headerOf, retryAfterMs } from '../answers/limits';
import { isDataUrl } from '../answers/outputs';
import type { N8nContext } from '../n8n/execution';
import { watched, type OpenFile, type OpenFileFn } from '../transport/fileHost';
import { storeChunks } from './binary';
import { openDataUrl } from './dataUrl';
import { storedFile, type OutputFile, type WantedFile } from './outputFile';
import type { Pace } from './storeMemory';
import { asDownloadError, DownloadError, refused, Transfer, type FileFacts } from './transfer';

export interface DownloadDeps extends Pace {
	context: N8nContext;
	open: OpenFileFn;
}

/** Never rejects. */
export async function storeFile(wanted: WantedFile, deps: DownloadDeps): Promise<OutputFile> {
	const { url, kind } = wanted;
	const missing = (problem: string): OutputFile => ({ output: { url, kind }, problem });
	const facts: FileFacts = {};
	for (let errors = 0; ; errors += 1) {
		const result = await storeOnce(wanted, facts, deps).catch(asDownloadError);
		if (!(result instanceof DownloadError)) return result;
		const { message, pausesMs, retryAfterMs: askedMs } = result;
		const pauseMs = isDataUrl(url) ? undefined : pausesMs[errors];
		if (deps.signal?.aborted === true) return missing('the download was stopped');
		if (pauseMs === undefined) return missing(message);
		await deps.sleep(Math.max(pauseMs, Math.min(askedMs, 30_000)), deps.signal);
	}
}

/** Throws what makes a DownloadError. @param facts of the answers before, to which this one adds its own */
async function storeOnce(
	wanted: WantedFile,
	facts: FileFacts,
	deps: DownloadDeps,
): Promise<OutputFile> {
	const { url } = wanted;
	const opened = isDataUrl(url) ? openDataUrl(url) : await deps.open(url, deps.signal);
	if (!opened.ok)
		throw opened.transient ? new DownloadError(opened.reason) : refused(opened.reason);
	const { headers, body } = opened;
	const transfer = new Transfer(watched(opened, deps), { wanted, headers }, facts);
	try {
		checkStatus(opened);
		const { mimeType, extension } = await transfer.begin();
		const file = { fileName: `${wanted.baseName}.${extension}`, mimeType };
		const storing = { ...deps, ...file, sample: 'next' in body ? undefined : body };
		const { stored, ...came } = await transfer.into(
			async (chunks) => await storeChunks(deps.context, chunks, storing),
		);
		return storedFile(wanted, stored, { ...file, ...came });
	} finally {
		opened.close();
		transfer.end();
	}
}

/** A file can be announced a moment before its host has it. */
const ABSENT_MS = [1_000, 4_000, 15_000];

function checkStatus({ status, headers }: OpenFile): void {
	if (status === 200) return;
	const message = `the file host answered HTTP ${status}`;
	// Stores that may not list their files answer in XML that access is denied to one that is not there.
	const isDenied = status === 403 && /xml/i.test(headerOf(headers, 'content-type') ?? '');
	const isAbsent = status === 404 || isDenied;
	if (!isAbsent && ![408, 425, 429].includes(status) && status < 500) throw refused(message);
	throw new DownloadError(message, isAbsent ? ABSENT_MS : undefined, retryAfterMs(headers));
}
