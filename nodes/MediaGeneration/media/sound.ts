/** Sound files: what a pass over one finds, and the bytes that the pass still needs. Pure. */
import type { FrameHeader } from './mpeg';

/** Bytes of a file: from the first (inclusive) to the second (exclusive). */
export type ByteRange = readonly [from: number, to: number];

/** A unit, and how many bytes of sound lie before it. */
export type Point = readonly [unit: number, bytes: number];

/** A unit is a frame of an MP3 file, or one sample of each channel of a WAV file. */
interface FactsOf<Kind, Format> {
	kind: Kind;
	/** For an MP3 file, this is the header of its first frame. */
	format: Format;
	/** Names the coding in words: "MPEG-1", "16-bit PCM". */
	coding: string;
	/** Counts the samples of one channel. */
	samplesPerUnit: number;
	units: number;
	bytes: number;
	/** Tells where the units lie; tags and headers that hold no sound are left out. */
	ranges: ByteRange[];
	/** Points lie at even distances, where units can differ in length. */
	points: Point[];
	/** The same for all MP3 frames; undefined where it varies. */
	bitrateIndex: number | undefined;
	seconds: number;
}

export interface WavFormat {
	/** 1 PCM, 3 float; of an extensible format the one inside. */
	encoding: number;
	channels: number;
	/** Hz */
	sampleRate: number;
	/** Counts the space that a sample takes. */
	bits: number;
	blockBytes: number;
	/** The format chunk's content, as it is written into a joined file. */
	chunk: Buffer;
}

export type Mp3Facts = FactsOf<'mp3', FrameHeader>;
export type WavFacts = FactsOf<'wav', WavFormat>;
export type Sound = Mp3Facts | WavFacts;

interface NoSound {
	kind: 'none';
	/** Why, as the end of a sentence: "it is not an MP3 or WAV file". */
	problem: string;
}

export type SoundFacts = Sound | NoSound;

export const noSound = (problem: string): NoSound => ({ kind: 'none', problem });

/** What a part (from 0) is called in sentences for the user. */
export type NameOf = (index: number) => string;

export const partName: NameOf = (index) => `part ${index + 1}`;

export const inWords = (number: number): string => number.toLocaleString('en-US');

/** A pass over a file: it yields where it needs more of it, and ends at the latest once the file is whole. */
export type Scan<T = SoundFacts> = Generator<undefined, T>;

/** What is no sound is passed over for this long: bytes of padding, or tags and chunks, each of which counts as 64 of them. */
export const MOST_IDLE = 65_536;
export const IDLE_ELEMENT = 64;

const EMPTY = Buffer.alloc(0);
/** These last bytes of a file show the tags there. */
const TAIL_BYTES = 160;

export class Unread {
	/** Counts the bytes that have come. */
	total = 0;
	isWhole = false;
	bytes: Buffer = EMPTY;
	/** One for all chunks: a copy of each would be as much to collect as the file itself. */
	private space: Buffer = EMPTY;

	push(chunk: Buffer): void {
		const length = this.bytes.length + chunk.length;
		const space = length > this.space.length ? Buffer.alloc(length) : this.space;
		this.bytes.copy(space);
		chunk.copy(space, this.bytes.length);
		this.space = space;
		this.bytes = space.subarray(0, length);
		this.total += chunk.length;
	}

	/** The bytes from a place on: at least `count`, or as many as the file has. Those before them are dropped. */
	*read(from: number, count: number): Scan<Buffer> {
		while (this.total < from + count && !this.isWhole) {
			const needed = Math.max(this.total - from, TAIL_BYTES);
			this.bytes = this.bytes.subarray(-needed);
			yield;
		}
		return this.from(from);
	}

	from(place: number): Buffer {
		const there = this.total - place;
		return there <= 0 ? EMPTY : this.bytes.subarray(-there);
	}
}
