import { Readable } from 'node:stream';
import { WaveFile } from 'wavefile';

const BLOCK_BYTES = 64 * 1024;

/** One block of 16-bit samples whose wave fits a whole number of times: blocks can follow each other without a click. */
const toneBlock: Buffer = (() => {
	const samples = Buffer.alloc(BLOCK_BYTES);
	for (let at = 0; at < BLOCK_BYTES; at += 2) {
		samples.writeInt16LE(Math.round(6000 * Math.sin((2 * Math.PI * 900 * at) / BLOCK_BYTES)), at);
	}
	return samples;
})();

/** The 44 bytes before `bytes - 44` bytes of 16-bit mono samples. */
export function wavHeader(bytes: number): Buffer {
	const wave = new WaveFile();
	wave.fromScratch(1, 16_000, '16', []);
	const header = Buffer.from(wave.toBuffer());
	header.writeUInt32LE(Math.max(0, bytes - 8), 4);
	header.writeUInt32LE(Math.max(0, bytes - 44), 40);
	return header;
}

/** A file of this length that is `head` and then a block again and again; at most a block at once. */
export function* bulkBytes(head: Buffer, length: number, block = toneBlock): Generator<Buffer> {
	yield head;
	for (let at = head.length; at < length; at += block.length)
		yield block.subarray(0, Math.min(block.length, length - at));
}

/** The same as a stream. */
export const bulkStream = (chunks: Iterable<Buffer>): Readable =>
	Readable.from(chunks, { objectMode: false, highWaterMark: 4 * BLOCK_BYTES });
