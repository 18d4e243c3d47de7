/** Reads from n8n's binary store and writes to it, as streams if the store streams. */
import type { IBinaryData } from 'n8n-workflow';
import { readText } from '../base/bounded';
import type { N8nContext } from '../n8n/execution';
import { streamOf, type ByteStream } from '../transport/fileHost';
import { pause } from '../n8n/realClock';
import { storeMemory, type Pace } from './storeMemory';

/** Returns undefined for a file that n8n keeps in memory. */
export async function openStored(
	context: N8nContext,
	{ id }: IBinaryData,
	chunkBytes = 262_144,
): Promise<ByteStream | undefined> {
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
	const { text, isComplete } = await readText(readStored(context, binary), bytes);
	return isComplete ? text : undefined;
}

interface NewFile {
	fileName: string;
	mimeType: string;
	/** Any stream, if the store streams. */
	sample: ByteStream | undefined;
}

/** Stores a file as it arrives. Whatever happens, nothing stays open. */
export async function storeChunks(
	context: N8nContext,
	chunks: AsyncGenerator<Buffer>,
	{ fileName, mimeType, sample, ...pace }: NewFile & Pace,
): Promise<IBinaryData> {
	const file = storeMemory.begin();
	const arriving = storeMemory.through(chunks, file, pace);
	let stream: ByteStream | undefined;
	try {
		// A store that fails before it has read the stream leaves the stream, and its error, to us.
		stream = sample && streamOf(sample, arriving).on('error', () => undefined);
		const parts: Buffer[] = [];
		if (stream === undefined) for await (const chunk of arriving) parts.push(chunk);
		const content = stream ?? Buffer.concat(parts);
		const binary = await context.helpers.prepareBinaryData(content, fileName, mimeType);
		storeMemory.noteMode(binary);
		return binary;
	} finally {
		stream?.destroy();
		storeMemory.end(file);
	}
}
