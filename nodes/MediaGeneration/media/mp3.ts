/**
 * MPEG audio, Layer III: frame headers, frames of silence, and the frame before the sound that states its length for players
 * ("Xing" where the bit rate varies, "Info" where it does not). Pure. Source: the Xing header
 * as LAME writes it.
 */

import { frameLength, type MpegVersion, readFrame, samplesPerFrame } from './mpeg';
import { MOST_BYTES } from './wav';

/** What all frames of one file have in common. */
export interface Mp3Format {
	version: MpegVersion;
	/** Hz */
	sampleRate: number;
	channels: 1 | 2;
	samplesPerFrame: number;
}

/** The first bytes of a frame. */
export interface FrameHeader extends Mp3Format {
	/** The four bytes as a number. */
	bits: number;
	bitrateIndex: number;
	/** Bytes, the header included. */
	length: number;
}

export const HEADER_BYTES = 4;
const MONO = 3;
/** "No checksum follows" */
const UNPROTECTED = 0x0001_0000;
/** What silence and the header frame leave out: checksum, bit rate, padding, the private bit, stereo modes, emphasis. */
const KEPT_BITS = 0xfffe_0ccc;

/** Bytes of a frame without padding, for each index of a bit rate; 0 where there is no such bit rate. */
export function frameLengths({ version, sampleRate }: Mp3Format): number[] {
	return Array.from({ length: 16 }, (_, index) =>
		frameLength({ version, layer: 3, sampleRate }, index),
	);
}

/** What four bytes say as a frame's header, or why they can't be one that this package reads. */
export function readHeader(bits: number): FrameHeader | { problem: string } {
	const frame = readFrame(bits);
	if (frame === undefined) return { problem: 'is not the beginning of an MP3 frame' };
	const { version, sampleRate, bitrateIndex, length } = frame;
	if (frame.layer !== 3) return { problem: 'is MPEG audio, but not Layer III' };
	if (length === undefined) return { problem: 'is a frame in free format' };
	const channels = ((bits >>> 6) & 3) === MONO ? 1 : 2;
	return {
		version,
		sampleRate,
		channels,
		samplesPerFrame: samplesPerFrame(frame),
		bits,
		bitrateIndex,
		length,
	};
}

/** Bytes between a frame's header and its sound. */
function sideInfoBytes({ version, channels }: Pick<Mp3Format, 'version' | 'channels'>) {
	if (version === '1') return channels === 1 ? 17 : 32;
	return channels === 1 ? 9 : 17;
}

/** An empty frame of a format, with the smallest bit rate from `leastIndex` on that has space for `bytes`. */
function emptyFrame(header: FrameHeader, bytes: number, leastIndex: number): Buffer {
	const lengths = frameLengths(header);
	let index = leastIndex;
	while (index < 14 && (lengths[index] ?? 0) < bytes) index += 1;
	const frame = Buffer.alloc(lengths[index] ?? 0);
	frame.writeUInt32BE(((header.bits & KEPT_BITS) | UNPROTECTED | (index << 12)) >>> 0);
	return frame;
}

/**
 * A frame of silence that fits beside a frame with this header: all zeros after the header say that nothing is coded.
 *
 * @param bitrateIndex that of the other frames where it is constant, else undefined
 */
export function silentFrame(header: FrameHeader, bitrateIndex: number | undefined): Buffer {
	return emptyFrame(header, HEADER_BYTES + sideInfoBytes(header), bitrateIndex ?? 1);
}

const TABLE_ENTRIES = 100;
const HAS_FRAMES = 1;
const HAS_BYTES = 2;
const HAS_TABLE = 4;

export interface InfoFrame {
	/** A frame of the sound: its format is the header's. */
	header: FrameHeader;
	/** That of all frames where it is constant, else undefined. */
	bitrateIndex: number | undefined;
	/** Frames of sound, without this one. */
	frames: number;
	/** Bytes of all these frames. */
	bytes: number;
	/** How many of these bytes lie before a frame. */
	bytesBefore: (frame: number) => number;
}

/** The frame that goes before the sound: players read from it how long the sound is, and where in the file a time lies. */
export function infoFrame({ header, bitrateIndex, frames, bytes, bytesBefore }: InfoFrame): Buffer {
	const at = HEADER_BYTES + sideInfoBytes(header);
	const frame = emptyFrame(header, at + 16 + TABLE_ENTRIES, bitrateIndex ?? 1);
	const total = frame.length + bytes;
	frame.write(bitrateIndex === undefined ? 'Xing' : 'Info', at);
	frame.writeUInt32BE(HAS_FRAMES | HAS_BYTES | HAS_TABLE, at + 4);
	frame.writeUInt32BE(frames, at + 8);
	frame.writeUInt32BE(Math.min(total, MOST_BYTES), at + 12);
	for (let entry = 0; entry < TABLE_ENTRIES; entry += 1) {
		const before = frame.length + bytesBefore(Math.floor((entry * frames) / TABLE_ENTRIES));
		frame[at + 16 + entry] = Math.min(255, Math.floor((256 * before) / total));
	}
	return frame;
}

/**
 * Whether a frame is such a header instead of sound, and how many frames it states (undefined where it states none).
 * Between other frames it must also code nothing: its mark could be there by chance.
 */
export function readInfoFrame(
	bytes: Uint8Array,
	at: number,
	header: FrameHeader,
): { statedFrames: number | undefined } | undefined {
	const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const isAt = (offset: number, mark: string) =>
		view.toString('latin1', offset, offset + 4) === mark;
	const checksum = (header.bits & UNPROTECTED) === 0 ? 2 : 0;
	const usual = at + HEADER_BYTES + sideInfoBytes(header);
	// Encoders disagree on whether a checksum moves it.
	for (const offset of [usual, usual + checksum]) {
		if (!isAt(offset, 'Xing') && !isAt(offset, 'Info')) continue;
		const states = (view.readUInt32BE(offset + 4) & HAS_FRAMES) !== 0;
		return { statedFrames: states ? view.readUInt32BE(offset + 8) : undefined };
	}
	const vbri = at + HEADER_BYTES + 32;
	return isAt(vbri, 'VBRI') ? { statedFrames: view.readUInt32BE(vbri + 14) } : undefined;
}

/** How many bytes of a frame `readInfoFrame` reads at most. */
export const INFO_BYTES = HEADER_BYTES + 32 + 18;
