/** Reads from n8n's binary store and writes to it, as streams if the store streams. */
import type { IBinaryData } from 'n8n-workflow';
import { readText } from '../base/bounded';
import type { N8nContext } from '../transport/client';
import { streamOf, type ByteStream } from '../transport/fileHost';
import { pause } from '../n8n/realClock';
import { Limiter } from '../base/limiter';

/**
 * In filesystem mode n8n's binary store streams. In its other modes (database, S3, Azure, memory) it puts each file into one buffer first
 * (`binary-data`, n8n-core 2.41), and files that arrive together can end the process: so they share a limited number of bytes. A larger
 * file goes alone.
 */
export const storeMemory = new Limiter(100_000_000);

/** Learns from a stored file how the store works: its mode belongs to the process and never changes. */
export function learnMode({ id }: IBinaryData): void {
	if (id?.startsWith('filesystem') === true) storeMemory.lift();
}

async function openStored(context: N8nContext, { id }: IBinaryData, chunkBytes = 262_144) {
	return id === undefined ? undefined : await context.helpers.getBinaryStream(id, chunkBytes);
}

/** Yields the bytes of a stored file; it is opened when the first chunk is asked for, and closed whatever happens. */
export async function* readStored(
	context: N8nContext,
	binary: IBinaryData,
	chunkBytes?: number,
): AsyncGenerator<Buffer> {
	const stream = await openStored(context, binary, chunkBytes);
	if (stream === undefined) {
		// A multiple of four, because four characters of Base64 are three bytes.
		const step = 2_097_152;
		for (let at = 0; at < binary.data.length; at += step) {
			// Files in memory come without a wait, and a hundred of them would block n8n's event loop until the last one's end.
			await pause(0);
			yield Buffer.from(binary.data.slice(at, at + step), 'base64');
		}
		return;
	}
	// Whenever the reader ends, this destroys the stream. All stores of n8n-core 2.41 stream buffers.
	yield* stream as AsyncIterable<Buffer>;
}

export async function readStoredText(
	context: N8nContext,
	binary: IBinaryData,
	bytes: number,
): Promise<string | undefined> {
	const { text, whole } = await readText(readStored(context, binary), bytes);
	return whole ? text : undefined;
}

interface NewFile {
	fileName: string;
	mimeType: string;
	bytes: number;
	sample: IBinaryData;
}

export async function storeChunks(
	context: N8nContext,
	chunks: AsyncGenerator<Buffer>,
	{ fileName, mimeType, bytes, sample }: NewFile,
): Promise<IBinaryData> {
	const release = await storeMemory.take(bytes);
	let stream: ByteStream | undefined;
	try {
		const model = await openStored(context, sample);
		if (model === undefined) {
			const parts: Buffer[] = [];
			for await (const chunk of chunks) parts.push(chunk);
			return await context.helpers.prepareBinaryData(Buffer.concat(parts), fileName, mimeType);
		}
		stream = streamOf(model, chunks);
		model.destroy();
		return await context.helpers.prepareBinaryData(stream, fileName, mimeType);
	} finally {
		stream?.destroy();
		release();
		await chunks.return(undefined);
	}
}
