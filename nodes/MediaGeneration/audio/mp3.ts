/**
 * Reads and writes MPEG audio, Layer III: frames of silence, tags, and the frame before the sound that tells players its length ("Xing"
 * if the bit rate varies, "Info" if it does not). Sources: the Xing header as LAME writes it, id3.org, APEv2 specification.
 */
import { type FrameHeader, frameLength, readFrame } from './mpeg';
import {
	IDLE_ELEMENT,
	inWords,
	MOST_IDLE,
	noSound,
	type Point,
	type Scan,
	type SoundFacts,
	type Unread,
} from './sound';
import { MOST_BYTES } from './wav';

const HEADER_BYTES = 4;

function readHeader(bits: number): FrameHeader | { problem: string } {
	const frame = readFrame(bits);
	if (frame === undefined) return { problem: 'is not the beginning of an MP3 frame' };
	if (frame.layer !== 3) return { problem: 'is MPEG audio, but not Layer III' };
	return frame.length === 0 ? { problem: 'is a frame in free format' } : frame;
}

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

const TABLE_ENTRIES = 100;

/** Players read from this frame how long the sound is, and where a time lies. @param points from the first frame to the end of the last one */
export function infoFrame(
	header: FrameHeader,
	bitrateIndex: number | undefined,
	points: readonly Point[],
): Buffer {
	const [frames, bytes] = points.at(-1) ?? [0, 0];
	const at = HEADER_BYTES + sideInfoBytes(header);
	let index = bitrateIndex ?? 1;
	while (frameLength(header, index) < at + 16 + TABLE_ENTRIES) index += 1;
	const frame = silentFrame(header, index);
	const total = frame.length + bytes;
	frame.write(bitrateIndex === undefined ? 'Xing' : 'Info', at);
	// It has the number of frames, that of bytes, and the table.
	frame.writeUInt32BE(1 | 2 | 4, at + 4);
	frame.writeUInt32BE(frames, at + 8);
	frame.writeUInt32BE(Math.min(total, MOST_BYTES), at + 12);
	const wanted = (entry: number) => Math.floor((entry * frames) / TABLE_ENTRIES);
	let entry = 0;
	let [from, before] = [0, 0];
	for (const [to, after] of points) {
		for (; wanted(entry) < to; entry += 1) {
			const passed = before + ((after - before) * (wanted(entry) - from)) / (to - from);
			const position = frame.length + passed;
			frame[at + 16 + entry] = Math.min(255, Math.floor((256 * position) / total));
		}
		[from, before] = [to, after];
	}
	return frame;
}

/** Tells whether a frame is such a header instead of sound. */
function isInfoFrame(bytes: Buffer, header: FrameHeader): boolean {
	const usual = HEADER_BYTES + sideInfoBytes(header);
	// Encoders disagree on whether the two bytes of a checksum move it.
	const isXing = [usual, usual + 2].some(
		(at) => isAt(bytes, at, 'Xing') || isAt(bytes, at, 'Info'),
	);
	return isXing || isAt(bytes, HEADER_BYTES + 32, 'VBRI');
}

/** `isInfoFrame` and `tagLength` read no more bytes than these. */
const LOOK_BYTES = HEADER_BYTES + 32 + 6;

const isAt = (bytes: Buffer, at: number, mark: string) =>
	bytes.toString('latin1', at, at + mark.length) === mark;

function tagLength(bytes: Buffer): number | undefined {
	if (isAt(bytes, 0, 'ID3')) {
		// ID3 uses seven bits of each byte, so that no size looks like a frame. Header and footer have ten bytes each.
		const size = [...bytes.subarray(6, 10)].reduce((sum, byte) => sum * 128 + byte, 0);
		const hasFooter = ((bytes[5] ?? 0) & 0x10) !== 0;
		return 10 + size + (hasFooter ? 10 : 0);
	}
	if (isAt(bytes, 0, 'APETAGEX')) return 32 + bytes.readUInt32LE(12);
	if (isAt(bytes, 0, 'TAG+')) return 227;
	return isAt(bytes, 0, 'TAG') ? 128 : undefined;
}

/** Finds the beginning of an APE tag without a header at the end of a file of `total` bytes. */
function tagBegin(tail: Buffer, total: number): number | undefined {
	const after = isAt(tail, tail.length - 128, 'TAG') ? 128 : 0;
	const footer = tail.length - after - 32;
	return isAt(tail, footer, 'APETAGEX')
		? total - after - tail.readUInt32LE(footer + 12)
		: undefined;
}

/** A frame of sound, something to skip, or neither. */
type Element = FrameHeader | { length: number; idle: number } | { problem: string };

