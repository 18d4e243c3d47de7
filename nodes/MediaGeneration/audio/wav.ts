/** Finds the samples of WAV files, and makes silence and the header before them. Source: Microsoft's RIFF and WAVE documents. */
import { noSound, type Scan, type FileWindow, type WavFacts, type WavFormat } from './sound';

/** Samples of these kinds can be joined, because each stands for itself. */
const ENCODINGS: Record<number, string> = { 1: 'PCM', 3: 'float' };
const USUAL_GUID = '\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71';

/** Reads a format chunk (16 bytes, or 40 of an extensible format), or says why no sound with it can be joined. */
function readFormat(content: Buffer): WavFormat | string {
	if (content.length < 16) return 'has a format chunk that is too short';
	const tag = content.readUInt16LE(0);
	const isExtensible = content.toString('latin1', 26, 40) === USUAL_GUID;
	const format: WavFormat = {
		encoding: isExtensible ? content.readUInt16LE(24) : tag,
		channels: content.readUInt16LE(2),
		sampleRate: content.readUInt32LE(4),
		blockBytes: content.readUInt16LE(12),
		bits: content.readUInt16LE(14),
		chunk: Buffer.from(content.subarray(0, isExtensible ? 40 : 16)),
	};
	if (ENCODINGS[format.encoding] === undefined)
		return `has samples coded in a way that can't be joined (format ${tag})`;
	const { channels, sampleRate, bits, blockBytes } = format;
	const isSound = sampleRate > 0 && blockBytes > 0 && blockBytes === (channels * bits) / 8;
	return isSound ? format : 'has a format chunk that contradicts itself';
}

export function silentSample({ bits, blockBytes }: WavFormat): Buffer {
	return Buffer.alloc(blockBytes, bits <= 8 ? 0x80 : 0);
}

/** Programs that write a stream can't know its size. They state 0, 0xffffffff, or 2 GiB less a few: the samples then reach to the end of the file. */
const STREAMED_BYTES = 0x7fff_0000;

/** Sizes in WAV and MP3 files have 32 bits. */
export const MOST_BYTES = 0xffff_ffff;

function headOf(id: string, bytes: number): Buffer {
	const head = Buffer.alloc(8);
	head.write(id);
	head.writeUInt32LE(Math.min(bytes, MOST_BYTES), 4);
	return head;
}

/** Makes everything that stands before the samples of a file. @param bytes of the samples */
export function wavHeader({ chunk }: WavFormat, bytes: number): Buffer {
	const format = Buffer.concat([Buffer.from('WAVE'), headOf('fmt ', chunk.length), chunk]);
	const data = headOf('data', bytes);
	const size = format.length + data.length + bytes + (bytes % 2);
	return Buffer.concat([headOf('RIFF', size), format, data]);
}

export function* scanWav(file: FileWindow): Scan {
	let format: WavFormat | undefined;
	// The header of the file has 12 bytes, and that of a chunk 8.
	for (let at = 12; ;) {
		const head = yield* file.read(at, 8);
		if (head.length < 8) return noSound('is a WAV file without samples');
		const id = head.toString('latin1', 0, 4);
		const size = head.readUInt32LE(4);
		at += 8;
		if (id === 'data') {
			if (format === undefined) return noSound('is a WAV file that does not state its format');
			yield* file.read(Infinity, 0);
			const isStated = size > 0 && size < STREAMED_BYTES;
			const there = Math.min(isStated ? size : Infinity, file.total - at);
			return { ...factsOf(format, at, there), statedBytes: isStated ? size : undefined };
		}
		if (id === 'fmt ') {
			const wanted = Math.min(size, 64);
			const content = (yield* file.read(at, wanted)).subarray(0, wanted);
			if (content.length < wanted) return noSound('is a WAV file without samples');
			const read = readFormat(content);
			if (typeof read === 'string') return noSound(read);
			format = read;
		}
		// Chunks have an even size.
		at += size + (size % 2);
	}
}

function factsOf(format: WavFormat, from: number, there: number): WavFacts {
	const { encoding, bits, sampleRate, blockBytes } = format;
	const units = Math.floor(there / blockBytes);
	const bytes = units * blockBytes;
	const coding = `${bits}-bit ${ENCODINGS[encoding] ?? ''}`;
	const found = { units, bytes, ranges: [[from, from + bytes] as const] };
	const rates = { samplesPerUnit: 1, seconds: units / sampleRate, bitrateIndex: undefined };
	return { kind: 'wav', format, coding, ...rates, ...found };
}
