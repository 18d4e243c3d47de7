/** Transcripts of parts put together, so that their times fit the joined sound. Pure. */
import type { Work } from '../service/clock';
import { inWords, type NameOf, partName } from './sound';
import { type Cue, MOST_CUES, parseSrt, writeCue } from './srt';
import { parseWords, type Segment, spokenOf, writeSegment } from './words';

export interface Spoken {
	text: string;
	start: number;
	end: number;
}

export type Merged = { merged: true; text: string } | { merged: false; reason: string };

const STEP_VALUES = 500;
const TOO_MANY = `The transcripts together have more than ${inWords(MOST_CUES)} entries.`;

const inMs = (seconds: number) => Math.round(seconds * 1000);

/** When something that is said `ms` after a part's beginning is said in the joined sound: never outside the part. */
function shifted(ms: number, part: Spoken): number {
	const [first, last] = [inMs(part.start), inMs(part.end)];
	return Math.min(Math.max(first + ms, first), last);
}

interface Format<T> {
	name: string;
	read(text: string): Work<T[] | undefined>;
	/** A value with its times in the joined sound, as it is written. @param index from 0 */
	write(value: T, part: Spoken, index: number): string | Work<string>;
	whole(written: string[]): string;
}

const SRT: Format<Cue> = {
	name: `a SubRip file of at most ${inWords(MOST_CUES)} cues`,
	read: parseSrt,
	write(cue, part, index) {
		const startMs = shifted(cue.startMs, part);
		return writeCue({ ...cue, startMs, endMs: shifted(cue.endMs, part) }, index);
	},
	whole: (cues) => cues.join('\n'),
};

const WORDS: Format<Segment> = {
	name: 'a list of timed words',
	read: parseWords,
	write(segment, part) {
		return writeSegment(segment, (seconds) => shifted(inMs(seconds), part) / 1000);
	},
	whole: (segments) => `[${segments.join(',')}]`,
};

function* merge<T>(parts: readonly Spoken[], format: Format<T>, nameOf: NameOf): Work<Merged> {
	const written: string[] = [];
	for (const [index, part] of parts.entries()) {
		const values = yield* format.read(part.text);
		if (values === undefined) {
			const reason = `The transcript of ${nameOf(index)} can't be read: it is not ${format.name}.`;
			return { merged: false, reason };
		}
		if (written.length + values.length > MOST_CUES) return { merged: false, reason: TOO_MANY };
		for (const value of values) {
			const one = format.write(value, part, written.length);
			const length = written.push(typeof one === 'string' ? one : yield* one);
			if (length % STEP_VALUES === 0) yield;
		}
	}
	return { merged: true, text: format.whole(written) };
}

export const mergeSrt = (parts: readonly Spoken[], nameOf = partName) => merge(parts, SRT, nameOf);

/** The same for transcripts in JSON, word by word. Whatever else they say about a word is kept. */
export const mergeWords = (parts: readonly Spoken[], nameOf = partName) =>
	merge(parts, WORDS, nameOf);

/** What a transcript says, in SRT or JSON; undefined where it is neither. */
export function* transcriptOf(transcript: string): Work<Spoken[] | undefined> {
	// A byte order mark counts as a space.
	if (/^\s*[[{]/.test(transcript)) return (yield* parseWords(transcript))?.flatMap(spokenOf);
	const cues = yield* parseSrt(transcript);
	return cues?.map(({ text, startMs, endMs }) => ({
		text,
		start: startMs / 1000,
		end: endMs / 1000,
	}));
}