const problemAt = (at: number, problem: string): Element => ({
	problem: `what lies at byte ${inWords(at)} ${problem}`,
});

function zerosIn(bytes: Buffer): number {
	let count = 0;
	while (bytes[count] === 0) count += 1;
	return count;
}

class Mp3Sound {
	private header: FrameHeader | undefined;
	/** Caches headers by their bits, because reading one takes longer than everything else. */
	private readonly headers = new Map<number, FrameHeader>();
	private readonly ranges: Array<[from: number, to: number]> = [];
	private readonly found = { units: 0, bytes: 0, points: new Array<Point>() };
	/** Frames between two points. */
	private stride = 1;

	/** @param bytes of the file, from its byte `from` on */
	readElement(bytes: Buffer, from: number): Element {
		const start = bytes.readUInt32BE();
		const frame = this.headers.get(start) ?? readHeader(start);
		if ('problem' in frame) {
			const zeros = zerosIn(bytes);
			if (zeros > 0) return { length: zeros, idle: zeros };
			const length = tagLength(bytes);
			return length === undefined ? problemAt(from, frame.problem) : { length, idle: IDLE_ELEMENT };
		}
		const { length, bits, channels } = frame;
		const first = (this.header ??= frame);
		// Sync, version, layer and sample rate are the same in all frames.
		if (((bits ^ first.bits) & 0xfffe_0c00) !== 0 || channels !== first.channels)
			return problemAt(from, 'is a frame of another format than those before it');
		// Between other frames the mark could stand there by chance, but such a frame codes something.
		const mayBeInfo = this.found.units === 0 || bytes.readUInt32BE(HEADER_BYTES) === 0;
		if (mayBeInfo && isInfoFrame(bytes, frame)) return { length, idle: IDLE_ELEMENT };
		// Such a file is broken, and not worth the memory.
		if (this.ranges.length === 1_000 && this.ranges.at(-1)?.[1] !== from)
			return { problem: 'its sound lies in more than 1,000 pieces' };
		return frame;
	}

	add(frame: FrameHeader, from: number): void {
		const { headers, found, ranges } = this;
		headers.set(frame.bits, frame);
		const range = ranges.at(-1);
		if (range?.[1] === from) range[1] += frame.length;
		else ranges.push([from, from + frame.length]);
		if (found.units % this.stride === 0) found.points.push([found.units, found.bytes]);
		found.units += 1;
		found.bytes += frame.length;
		// A longer table of positions is thinned out.
		if (found.points.length < 512) return;
		found.points = found.points.filter((_, index) => index % 2 === 0);
		this.stride *= 2;
	}

	facts(): SoundFacts {
		const { header, headers, found, ranges } = this;
		if (header === undefined || found.units === 0) return noSound('it holds no sound');
		const { version, sampleRate, samplesPerFrame: samplesPerUnit } = header;
		const format = { format: header, coding: `MPEG-${version}`, samplesPerUnit };
		const bitrates = new Set([...headers.values()].map((frame) => frame.bitrateIndex));
		const [bitrateIndex] = bitrates.size === 1 ? bitrates : [];
		const seconds = (found.units * samplesPerUnit) / sampleRate;
		return { kind: 'mp3', ...format, ...found, ranges, bitrateIndex, seconds };
	}
}

export function* scanMp3(file: Unread): Scan {
	const sound = new Mp3Sound();
	let problem: string | undefined;
	let [at, idle] = [0, 0];
	for (;;) {
		// A generator for each frame would take longer than what it reads.
		if (file.total < at + LOOK_BYTES) yield* file.read(at, LOOK_BYTES);
		const bytes = file.from(at);
		if (bytes.length === 0) break;
		// The end of a file is read as if zeros followed.
		const isEnd = bytes.length < LOOK_BYTES;
		const element = sound.readElement(
			isEnd ? Buffer.concat([bytes, Buffer.alloc(LOOK_BYTES)]) : bytes,
			at,
		);
		if ('problem' in element) {
			problem = element.problem;
			break;
		}
		const end = at + element.length;
		if ('bits' in element) {
			if (file.total < end) yield* file.read(at, element.length);
			// A frame that was cut off does not count.
			if (file.total < end) break;
			sound.add(element, at);
			idle = 0;
		} else if ((idle += element.idle) > MOST_IDLE) {
			problem = 'it holds no sound for too long';
			break;
		}
		at = end;
	}
	yield* file.read(Infinity, 0);
	// Fewer bytes than a header are the rest of a frame that was cut off.
	const isOver = file.total - at < HEADER_BYTES || tagBegin(file.bytes, file.total) === at;
	return problem === undefined || isOver ? sound.facts() : noSound(problem);
}
