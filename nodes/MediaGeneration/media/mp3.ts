/**
 * MPEG audio, Layer III: frames of silence, tags, and the frame before the sound that states its length for players ("Xing" where the
 * bit rate varies, "Info" where it does not). Pure. Sources: the Xing header as LAME writes it, id3.org, APEv2 specification.
 */
import { frameLength, type MpegFrame, readFrame } from './mpeg';
import { MOST_BYTES } from './wav';

export interface FrameHeader extends MpegFrame {
	length: number;
}

export const HEADER_BYTES = 4;
/** "No checksum follows" */
const UNPROTECTED = 0x0001_0000;
/** What silence and the header frame leave out: checksum, bit rate, padding, the private bit, stereo modes, emphasis. */
const KEPT_BITS = 0xfffe_0ccc;

/** What four bytes say as a frame's header, or why they can't be one that this package reads. */
export function readHeader(bits: number): FrameHeader | { problem: string } {
	const frame = readFrame(bits);
	if (frame === undefined) return { problem: 'is not the beginning of an MP3 frame' };
	const { layer, length } = frame;
	if (layer !== 3) return { problem: 'is MPEG audio, but not Layer III' };
	return length === undefined ? { problem: 'is a frame in free format' } : { ...frame, length };
}

function sideInfoBytes({ version, channels }: FrameHeader): number {
	if (version === '1') return channels === 1 ? 17 : 32;
	return channels === 1 ? 9 : 17;
}

/** An empty frame of a format, with the smallest bit rate from `leastIndex` on that has space for `bytes`. */
function emptyFrame(header: FrameHeader, bytes: number, leastIndex: number): Buffer {
	let index = leastIndex;
	while (index < 14 && frameLength(header, index) < bytes) index += 1;
	const frame = Buffer.alloc(frameLength(header, index));
	frame.writeUInt32BE(((header.bits & KEPT_BITS) | UNPROTECTED | (index << 12)) >>> 0);
	return frame;
}

/** A frame of silence in a format: all zeros after the header say that nothing is coded. @param bitrateIndex where it is constant */
export function silentFrame(header: FrameHeader, bitrateIndex: number | undefined): Buffer {
	return emptyFrame(header, HEADER_BYTES + sideInfoBytes(header), bitrateIndex ?? 1);
}

const TABLE_ENTRIES = 100;
const [HAS_FRAMES, HAS_BYTES, HAS_TABLE] = [1, 2, 4];

export type Point = readonly [frame: number, bytes: number];

export interface InfoFrame {
	/** Of a frame of the sound. */
	header: FrameHeader;
	/** That of all frames; undefined where it varies. */
	bitrateIndex: number | undefined;
	/** From the first frame to the end of the last one. */
	points: readonly Point[];
}

/** The frame that goes before the sound: players read from it how long the sound is, and where in the file a time lies. */
export function infoFrame({ header, bitrateIndex, points }: InfoFrame): Buffer {
	const [frames, bytes] = points.at(-1) ?? [0, 0];
	const at = HEADER_BYTES + sideInfoBytes(header);
	const frame = emptyFrame(header, at + 16 + TABLE_ENTRIES, bitrateIndex ?? 1);
	const total = frame.length + bytes;
	frame.write(bitrateIndex === undefined ? 'Xing' : 'Info', at);
	frame.writeUInt32BE(HAS_FRAMES | HAS_BYTES | HAS_TABLE, at + 4);
	frame.writeUInt32BE(frames, at + 8);
	frame.writeUInt32BE(Math.min(total, MOST_BYTES), at + 12);
	let next = 0;
	for (let entry = 0; entry < TABLE_ENTRIES; entry += 1) {
		const wanted = Math.floor((entry * frames) / TABLE_ENTRIES);
		while ((points[next]?.[0] ?? Infinity) <= wanted) next += 1;
		const [from, before] = points[next - 1] ?? [0, 0];
		const [to, after] = points[next] ?? [frames, bytes];
		const passed = before + ((after - before) * (wanted - from)) / (to - from);
		const position = frame.length + passed;
		frame[at + 16 + entry] = Math.min(255, Math.floor((256 * position) / total));
	}
	return frame;
}

/** What a frame states that is such a header instead of sound. */
export function readInfoFrame(
	bytes: Buffer,
	at: number,
	header: FrameHeader,
): { statedFrames: number | undefined } | undefined {
	const checksum = (header.bits & UNPROTECTED) === 0 ? 2 : 0;
	const usual = at + HEADER_BYTES + sideInfoBytes(header);
	// Encoders disagree on whether a checksum moves it.
	for (const offset of [usual, usual + checksum]) {
		if (!isAt(bytes, offset, 'Xing') && !isAt(bytes, offset, 'Info')) continue;
		const states = (bytes.readUInt32BE(offset + 4) & HAS_FRAMES) !== 0;
		return { statedFrames: states ? bytes.readUInt32BE(offset + 8) : undefined };
	}
	const vbri = at + HEADER_BYTES + 32;
	return isAt(bytes, vbri, 'VBRI') ? { statedFrames: bytes.readUInt32BE(vbri + 14) } : undefined;
}

/** How many bytes `readInfoFrame` and `tagLength` read at most. */
export const LOOK_BYTES = HEADER_BYTES + 32 + 18;

const ID3V1_BYTES = 128;
const ID3V1_EXTENDED_BYTES = 227;
const ID3V2_HEADER_BYTES = 10;
const APE_HEADER_BYTES = 32;

/** How many of a file's last bytes `tagBegin` needs. */
export const TAIL_BYTES = APE_HEADER_BYTES + ID3V1_BYTES;

const isAt = (bytes: Buffer, at: number, mark: string) =>
	bytes.toString('latin1', at, at + mark.length) === mark;

/** How long the tag is that begins there, in bytes; undefined where none does. */
export function tagLength(bytes: Buffer, at: number): number | undefined {
	if (isAt(bytes, at, 'ID3')) {
		// Only seven bits of each byte count, so that no size looks like a frame.
		const size = [6, 7, 8, 9].reduce((sum, index) => sum * 128 + (bytes[at + index] ?? 0), 0);
		const hasFooter = ((bytes[at + 5] ?? 0) & 0x10) !== 0;
		return ID3V2_HEADER_BYTES + size + (hasFooter ? ID3V2_HEADER_BYTES : 0);
	}
	if (isAt(bytes, at, 'APETAGEX')) {
		const isHeader = (bytes.readUInt32LE(at + 20) & 0x2000_0000) !== 0;
		return APE_HEADER_BYTES + (isHeader ? bytes.readUInt32LE(at + 12) : 0);
	}
	if (isAt(bytes, at, 'TAG+')) return ID3V1_EXTENDED_BYTES;
	return isAt(bytes, at, 'TAG') ? ID3V1_BYTES : undefined;
}

/** Where the APE tag without a header begins that ends a file of `total` bytes, by the file's last bytes. */
export function tagBegin(tail: Buffer, total: number): number | undefined {
	const after = isAt(tail, tail.length - ID3V1_BYTES, 'TAG') ? ID3V1_BYTES : 0;
	const footer = tail.length - after - APE_HEADER_BYTES;
	return isAt(tail, footer, 'APETAGEX')
		? total - after - tail.readUInt32LE(footer + 12)
		: undefined;
}
