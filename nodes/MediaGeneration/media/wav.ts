/** WAV files: the format of their samples, silence, and the header before them. Pure. Source: Microsoft's RIFF and WAVE documents; EBU Tech 3306 (RF64). */

/** The kinds of samples that can be put one after another: each sample stands for itself. */
const ENCODINGS: Record<number, string> = { 1: 'PCM', 3: 'float', 6: 'A-law', 7: 'µ-law' };
const PCM = 1;
const A_LAW = 6;
const MU_LAW = 7;
const EXTENSIBLE = 0xfffe;
const PLAIN_BYTES = 16;
const EXTENSIBLE_BYTES = 40;
/** What follows the usual number of an encoding inside an extensible format. */
const USUAL_GUID = '\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71';

export interface WavFormat {
	/** 1 PCM, 3 float, 6 A-law, 7 µ-law; of an extensible format the one inside. */
	encoding: number;
	channels: number;
	/** Hz */
	sampleRate: number;
	/** Of the space that a sample takes. */
	bits: number;
	/** Bytes of one sample of all channels. */
	blockBytes: number;
	/** The format chunk's content, as it is written into a joined file. */
	chunk: Buffer;
}

/** "16-bit PCM" */
export function encodingInWords({ encoding, bits }: WavFormat): string {
	return `${bits}-bit ${ENCODINGS[encoding] ?? `format ${encoding}`}`;
}

/** Reads the content of a format chunk; where such samples can't be joined, why. */
export function readFormat(content: Buffer): WavFormat | { problem: string } {
	if (content.length < PLAIN_BYTES) return { problem: 'its format chunk is too short' };
	const tag = content.readUInt16LE(0);
	const isExtensible =
		tag === EXTENSIBLE && content.toString('latin1', 26, EXTENSIBLE_BYTES) === USUAL_GUID;
	const format: WavFormat = {
		encoding: isExtensible ? content.readUInt16LE(24) : tag,
		channels: content.readUInt16LE(2),
		sampleRate: content.readUInt32LE(4),
		blockBytes: content.readUInt16LE(12),
		bits: content.readUInt16LE(14),
		chunk: Buffer.from(content.subarray(0, isExtensible ? EXTENSIBLE_BYTES : PLAIN_BYTES)),
	};
	if (ENCODINGS[format.encoding] === undefined)
		return { problem: `its samples are coded in a way that can't be joined (format ${tag})` };
	const { channels, sampleRate, bits, blockBytes } = format;
	const isSound = channels > 0 && sampleRate > 0 && bits > 0;
	const least = channels * Math.ceil(bits / 8);
	if (!isSound || blockBytes < least || blockBytes % channels !== 0)
		return { problem: 'its format chunk contradicts itself' };
	return format;
}

/** The value of the bytes that are silence. */
export function silentByte({ encoding, bits }: WavFormat): number {
	if (encoding === A_LAW) return 0xd5;
	if (encoding === MU_LAW) return 0xff;
	return encoding === PCM && bits <= 8 ? 0x80 : 0;
}

function chunk(id: string, content: Buffer): Buffer {
	const head = Buffer.alloc(8);
	head.write(id);
	head.writeUInt32LE(content.length, 4);
	return Buffer.concat([head, content]);
}

/** Larger sizes have a chunk of their own ("RF64"). */
const MOST_BYTES = 0xffff_ffff;

/** Everything before the samples of a file with `bytes` bytes of samples. */
export function wavHeader(format: WavFormat, bytes: number): Buffer {
	const samples = bytes / format.blockBytes;
	const fact = Buffer.alloc(4);
	fact.writeUInt32LE(Math.min(samples, MOST_BYTES));
	const formatChunk = chunk('fmt ', withExtensionSize(format));
	const before =
		format.encoding === PCM ? formatChunk : Buffer.concat([formatChunk, chunk('fact', fact)]);
	const data = chunk('data', Buffer.alloc(0));
	const padded = bytes + (bytes % 2);
	const riff = Buffer.from('RIFF\0\0\0\0WAVE');
	const size = 4 + before.length + data.length + padded;
	if (size <= MOST_BYTES) {
		riff.writeUInt32LE(size, 4);
		data.writeUInt32LE(bytes, 4);
		return Buffer.concat([riff, before, data]);
	}
	const sizes = Buffer.alloc(28);
	const sizesChunk = chunk('ds64', sizes);
	sizesChunk.writeBigUInt64LE(BigInt(size + sizesChunk.length), 8);
	sizesChunk.writeBigUInt64LE(BigInt(bytes), 16);
	sizesChunk.writeBigUInt64LE(BigInt(samples), 24);
	riff.write('RF64');
	riff.writeUInt32LE(MOST_BYTES, 4);
	data.writeUInt32LE(MOST_BYTES, 4);
	return Buffer.concat([riff, sizesChunk, before, data]);
}

/** Formats other than PCM state the length of their extension, even where they have none. */
function withExtensionSize({ encoding, chunk: content }: WavFormat): Buffer {
	const isPlain = content.length === PLAIN_BYTES && encoding !== PCM;
	return isPlain ? Buffer.concat([content, Buffer.alloc(2)]) : content;
}
