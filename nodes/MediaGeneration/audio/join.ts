/** Joins sound files of one format as streams: a first pass gathers the facts for a plan, a second one writes. */
import { infoFrame, silentFrame } from './mp3';
import { inWords, partName } from './sound';
import type { ByteRange, NameOf, Sound, SoundFacts } from './sound';
import { MOST_BYTES, silentSample, wavHeader } from './wav';

export interface Joinable {
	/** Parts that have one channel where the file has two: each sample of so many bytes is written twice. */
	doubled: ReadonlyArray<number | undefined>;
	/** The file is this head, then the ranges of each part, with `pauseBytes` of repeated silence between two, then padding. */
	head: Buffer;
	ranges: ByteRange[][];
	silence: Buffer;
	pauseBytes: number;
	padding: Buffer;
	/** Times are seconds of the joined file. An MP3 part keeps what its encoder put around the sound: 20 to 50 ms, more at low sample rates. */
	parts: Array<{ start: number; end: number }>;
	durationSeconds: number;
	/** The file's extension, too. */
	kind: Sound['kind'];
	bytes: number;
}

export interface PlanOptions {
	/** Silence between two parts becomes the nearest number of MP3 frames (of about 26 ms each) or samples, but at least one. */
	pauseMs: number;
	maxBytes?: number;
	nameOf?: NameOf;
}

/** Mono is made stereo where samples stand for themselves. */
const isMono = ({ kind, format }: Sound) => kind === 'wav' && format.channels === 1;

/** Sounds can be joined if this is equal, but for the channels of WAV. */
function formatOf({ kind, coding, format: { sampleRate, channels } }: Sound): string {
	const spread = ['mono', 'stereo'][channels - 1] ?? `${channels} channels`;
	return `${kind.toUpperCase()} (${coding}, ${inWords(sampleRate)} Hz, ${spread})`;
}

/** Decides how parts are joined, from the facts that `scan` found of each. Never throws. @returns why they can't be, as the end of a sentence */
export function planJoin(facts: readonly SoundFacts[], options: PlanOptions): Joinable | string {
	const { pauseMs, maxBytes = MOST_BYTES, nameOf = partName } = options;
	const sounds: Sound[] = [];
	for (const [index, part] of facts.entries()) {
		if (part.kind === 'none') return `${nameOf(index)} ${part.problem}`;
		sounds.push(part);
	}
	const stereo = sounds.findIndex(({ kind, format }) => kind === 'wav' && format.channels === 2);
	const first = sounds[0]?.kind === 'wav' ? (sounds[stereo] ?? sounds[0]) : sounds[0];
	if (first === undefined) return 'there is no sound';
	const expected = formatOf(first);
	for (const [index, part] of sounds.entries()) {
		const isDoubled = isMono(part) && first.format.channels === 2;
		const format = formatOf(part);
		const shape = isDoubled ? format.replace(/mono\)$/, 'stereo)') : format;
		const other = nameOf(sounds.indexOf(first));
		if (shape !== expected) return `${nameOf(index)} is ${format}, but ${other} is ${expected}`;
	}
	const plan = layOut(first, sounds, pauseMs);
	const most = Math.min(maxBytes, MOST_BYTES);
	if (plan.bytes <= most) return { kind: first.kind, ...plan };
	return `the joined file would have ${inWords(plan.bytes)} bytes, and at most ${inWords(most)} are allowed ('Max File Size', and never more than 4 GiB)`;
}

function layOut(first: Sound, parts: readonly Sound[], pauseMs: number) {
	const { samplesPerUnit } = first;
	const { sampleRate } = first.format;
	const secondsOf = (count: number) => (count * samplesPerUnit) / sampleRate;
	const exact = (pauseMs * sampleRate) / (1000 * samplesPerUnit);
	const pause = pauseMs > 0 ? Math.max(1, Math.round(exact)) : 0;
	const isConstant = parts.every((part) => part.bitrateIndex === first.bitrateIndex);
	const bitrateIndex = isConstant ? first.bitrateIndex : undefined;
	const silence =
		first.kind === 'mp3' ? silentFrame(first.format, bitrateIndex) : silentSample(first.format);
	const pauseBytes = pause * silence.length;
	const times: Joinable['parts'] = [];
	const doubled: Array<number | undefined> = [];
	let [units, bytes] = [0, 0];
	for (const [index, part] of parts.entries()) {
		if (index > 0) {
			units += pause;
			bytes += pauseBytes;
		}
		times.push({ start: secondsOf(units), end: secondsOf(units + part.units) });
		const copies = isMono(part) ? first.format.channels : 1;
		const isDoubled = copies === 2 && part.kind === 'wav';
		doubled.push(isDoubled ? part.format.blockBytes : undefined);
		units += part.units;
		bytes += part.bytes * copies;
	}
	const head =
		first.kind === 'mp3'
			? infoFrame(first.format, { frames: units, bytes, bitrateIndex })
			: wavHeader(first.format, bytes);
	// Chunks of a WAV file have an even size.
	const padding = Buffer.alloc(first.kind === 'wav' ? bytes % 2 : 0);
	return {
		head,
		doubled,
		ranges: parts.map(({ ranges }) => ranges),
		silence,
		pauseBytes,
		padding,
		parts: times,
		durationSeconds: secondsOf(units),
		bytes: head.length + bytes + padding.length,
	};
}

function* repeated(pattern: Buffer, length: number): Generator<Buffer> {
	const times = Math.max(1, Math.floor(65_536 / pattern.length));
	const block = Buffer.alloc(Math.min(length, times * pattern.length), pattern);
	for (let left = length; left > 0; left -= block.length) yield block.subarray(0, left);
}

async function* cutRanges(chunks: AsyncIterable<Buffer>, ranges: readonly ByteRange[]) {
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

/** Writes each sample for two channels. */
async function* inStereo(chunks: AsyncIterable<Buffer>, bytes: number) {
	let rest: Buffer = Buffer.alloc(0);
	for await (const chunk of chunks) {
		const given = Buffer.concat([rest, chunk]);
		const end = given.length - (given.length % bytes);
		const stereo = Buffer.alloc(end * 2);
		for (let at = 0; at < end; at += bytes) {
			given.copy(stereo, at * 2, at, at + bytes);
			given.copy(stereo, at * 2 + bytes, at, at + bytes);
		}
		rest = given.subarray(end);
		yield stereo;
	}
}

/** Yields the joined file: each part (from 0) is opened in its turn, read once and closed. Throws if one has become shorter. */
export async function* joinedChunks(
	{ head, ranges, doubled, silence, pauseBytes, padding }: Joinable,
	openPart: (index: number) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
	yield head;
	for (const [index, wanted] of ranges.entries()) {
		if (index > 0) yield* repeated(silence, pauseBytes);
		const sound = cutRanges(openPart(index), wanted);
		const bytes = doubled[index];
		yield* bytes === undefined ? sound : inStereo(sound, bytes);
	}
	if (padding.length > 0) yield padding;
}
