/**
 * Reads and writes MPEG audio, Layer III: frames of silence, and the frame before the sound that tells players its length ("Xing" if the bit
 * rate varies, "Info" if it does not). It reads as decoders do: what is no frame (tags, zeros, damage) is left out. Source: the Xing header
 * as LAME writes it.
 */
import {
	type FrameHeader,
	frameLength,
	frameOf,
	HEADER_BYTES,
	isOneFormat,
	readFrame,
} from './mpeg';
import { noSound, type Scan, type SoundFacts, type FileWindow } from './sound';
import { MOST_BYTES } from './wav';

function sideInfoBytes({ version, channels }: FrameHeader): number {
	if (version === '1') return channels === 1 ? 17 : 32;
	return channels === 1 ? 9 : 17;
}

/** Makes a frame of silence in a format: zeros after the header say that nothing is coded. */
export function silentFrame(header: FrameHeader, index = 1): Buffer {
	const frame = Buffer.alloc(frameLength(header, index));
	// It leaves out checksum (a bit says so), bit rate, padding, the private bit, stereo modes and emphasis.
	frame.writeUInt32BE(((header.bits & 0xfffe_0ccc) | 0x0001_0000 | (index << 12)) >>> 0);
	return frame;
}

interface Frames {
	frames: number;
	bytes: number;
	/** Undefined if it varies. */
	bitrateIndex: number | undefined;
}

/** Players read from this frame how long the sound is. */
export function infoFrame(header: FrameHeader, { frames, bytes, bitrateIndex }: Frames): Buffer {
	const at = HEADER_BYTES + sideInfoBytes(header);
	let index = bitrateIndex ?? 1;
	while (frameLength(header, index) < at + 16) index += 1;
	const frame = silentFrame(header, index);
	frame.write(bitrateIndex === undefined ? 'Xing' : 'Info', at);
	// Flags: frame count and byte count follow.
	frame.writeUInt32BE(1 | 2, at + 4);
	frame.writeUInt32BE(frames, at + 8);
	frame.writeUInt32BE(Math.min(frame.length + bytes, MOST_BYTES), at + 12);
	return frame;
}

/** Returns whether a frame is such a header instead of sound. */
function isInfoFrame(bytes: Buffer, header: FrameHeader): boolean {
	const at = HEADER_BYTES + sideInfoBytes(header);
	const isXing = isAt(bytes, at, 'Xing') || isAt(bytes, at, 'Info');
	return isXing || isAt(bytes, HEADER_BYTES + 32, 'VBRI');
}

const isAt = (bytes: Buffer, at: number, mark: string) =>
	bytes.toString('latin1', at, at + mark.length) === mark;

/** The longest frame (320 kbit/s at 32,000 Hz, with padding), and the header of the next one. */
const LOOK_BYTES = 1_441 + HEADER_BYTES;

class Mp3Sound {
	private header: FrameHeader | undefined;
	/** The frame before, and where it ends. */
	private last: FrameHeader | undefined;
	private end = 0;
	/** Caches headers by their bits, because reading one takes longer than everything else. */
	private readonly headers = new Map<number, FrameHeader>();
	private readonly ranges: Array<[from: number, to: number]> = [];
	private readonly found = { units: 0, bytes: 0 };

	/** @param bytes of the file, from its byte `at` on @returns how many of them are read now, or why the sound can't be joined */
	read(bytes: Buffer, at: number): number | string {
		const { headers, ranges, found } = this;
		const bits = bytes.readUInt32BE();
		const frame = headers.get(bits) ?? frameOf(bits);
		if (frame === undefined || !this.isFrame(frame, bytes, at)) {
			const next = bytes.indexOf(0xff, 1);
			return next < 0 ? bytes.length : next;
		}
		[this.last, this.end] = [frame, at + frame.length];
		if (found.units === 0 && isInfoFrame(bytes, frame)) return frame.length;
		const first = (this.header ??= frame);
		if (!isOneFormat(first, frame)) return 'has frames of more than one format';
		// Such a file is broken, and not worth the memory.
		if (ranges.length === 1_000 && ranges.at(-1)?.[1] !== at)
			return 'has its sound in more than 1,000 pieces';
		this.add(frame, at);
		return frame.length;
	}

	/** Other bytes can look like a header. A real frame continues the one before it, or the next one continues it. */
	private isFrame(frame: FrameHeader, bytes: Buffer, at: number): boolean {
		const { last, end } = this;
		if (frame.length > bytes.length) return false;
		if (last !== undefined && at === end && isOneFormat(last, frame)) return true;
		const next = readFrame(bytes, frame.length);
		return next !== undefined && isOneFormat(frame, next);
	}

	private add(frame: FrameHeader, from: number): void {
		const { headers, found, ranges } = this;
		headers.set(frame.bits, frame);
		const range = ranges.at(-1);
		if (range?.[1] === from) range[1] += frame.length;
		else ranges.push([from, from + frame.length]);
		found.units += 1;
		found.bytes += frame.length;
	}

	facts(): SoundFacts {
		const { header, headers, found, ranges } = this;
		if (header === undefined) return noSound('contains no sound');
		const { version, sampleRate, samplesPerFrame: samplesPerUnit } = header;
		const format = { format: header, coding: `MPEG-${version}`, samplesPerUnit };
		const bitrates = new Set([...headers.values()].map((frame) => frame.bitrateIndex));
		const [bitrateIndex] = bitrates.size === 1 ? bitrates : [];
		const seconds = (found.units * samplesPerUnit) / sampleRate;
		return { kind: 'mp3', ...format, ...found, ranges, bitrateIndex, seconds };
	}
}

/** An ID3v2 tag can hold a sound of its own. Its size has seven bits in each byte. */
function* endOfTags(file: FileWindow): Scan<number> {
	for (let at = 0; ;) {
		const head = yield* file.read(at, 10);
		if (head.length < 10 || !isAt(head, 0, 'ID3')) return at;
		const size = head.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 127), 0);
		const footer = ((head[5] ?? 0) & 16) === 0 ? 0 : 10;
		at += 10 + size + footer;
	}
}

export function* scanMp3(file: FileWindow): Scan {
	const sound = new Mp3Sound();
	for (let at = yield* endOfTags(file); ;) {
		// A generator for each frame would take longer than what it reads.
		if (file.total < at + LOOK_BYTES) yield* file.read(at, LOOK_BYTES);
		const bytes = file.from(at);
		if (bytes.length < HEADER_BYTES) return sound.facts();
		const read = sound.read(bytes, at);
		if (typeof read === 'string') return noSound(read);
		at += read;
	}
}
