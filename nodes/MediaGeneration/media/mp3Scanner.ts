/** Walks over the frames of an MP3 file, in one pass. Pure. */
import {
	type FrameHeader,
	HEADER_BYTES,
	LOOK_BYTES,
	readHeader,
	readInfoFrame,
	TAIL_BYTES,
	tagBegin,
	tagLength,
} from './mp3';
import { frameLength } from './mpeg';
import { inWords, noSound, type Scanner, type SoundFacts, Unread } from './sound';

/** Sync, version, layer and sample rate: the same in all frames. */
const FORMAT_BITS = 0xfffe_0c00;
const MODE_BITS = 0xc0;
/** The table of positions is thinned out when it gets longer. */
const MOST_POINTS = 512;
/** A file whose sound lies in more pieces than this is broken, and not worth the memory. */
const MOST_RANGES = 1000;

export class Mp3Scanner implements Scanner {
	private readonly unread = new Unread();
	private next = 0;
	private header: FrameHeader | undefined;
	private isConstant = true;
	private frames = 0;
	private bytes = 0;
	private lastLength = 0;
	private statedFrames: number | undefined;
	private readonly ranges: Array<[from: number, to: number]> = [];
	private points: number[] = [];
	private stride = 1;
	/** What is wrong, and from which byte on: the rest of the file is not read. */
	private lost: { at: number; problem: string } | undefined;

	push(chunk: Buffer): void {
		const { unread } = this;
		unread.push(chunk);
		this.read(unread.bytes, unread.bytes.length - LOOK_BYTES);
		// What is still to be read begins there or later.
		unread.dropTo(unread.total - TAIL_BYTES);
	}

	end(): SoundFacts {
		const { bytes, total } = this.unread;
		// The end of a file is read as if zeros followed.
		this.read(Buffer.concat([bytes, Buffer.alloc(LOOK_BYTES)]), bytes.length - 1);
		const { lost } = this;
		// Less than a header is what is left of a frame that was cut off.
		const isOver = lost === undefined || total - lost.at < HEADER_BYTES;
		if (!isOver && tagBegin(bytes, total) !== lost.at) return this.lostFacts(lost.problem);
		this.forgetCutFrame(total);
		return this.facts();
	}

	private read(bytes: Buffer, last: number): void {
		const { position } = this.unread;
		let at = this.next - position;
		while (at <= last && this.lost === undefined) {
			at += this.frameAt(bytes, at) ?? this.otherAt(bytes, at);
		}
		this.next = position + at;
	}

	/** How long the frame is that begins there; undefined where none of the file's format does. */
	private frameAt(bytes: Buffer, at: number): number | undefined {
		const { header } = this;
		const bits = bytes.readUInt32BE(at);
		if (header === undefined || ((bits ^ header.bits) & FORMAT_BITS) !== 0) return undefined;
		const index = (bits >>> 12) & 15;
		const unpadded = frameLength(header, index);
		const isMono = (bits & MODE_BITS) === MODE_BITS;
		if (unpadded === 0 || isMono !== (header.channels === 1)) return undefined;
		const length = unpadded + ((bits >>> 9) & 1);
		// Between other frames its mark could be there by chance, but then the frame would code something.
		if (this.frames === 0 || bytes.readUInt32BE(at + HEADER_BYTES) === 0) {
			const info = readInfoFrame(bytes, at, header);
			if (info !== undefined) {
				this.statedFrames = (this.statedFrames ?? 0) + (info.statedFrames ?? 0);
				return length;
			}
		}
		// The rate of a header frame says nothing of the others.
		if (this.frames === 0) this.header = { ...header, bits, bitrateIndex: index, length };
		else if (index !== header.bitrateIndex) this.isConstant = false;
		this.count(at, length);
		return length;
	}

	/** How many bytes of something else begin there. */
	private otherAt(bytes: Buffer, at: number): number {
		if (bytes[at] === 0) return 1;
		const length = tagLength(bytes, at);
		if (length !== undefined) return length;
		const header = readHeader(bytes.readUInt32BE(at));
		const place = `what lies at byte ${inWords(this.unread.position + at)}`;
		if ('problem' in header) this.lose(at, `${place} ${header.problem}`);
		else if (this.header !== undefined)
			this.lose(at, `${place} is a frame of another format than those before it`);
		else this.header = header;
		return 0;
	}

	private lose(at: number, problem: string): void {
		this.lost = { at: this.unread.position + at, problem };
	}

	private count(at: number, length: number): void {
		const from = this.unread.position + at;
		const range = this.ranges.at(-1);
		if (range?.[1] === from) range[1] += length;
		else if (this.ranges.push([from, from + length]) > MOST_RANGES)
			this.lose(at, `its sound lies in more than ${inWords(MOST_RANGES)} pieces`);
		if (this.frames % this.stride === 0) this.addPoint();
		this.frames += 1;
		this.bytes += length;
		this.lastLength = length;
	}

	private addPoint(): void {
		this.points.push(this.bytes);
		if (this.points.length < MOST_POINTS) return;
		this.points = this.points.filter((_, index) => index % 2 === 0);
		this.stride *= 2;
	}

	private forgetCutFrame(total: number): void {
		const range = this.ranges.at(-1);
		if (range === undefined || range[1] <= total) return;
		this.frames -= 1;
		this.bytes -= this.lastLength;
		range[1] -= this.lastLength;
		if (range[0] === range[1]) this.ranges.pop();
	}

	private lostFacts(problem: string): SoundFacts {
		const { header, statedFrames = 0 } = this;
		if (header === undefined || statedFrames === 0) return noSound(problem);
		const seconds = (statedFrames * header.samplesPerFrame) / header.sampleRate;
		return { kind: 'none', problem, seconds };
	}

	private facts(): SoundFacts {
		const { header, frames, bytes, ranges, points, stride } = this;
		if (header === undefined || frames === 0) return noSound('it holds no sound');
		const bitrateIndex = this.isConstant ? header.bitrateIndex : undefined;
		const seconds = (frames * header.samplesPerFrame) / header.sampleRate;
		return { kind: 'mp3', header, bitrateIndex, frames, bytes, ranges, points, stride, seconds };
	}
}
