/** Finds the samples of WAV files, and makes silence and the header before them. Source: Microsoft's RIFF and WAVE documents. */
import {
	IDLE_ELEMENT,
	MOST_IDLE,
	noSound,
	type Scan,
	type Unread,
	type WavFacts,
	type WavFormat,
} from './sound';

/** Samples of these kinds can be joined, because each stands for itself. */
const ENCODINGS: Record<number, string> = { 1: 'PCM', 3: 'float' };
const REFUSED_ENCODINGS: Record<number, string> = { 6: 'A-law', 7: 'µ-law' };
const USUAL_GUID = '\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71';

/** Reads a format chunk (16 bytes, or 40 of an extensible format), or says why no sound with it can be joined. */
function readFormat(content: Buffer): WavFormat | string {
	if (content.length < 16) return 'its format chunk is too short';
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
		return `its samples are coded in a way that can't be joined (${REFUSED_ENCODINGS[tag] ?? `format ${tag}`})`;
	const { channels, sampleRate, bits, blockBytes } = format;
	const isSound = bits > 0 && blockBytes % channels === 0;
	if (!isSound || blockBytes < channels * Math.ceil(bits / 8))
		return 'its format chunk contradicts itself';
	// Rates go from telephones, with room below, to the fastest converters ("DXD"); 22.2 sound has 24 channels (ITU-R BS.2051).
	const isRate = sampleRate >= 4_000 && sampleRate <= 384_000;
	if (!isRate || channels > 24 || blockBytes > channels * 8)
		return `its format chunk has implausible values: ${sampleRate} Hz, ${channels} channels, ${blockBytes} bytes for each sample`;
	return format;
}

export function silentSample({ bits, blockBytes }: WavFormat): Buffer {
	return Buffer.alloc(blockBytes, bits <= 8 ? 0x80 : 0);
}

function chunk(id: string, content: Buffer): Buffer {
	const head = Buffer.alloc(8);
	head.write(id);
	head.writeUInt32LE(content.length, 4);
	return Buffer.concat([head, content]);
}

/** Sizes in WAV and MP3 files have 32 bits. */
export const MOST_BYTES = 0xffff_ffff;

/** Makes everything that stands before the samples of a file. @param bytes of the samples */
export function wavHeader(format: WavFormat, bytes: number): Buffer {
	const fact = Buffer.alloc(4);
	fact.writeUInt32LE(Math.min(bytes / format.blockBytes, MOST_BYTES));
	const isPcm = format.encoding === 1;
	// Formats other than PCM state the length of their extension, even if they have none.
	const extension = Buffer.alloc(!isPcm && format.chunk.length === 16 ? 2 : 0);
	const formatChunk = chunk('fmt ', Buffer.concat([format.chunk, extension]));
	const before = isPcm ? formatChunk : Buffer.concat([formatChunk, chunk('fact', fact)]);
	const data = chunk('data', Buffer.alloc(0));
	data.writeUInt32LE(Math.min(bytes, MOST_BYTES), 4);
	const riff = Buffer.from('RIFF\0\0\0\0WAVE');
	const size = 4 + before.length + data.length + bytes + (bytes % 2);
	riff.writeUInt32LE(Math.min(size, MOST_BYTES), 4);
	return Buffer.concat([riff, before, data]);
}

export function* scanWav(file: Unread): Scan {
	const riffSize = file.bytes.readUInt32LE(4);
	let format: WavFormat | undefined;
	// The header of the file has 12 bytes, and that of a chunk 8.
	for (let [at, idle] = [12, 0]; ;) {
		const head = yield* file.read(at, 8);
		if (head.length < 8) return noSound('it is a WAV file without samples');
		// A zero makes an odd size even, but not every program writes it; no name begins with a zero.
		idle += head[0] === 0 ? 1 : IDLE_ELEMENT;
		if (idle > MOST_IDLE) return noSound('it is a WAV file that holds no sound for too long');
		if (head[0] === 0) {
			at += 1;
			continue;
		}
		const id = head.toString('latin1', 0, 4);
		const size = head.readUInt32LE(4);
		at += 8;
		if (id === 'data') {
			if (format === undefined) return noSound('it is a WAV file that does not state its format');
			// A file that was written as a stream does not state its size: its samples go on to its end.
			const isStream = size === 0 && (riffSize + 8 <= at || riffSize === MOST_BYTES);
			yield* file.read(Infinity, 0);
			const there = file.total - at;
			return factsOf(format, at, isStream ? there : Math.min(size, there));
		}
		if (id === 'fmt ') {
			const wanted = Math.min(size, 64);
			const content = (yield* file.read(at, wanted)).subarray(0, wanted);
			if (content.length < wanted) return noSound('it is a WAV file without samples');
			const read = readFormat(content);
			if (typeof read === 'string') return noSound(read);
			format = read;
		}
		at += size;
	}
}

function factsOf(format: WavFormat, from: number, there: number): WavFacts {
	const { encoding, bits, sampleRate, blockBytes } = format;
	const units = Math.floor(there / blockBytes);
	const bytes = units * blockBytes;
	const coding = `${bits}-bit ${ENCODINGS[encoding] ?? ''}`;
	const found = { units, bytes, ranges: [[from, from + bytes] as const], points: [] };
	const rates = { samplesPerUnit: 1, seconds: units / sampleRate, bitrateIndex: undefined };
	return { kind: 'wav', format, coding, ...rates, ...found };
}
