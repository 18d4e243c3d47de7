/** Joining sound files of one format, as streams: planned from what a first pass found, written in a second one. Pure. */
import { mp3Pieces, wavPieces } from './pieces';
import {
	type ByteRange,
	inWords,
	type JoinPiece,
	type Mp3Facts,
	type NameOf,
	partName,
	type Pieces,
	type SoundFacts,
	type WavFacts,
} from './sound';
import { encodingInWords, MOST_BYTES } from './wav';

export interface Joinable extends Pieces {
	joinable: true;
	mimeType: string;
	extension: string;
	bytes: number;
}

export type JoinPlan = Joinable | { joinable: false; reason: string };

interface JoinOptions {
	/** Silence between two parts, in ms; of MP3 parts the nearest number of frames (of about 26 ms each), but at least one. */
	pauseMs: number;
	/** A larger file is not made; pauses count. */
	maxBytes?: number;
	nameOf?: NameOf;
}

const KINDS = {
	mp3: { name: 'an MP3 file', mimeType: 'audio/mpeg', extension: 'mp3' },
	wav: { name: 'a WAV file', mimeType: 'audio/wav', extension: 'wav' },
};

type Sound = Mp3Facts | WavFacts;

/** What must be the same in all parts. */
function features(facts: Sound): string[] {
	const { sampleRate, channels } = facts.kind === 'mp3' ? facts.header : facts.format;
	const coding =
		facts.kind === 'mp3' ? `MPEG-${facts.header.version}` : encodingInWords(facts.format);
	const shape = ['mono', 'stereo'][channels - 1] ?? `${channels} channels`;
	return [coding, `${inWords(sampleRate)} Hz`, shape];
}

/** Why a part does not fit the first one, as the end of a sentence. */
function difference(first: Sound, other: Sound, nameOfFirst: string): string | undefined {
	if (first.kind !== other.kind)
		return `it is ${KINDS[other.kind].name}, and ${nameOfFirst} is ${KINDS[first.kind].name}`;
	const expected = features(first);
	const differing = features(other).flatMap((feature, index) =>
		feature === expected[index] ? [] : [`${feature} instead of ${expected[index]}`],
	);
	if (differing.length > 0) return `its sound has another format: ${differing.join(', ')}`;
	const [space, otherSpace] = [first, other].map((facts) =>
		facts.kind === 'wav' ? facts.format.blockBytes : 0,
	);
	return space !== otherSpace ? 'its samples take another number of bytes' : undefined;
}

function refused(name: string, problem: string): JoinPlan {
	const sentence = `${name} can't be joined${problem}.`;
	return { joinable: false, reason: sentence.charAt(0).toUpperCase() + sentence.slice(1) };
}

function sizeOf(pieces: readonly JoinPiece[]): number {
	return pieces.reduce((sum, piece) => {
		if (piece.kind === 'pattern') return sum + piece.length;
		return sum + piece.ranges.reduce((bytes, [from, to]) => bytes + to - from, 0);
	}, 0);
}

function ofKind<K extends Sound['kind']>(sounds: readonly Sound[], kind: K) {
	return sounds.filter((sound): sound is Extract<Sound, { kind: K }> => sound.kind === kind);
}

/** Whether parts can be joined, and how: by the facts that `scan` found of each, in their order. Nothing is thrown. */
export function planJoin(facts: readonly SoundFacts[], options: JoinOptions): JoinPlan {
	const { pauseMs, maxBytes = MOST_BYTES, nameOf = partName } = options;
	const sounds: Sound[] = [];
	for (const [index, part] of facts.entries()) {
		if (part.kind === 'none') return refused(nameOf(index), `: ${part.problem}`);
		const problem = difference(sounds[0] ?? part, part, nameOf(0));
		if (problem !== undefined) return refused(nameOf(index), ` to ${nameOf(0)}: ${problem}`);
		sounds.push(part);
	}
	const [first] = sounds;
	if (first === undefined) return { joinable: false, reason: 'There is no sound to join.' };
	const made =
		first.kind === 'mp3'
			? mp3Pieces(first, ofKind(sounds, 'mp3'), pauseMs)
			: wavPieces(first, ofKind(sounds, 'wav'), pauseMs);
	const bytes = sizeOf(made.pieces);
	const most = Math.min(maxBytes, MOST_BYTES);
	if (bytes > most) {
		const limit =
			most < MOST_BYTES ? 'Max File Size is' : `${KINDS[first.kind].name} can have at most`;
		const reason = `The joined file would have ${inWords(bytes)} bytes, and ${limit} ${inWords(most)}.`;
		return { joinable: false, reason };
	}
	const { mimeType, extension } = KINDS[first.kind];
	return { joinable: true, ...made, mimeType, extension, bytes };
}

const BLOCK_BYTES = 65_536;

function* repeated(pattern: Buffer, length: number): Generator<Buffer> {
	const times = Math.max(1, Math.floor(BLOCK_BYTES / pattern.length));
	const block = Buffer.alloc(Math.min(length, times * pattern.length), pattern);
	for (let left = length; left > 0; left -= block.length) yield block.subarray(0, left);
}

async function* cutOut(chunks: AsyncIterable<Buffer>, ranges: readonly ByteRange[]) {
	let position = 0;
	let next = 0;
	for await (const chunk of chunks) {
		const end = position + chunk.length;
		for (let range = ranges[next]; range !== undefined; range = ranges[next]) {
			const from = Math.max(range[0], position) - position;
			const to = Math.min(range[1], end) - position;
			if (to > from) yield chunk.subarray(from, to);
			if (range[1] > end) break;
			next += 1;
		}
		position = end;
		if (next === ranges.length) return;
	}
	throw new Error('A file became shorter while it was being joined.');
}

/**
 * The joined file, chunk by chunk: each part (from 0) is opened when it is its turn, read once and closed.
 *
 * @throws Error where a part is shorter than `scan` found it
 */
export async function* joined(
	plan: Joinable,
	openPart: (index: number) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
	for (const piece of plan.pieces) {
		if (piece.kind === 'pattern') yield* repeated(piece.pattern, piece.length);
		else if (piece.ranges.length > 0) yield* cutOut(openPart(piece.index), piece.ranges);
	}
}
