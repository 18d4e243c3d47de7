/**
 * From the addresses of a finished task to binary data: concurrently, bounded, streamed into n8n's binary store.
 */
import type { IBinaryData } from 'n8n-workflow';
import type { N8nContext } from '../service/client';
import { streamFrom } from '../service/fileHost';
import type { Limiter } from '../service/limiter';
import type { OutputKind, TaskOutput } from '../service/outputs';
import { DownloadError, openDownload, type DownloadDeps } from './download';

/** An output as the item shows it (contract, "Output of a finished task"). */
export interface DeliveredOutput {
	url: string;
	kind: OutputKind;
	binaryProperty?: string;
	fileName?: string;
	mimeType?: string;
	/** In bytes. */
	fileSize?: number;
}

export interface DeliveredFile {
	output: DeliveredOutput;
	binary: IBinaryData | undefined;
	/** Why the file is missing, completing "could not be downloaded: ...". */
	problem: string | undefined;
}

/** Keeps letters of any script, digits, dot, dash and underscore; never empty, never only dots. */
export function sanitizeName(text: string): string {
	const clean = text
		.normalize('NFC')
		.replace(/[^\p{L}\p{N}._-]+/gu, '_')
		.replace(/^[._]+/, '')
		// Not in the middle of a letter that takes two units.
		.replace(/^([^]{120})[^]*$/u, '$1')
		.replace(/[._]+$/, '');
	return clean === '' ? 'file' : clean;
}

/**
 * Base names (without extension), e.g. `sound_effect-<task id>` or `image-<task id>-2`: numbered where a task has several of a kind.
 */
export function baseNames(
	outputs: readonly TaskOutput[],
	type: string | undefined,
	taskId: string,
): string[] {
	const counts = new Map<OutputKind, number>();
	outputs.forEach(({ kind }) => counts.set(kind, (counts.get(kind) ?? 0) + 1));
	const numbers = new Map<OutputKind, number>();
	return outputs.map(({ kind }) => {
		const number = (numbers.get(kind) ?? 0) + 1;
		numbers.set(kind, number);
		const base = `${sanitizeName(type ?? kind)}-${sanitizeName(taskId)}`;
		// Transcripts of one task differ by their extension.
		return kind !== 'transcript' && (counts.get(kind) ?? 0) > 1 ? `${base}-${number}` : base;
	});
}

async function store(
	context: N8nContext,
	output: TaskOutput,
	baseName: string,
	maxBytes: number,
	deps: DownloadDeps,
) {
	const download = await openDownload(output.url, output.kind, maxBytes, deps);
	const { mimeType, extension } = download.type;
	const fileName = `${baseName}.${extension}`;
	const stream = streamFrom(download.chunks, download.sample);
	const binary = await context.helpers.prepareBinaryData(stream, fileName, mimeType);
	return { binary, fileName, mimeType, fileSize: download.received() };
}

/**
 * Downloads the files of one task. Never rejects: a file that can't be had says why in `problem`, and its address stays.
 */
export async function fetchFiles(
	context: N8nContext,
	outputs: readonly TaskOutput[],
	names: readonly string[],
	maxBytes: number,
	limiter: Limiter,
	deps: DownloadDeps,
): Promise<DeliveredFile[]> {
	return await Promise.all(
		outputs.map(async (output, index): Promise<DeliveredFile> => {
			const { url, kind } = output;
			try {
				const stored = await limiter.run(
					async () => await store(context, output, names[index] ?? 'file', maxBytes, deps),
				);
				const { binary, fileName, mimeType, fileSize } = stored;
				return { output: { url, kind, fileName, mimeType, fileSize }, binary, problem: undefined };
			} catch (error) {
				const problem =
					error instanceof DownloadError
						? error.message
						: `n8n could not store it: ${error instanceof Error ? error.message : 'unknown reason'}`;
				return { output: { url, kind }, binary: undefined, problem };
			}
		}),
	);
}
