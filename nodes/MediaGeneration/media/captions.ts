/** Transcripts of parts put together, so that their times fit the joined sound. Pure. */
import { type NameOf, partName } from './sound';
import { type Cue, parseSrt, writeSrt } from './srt';
import { parseWords, type Segment, spanOf, withTimes } from './words';

/** A part's transcript, and when the part begins and ends in the joined sound, in seconds. */
export interface PartTranscript {
	text: string;
	start: number;
	end: number;
}

export type Merged =
	| { merged: true; text: string }
	/** `reason` is a sentence for the user, `part` the part that it is about (from 0). */
	| { merged: false; reason: string; part: number };

/** What was said when, in seconds. */
export interface Spoken {
	text: string;
	start: number;
	end: number;
}

const inMs = (seconds: number) => Math.round(seconds * 1000);
const inSeconds = (ms: number) => ms / 1000;

/** When something that is said `ms` after a part's beginning is said in the joined sound: never outside the part. */
function shifted(ms: number, part: PartTranscript): number {
	const [first, last] = [inMs(part.start), inMs(part.end)];
	return Math.min(Math.max(first + ms, first), last);
}

interface Format<T> {
	name: string;
	read(text: string): T[] | undefined;
	shift(value: T, part: PartTranscript): T;
	write(values: T[]): string;
}

/** The first part that can't be read refuses all. */
function merge<T>(parts: readonly PartTranscript[], format: Format<T>, nameOf: NameOf): Merged {
	const values: T[] = [];
	for (const [index, part] of parts.entries()) {
		const own = format.read(part.text);
		if (own === undefined) {
			const reason = `The transcript of ${nameOf(index)} can't be read: it is not ${format.name}.`;
			return { merged: false, reason, part: index };
		}
		for (const value of own) values.push(format.shift(value, part));
	}
	return { merged: true, text: format.write(values) };
}

/** One SubRip file (SRT) made of those of the parts: numbered from 1, times shifted by the beginning of each part. */
export function mergeSrt(parts: readonly PartTranscript[], nameOf = partName): Merged {
	const format: Format<Cue> = {
		name: 'a SubRip file',
		read: parseSrt,
		shift: (cue, part) => ({
			...cue,
			startMs: shifted(cue.startMs, part),
			endMs: shifted(cue.endMs, part),
		}),
		write: writeSrt,
	};
	return merge(parts, format, nameOf);
}

/** The same for transcripts in JSON, word by word. Whatever else they say about a word is kept. */
export function mergeWords(parts: readonly PartTranscript[], nameOf = partName): Merged {
	const format: Format<Segment> = {
		name: 'a list of timed words',
		read: parseWords,
		shift: (segment, part) =>
			withTimes(segment, (seconds) => inSeconds(shifted(inMs(seconds), part))),
		write: (segments) => JSON.stringify(segments),
	};
	return merge(parts, format, nameOf);
}

/** What a transcript says, in SRT or JSON; undefined where it is neither. */
export function transcriptOf(transcript: string): Spoken[] | undefined {
	// A byte order mark counts as a space.
	const isJson = /^\s*[[{]/.test(transcript);
	if (!isJson) {
		return parseSrt(transcript)?.map(({ text, startMs, endMs }) => ({
			text,
			start: inSeconds(startMs),
			end: inSeconds(endMs),
		}));
	}
	return parseWords(transcript)?.flatMap((segment) => {
		const span = spanOf(segment);
		return span === undefined ? [] : [{ text: segment.text, ...span }];
	});
}
