/** WAV files: the format of their samples, silence, and the header before them. Pure. Source: Microsoft's RIFF and WAVE documents. */

/** The kinds of samples that can be put one after another: each sample stands for itself. */
const ENCODINGS: Record<number, string> = { 1: 'PCM', 3: 'float' };
const REFUSED: Record<number, string> = { 6: 'A-law', 7: 'µ-law' };
const PCM = 1;
const EXTENSIBLE = 0xfffe;
const PLAIN_BYTES = 16;
const EXTENSIBLE_BYTES = 40;
const USUAL_GUID = '\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71';
/** What exists: from telephones, with room below, to the fastest converters ("DXD"); 22.2 sound has 24 channels (ITU-R BS.2051). */
const [LEAST_RATE, MOST_RATE] = [4_000, 384_000];
const MOST_CHANNELS = 24;
const MOST_BITS = 64;

export interface WavFormat {
	/** 1 PCM, 3 float; of an extensible format the one inside. */
	encoding: number;
	channels: number;
	/** Hz */
	sampleRate: number;
	/** Of the space that a sample takes. */
	bits: number;
	blockBytes: number;
	/** The format chunk's content, as it is written into a joined file. */
	chunk: Buffer;
}

export const encodingInWords = ({ encoding, bits }: WavFormat) =>
	`${bits}-bit ${ENCODINGS[encoding] ?? ''}`;

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
		return {
			problem: `its samples are coded in a way that can't be joined (${REFUSED[tag] ?? `format ${tag}`})`,
		};
	const { channels, sampleRate, bits, blockBytes } = format;
	const isSound = channels > 0 && bits > 0 && blockBytes % channels === 0;
	if (!isSound || blockBytes < channels * Math.ceil(bits / 8))
		return { problem: 'its format chunk contradicts itself' };
	const isRate = sampleRate >= LEAST_RATE && sampleRate <= MOST_RATE;
	if (!isRate || channels > MOST_CHANNELS || blockBytes > (channels * MOST_BITS) / 8)
		return {
			problem: `its format chunk states what no sound has: ${sampleRate} Hz, ${channels} channels, ${blockBytes} bytes for each sample`,
		};
	return format;
}

export function silentByte({ encoding, bits }: WavFormat): number {
	return encoding === PCM && bits <= 8 ? 0x80 : 0;
}

function chunk(id: string, content: Buffer): Buffer {
	const head = Buffer.alloc(8);
	head.write(id);
	head.writeUInt32LE(content.length, 4);
	return Buffer.concat([head, content]);
}

/** Sizes in WAV and MP3 files have 32 bits. */
export const MOST_BYTES = 0xffff_ffff;

/** Everything before the samples of a file, of which there are `bytes` bytes. */
export function wavHeader(format: WavFormat, bytes: number): Buffer {
	const fact = Buffer.alloc(4);
	fact.writeUInt32LE(Math.min(bytes / format.blockBytes, MOST_BYTES));
	const isPcm = format.encoding === PCM;
	// Formats other than PCM state the length of their extension, even where they have none.
	const extension = Buffer.alloc(!isPcm && format.chunk.length === PLAIN_BYTES ? 2 : 0);
	const formatChunk = chunk('fmt ', Buffer.concat([format.chunk, extension]));
	const before = isPcm ? formatChunk : Buffer.concat([formatChunk, chunk('fact', fact)]);
	const data = chunk('data', Buffer.alloc(0));
	data.writeUInt32LE(Math.min(bytes, MOST_BYTES), 4);
	const riff = Buffer.from('RIFF\0\0\0\0WAVE');
	const size = 4 + before.length + data.length + bytes + (bytes % 2);
	riff.writeUInt32LE(Math.min(size, MOST_BYTES), 4);
	return Buffer.concat([riff, before, data]);
}
