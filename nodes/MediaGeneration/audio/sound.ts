/** Describes what a pass over a sound file finds, and keeps the bytes that the pass still needs. */
import type { FrameHeader } from './mpeg';

/** Bytes of a file, from the first (inclusive) to the second (exclusive). */
export type ByteRange = readonly [from: number, to: number];

/** A unit is a frame of an MP3 file, or one sample of each channel of a WAV file. */
interface FactsOf<Kind, Format> {
	kind: Kind;
	/** This is the header of the first frame if the file is an MP3. */
	format: Format;
	/** The coding in words: "MPEG-1", "16-bit PCM". */
	coding: string;
	/** Samples of one channel. */
	samplesPerUnit: number;
	units: number;
	bytes: number;
	/** Says where the units lie; tags and headers that hold no sound are left out. */
	ranges: ByteRange[];
	/** That of all MP3 frames; undefined if it varies. */
	bitrateIndex: number | undefined;
	seconds: number;
	/** What the header of a WAV file states, if it does: more than the file has if it was cut. */
	statedBytes?: number | undefined;
}

export interface WavFormat {
	/** 1 means PCM, 3 float. An extensible format has one inside. */
	encoding: number;
	channels: number;
	/** Samples per second. */
	sampleRate: number;
	/** Bits of one sample. */
	bits: number;
	blockBytes: number;
	/** Content of the format chunk for a joined file. */
	chunk: Buffer;
}

export type Mp3Facts = FactsOf<'mp3', FrameHeader>;
export type WavFacts = FactsOf<'wav', WavFormat>;
export type Sound = Mp3Facts | WavFacts;

interface NoSound {
	kind: 'none';
	/** Completes a sentence: "is audio/ogg; only MP3 and WAV can be joined". */
	problem: string;
}

export type SoundFacts = Sound | NoSound;

export const noSound = (problem: string): NoSound => ({ kind: 'none', problem });

/** Names a part (from 0) in sentences for the user. */
export type NameOf = (index: number) => string;

export const partName: NameOf = (index) => `part ${index + 1}`;

export const inWords = (number: number): string => number.toLocaleString('en-US');

/** Rounds seconds to ms, because digits beyond that are noise of the division. */
export const toMs = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/** A pass over a file: it yields when it needs more of it, and ends at the latest once all of the file is there. */
export type Scan<T = SoundFacts> = Generator<undefined, T>;

const EMPTY = Buffer.alloc(0);

/** The bytes of a file that a pass still needs. */
export class FileWindow {
	/** Bytes so far. */
	total = 0;
	isComplete = false;
	bytes: Buffer = EMPTY;
	/** All chunks share this space: a copy of each would be as much to collect as the file itself. */
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

	/** Returns the bytes from a place on, at least `count` or as many as the file has, and drops those before them. */
	*read(from: number, count: number): Scan<Buffer> {
		while (this.total < from + count && !this.isComplete) {
			this.bytes = this.from(from);
			yield;
		}
		return this.from(from);
	}

	/** Throws for a place that was dropped. */
	from(place: number): Buffer {
		const there = this.total - place;
		if (there > this.bytes.length) throw new RangeError(`Byte ${place} was dropped`);
		return there <= 0 ? EMPTY : this.bytes.subarray(-there);
	}
}
