/** SubRip subtitles: read as leniently as players do, written as strictly as the strictest of them wants it. Pure. */
import type { Work } from '../service/clock';

export interface Cue {
	startMs: number;
	endMs: number;
	text: string;
}

/** More cues than a day of speech has; sorting them takes less than the event loop can wait. */
export const MOST_CUES = 50_000;
/** Counted without blank lines. */
const MOST_LINES = 10 * MOST_CUES;
const STEP_CHARACTERS = 100_000;

const TIME = String.raw`(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[,.](\d{1,3})\d*)?`;
const TIMES = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(?:\s.*)?$`);
/** A longer line is none of a subtitle. */
const LINE = /([^\r\n]{0,100000})(?:\r\n?|\n|$)/y;

/** "1:02:03,4" is 4 tenths of a second after 1:02:03. */
function inMs([hours = '0', minutes = '0', seconds = '0', fraction = '0']: Array<
	string | undefined
>) {
	const ms = Number(fraction.padEnd(3, '0'));
	return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + ms;
}

interface Line {
	text: string;
	isApart: boolean;
}

/**
 * The lines that are not blank, and a blank one at the end, which is missing where there is more than subtitles have. Undefined
 * is a place to let others run.
 */
function* linesOf(text: string): Generator<Line | undefined> {
	let isApart = false;
	let begin = 0;
	let worked = 0;
	for (let lines = 0; begin < text.length && lines <= MOST_LINES; lines += isApart ? 0 : 1) {
		LINE.lastIndex = begin;
		const found = LINE.exec(text);
		if (found === null) return;
		const line = (found[1] ?? '').trimEnd();
		if (line !== '') yield { text: line, isApart };
		isApart = line === '';
		begin += found[0].length;
		if (begin - worked > STEP_CHARACTERS) {
			worked = begin;
			yield undefined;
		}
	}
	if (begin >= text.length) yield { text: '', isApart };
}

/** In order of time; a cue that is still shown when the next one comes is shortened. */
function inOrder(cues: readonly Cue[]): Cue[] {
	const sorted = [...cues].sort((one, other) => one.startMs - other.startMs);
	return sorted.map((cue, index) => {
		const next = sorted[index + 1]?.startMs ?? Infinity;
		const endMs = next > cue.startMs ? Math.min(cue.endMs, next) : cue.endMs;
		return { ...cue, endMs: Math.max(cue.startMs, endMs) };
	});
}

/** A cue on its way; its last line may turn out to be the number of the next one. */
interface OpenCue extends Omit<Cue, 'text'> {
	lines: Line[];
}

function closed({ startMs, endMs, lines }: OpenCue, next: Line | undefined): Cue | undefined {
	const last = lines.at(-1);
	// A number alone, apart from the text or right above the next times.
	const isNumber =
		last !== undefined &&
		next !== undefined &&
		(last.isApart || !next.isApart) &&
		/^\s*\d+$/.test(last.text);
	const own = isNumber ? lines.slice(0, -1) : lines;
	return own.length === 0
		? undefined
		: { startMs, endMs, text: own.map(({ text }) => text).join('\n') };
}

/**
 * The cues of subtitles; numbers, blank lines and hours may be missing. An empty text has no cues; undefined where the text is
 * something else, or has more than `MOST_CUES`.
 */
export function* parseSrt(text: string): Work<Cue[] | undefined> {
	const cues: Cue[] = [];
	let open: OpenCue | undefined;
	let isEmpty = true;
	let isWhole = false;
	for (const line of linesOf(text)) {
		if (line === undefined) {
			yield;
			continue;
		}
		const times = line.text.includes('-->') ? TIMES.exec(line.text) : null;
		const isEnd = line.text === '';
		if (times !== null || isEnd) {
			const cue = open && closed(open, isEnd ? undefined : line);
			if (cue !== undefined) cues.push(cue);
			if (cues.length > MOST_CUES) return undefined;
		}
		if (times !== null)
			open = { startMs: inMs(times.slice(1, 5)), endMs: inMs(times.slice(5, 9)), lines: [] };
		else if (!isEnd) open?.lines.push(line);
		isEmpty &&= isEnd;
		isWhole = isEnd;
	}
	if (!isWhole || (open === undefined && !isEmpty)) return undefined;
	return inOrder(cues);
}

function shown(ms: number): string {
	const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');
	const seconds = Math.floor(ms / 1000);
	const minutes = Math.floor(seconds / 60);
	const time = [Math.floor(minutes / 60), minutes % 60, seconds % 60].map((value) => pad(value));
	return `${time.join(':')},${pad(ms % 1000, 3)}`;
}

/** @param index from 0; cues are numbered from 1, with a blank line between them */
export function writeCue({ startMs, endMs, text }: Cue, index: number): string {
	return `${index + 1}\n${shown(startMs)} --> ${shown(endMs)}\n${text}\n`;
}
