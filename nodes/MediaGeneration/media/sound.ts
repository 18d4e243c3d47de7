/** What a pass over a sound file finds. Pure. */
import type { FrameHeader } from './mp3';
import type { WavFormat } from './wav';

/** Bytes of a file: from the first (inclusive) to the second (exclusive). */
export type ByteRange = readonly [from: number, to: number];

export interface Mp3Facts {
	kind: 'mp3';
	/** Of the first frame. */
	header: FrameHeader;
	/** Of all frames; undefined where it varies. */
	bitrateIndex: number | undefined;
	frames: number;
	/** Of all frames. */
	bytes: number;
	/** Where the frames lie; tags and headers that hold no sound are left out. */
	ranges: ByteRange[];
	/** How many bytes of sound lie before the frames 0, `stride`, 2 x `stride` ... */
	points: number[];
	stride: number;
	seconds: number;
}

export interface WavFacts {
	kind: 'wav';
	format: WavFormat;
	/** Of each channel. */
	samples: number;
	/** Of all samples. */
	bytes: number;
	ranges: ByteRange[];
	seconds: number;
}

/** Sound that can't be joined to other sound. */
interface NoSound {
	kind: 'none';
	/** Why, as the end of a sentence: "it is not an MP3 or WAV file". */
	problem: string;
	/** Of an MP3 file with broken frames, as its header states. */
	seconds?: number;
}

export type SoundFacts = Mp3Facts | WavFacts | NoSound;

export type JoinPiece =
	/** `length` bytes of a pattern that is repeated. */
	| { kind: 'pattern'; pattern: Buffer; length: number }
	| { kind: 'part'; index: number; ranges: ByteRange[] };

/** What a kind of sound makes of its parts. */
export interface Pieces {
	pieces: JoinPiece[];
	/**
	 * When each part begins and ends in the joined file, in seconds. An MP3 part keeps what its encoder put around the sound:
	 * 20 to 50 ms, more at low sample rates.
	 */
	parts: Array<{ start: number; end: number }>;
	durationSeconds: number;
}

/** Reads a file from its first to its last byte, in chunks of any size. */
export interface Scanner {
	push(chunk: Buffer): void;
	/** To be called once, after the last chunk. */
	end(): SoundFacts;
}

export const noSound = (problem: string): NoSound => ({ kind: 'none', problem });

/** What a part (from 0) is called in sentences for the user. */
export type NameOf = (index: number) => string;

export const partName: NameOf = (index) => `part ${index + 1}`;

export const inWords = (number: number) => number.toLocaleString('en-US');

/**
 * The bytes that have not been read yet: what a chunk leaves unread is put before the next one.
 * `position` is where the first of them lies in the file.
 */
export class Unread {
	position = 0;
	bytes: Buffer = Buffer.alloc(0);

	get total(): number {
		return this.position + this.bytes.length;
	}

	push(chunk: Buffer): void {
		this.bytes = this.bytes.length === 0 ? chunk : Buffer.concat([this.bytes, chunk]);
	}

	/** Forgets what lies before a position. To be called after each chunk. */
	dropTo(position: number): void {
		const count = Math.max(0, Math.min(position - this.position, this.bytes.length));
		// A copy: the chunk may be used again.
		this.bytes = Buffer.from(this.bytes.subarray(count));
		this.position += count;
	}
}
