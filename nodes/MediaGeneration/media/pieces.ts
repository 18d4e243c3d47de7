/** What a joined file is made of. Pure. */
import type { ByteRange } from './sound';

/** One after another these make the joined file. */
export type JoinPiece =
	| { kind: 'bytes'; bytes: Buffer }
	/** `length` bytes of a pattern that is repeated. */
	| { kind: 'pattern'; pattern: Buffer; length: number }
	| { kind: 'part'; index: number; ranges: ByteRange[] };

/** What a kind of sound makes of its parts. */
export interface Pieces {
	pieces: JoinPiece[];
	/** Samples before each part and at its end, and of all. */
	parts: Array<{ from: number; to: number }>;
	samples: number;
	sampleRate: number;
}
