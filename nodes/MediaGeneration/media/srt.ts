/** SubRip subtitles: read as leniently as players do, written as strictly as the strictest of them wants it. Pure. */
import type { Work } from '../service/clock';

export interface Cue {
	startMs: number;
	endMs: number;
	text: string;
}

/** More than a day of speech has; sorting them takes less than the event loop can wait. */
export const MOST_CUES = 50_000;
/** Counted without blank lines. */
const MOST_LINES = 10 * MOST_CUES;
const STEP_CHARACTERS = 100_000;

const TIME = String.raw`(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[,.](\d{1,3})\d*)?`;
const TIMES = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(?:\s.*)?$`);
/** A longer line is none of a subtitle. */
const LINE = /([^\r\n]{0,100000})(?:\r\n?|\n|$)/y;

/** "1:02:03,4" is 4 tenths of a second after 1:02:03. */
function inMs(found: string[]): number {
	const [hours = '0', minutes = '0', seconds = '0', fraction = '0'] = found;
	const ms = Number(fraction.padEnd(3, '0'));
	return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + ms;
}

/** In order of time; a cue that is still shown when the next one comes is shortened. */
function inOrder(cues: Cue[]): Cue[] {
	cues.sort((one, other) => one.startMs - other.startMs);
	return cues.map((cue, index) => {
		const next = cues[index + 1]?.startMs ?? Infinity;
		const endMs = next > cue.startMs ? Math.min(cue.endMs, next) : cue.endMs;
		return { ...cue, endMs: Math.max(cue.startMs, endMs) };
	});
}

interface OpenCue extends Omit<Cue, 'text'> {
	lines: string[];
	isLastApart: boolean;
}

/** @param isNextApart of the next times: the last line may be their number, alone or right above them */
function close(cues: Cue[], open: OpenCue | undefined, isNextApart?: boolean): void {
	if (open === undefined) return;
	const { startMs, endMs, lines, isLastApart } = open;
	const mayBeNumber = isNextApart !== undefined && (isLastApart || !isNextApart);
	const isNumber = mayBeNumber && /^\s*\d+$/.test(lines.at(-1) ?? '');
	const text = lines.slice(0, isNumber ? -1 : undefined).join('\n');
	if (text !== '') cues.push({ startMs, endMs, text });
}

/** Numbers, blank lines and hours may be missing. Undefined where the text is something else, or has more than `MOST_CUES`. */
export function* parseSrt(text: string): Work<Cue[] | undefined> {
	const cues: Cue[] = [];
	let open: OpenCue | undefined;
	let isApart = false;
	let lines = 0;
	for (let [at, worked] = [0, 0]; at < text.length;) {
		LINE.lastIndex = at;
		const [whole, content = ''] = LINE.exec(text) ?? [];
		if (whole === undefined || lines > MOST_LINES || cues.length > MOST_CUES) return undefined;
		at += whole.length;
		const line = content.trimEnd();
		const times = line.includes('-->') ? TIMES.exec(line) : null;
		if (times !== null) {
			close(cues, open, isApart);
			const [startMs, endMs] = [inMs(times.slice(1, 5)), inMs(times.slice(5, 9))];
			open = { startMs, endMs, lines: [], isLastApart: false };
		} else if (line !== '' && open !== undefined) {
			open.lines.push(line);
			open.isLastApart = isApart;
		}
		isApart = line === '';
		lines += isApart ? 0 : 1;
		if (at - worked < STEP_CHARACTERS) continue;
		worked = at;
		yield;
	}
	close(cues, open);
	const isOther = open === undefined && lines > 0;
	return isOther || cues.length > MOST_CUES ? undefined : inOrder(cues);
}

function shown(ms: number): string {
	const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');
	const seconds = Math.floor(ms / 1000);
	const minutes = Math.floor(seconds / 60);
	return `${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}:${pad(seconds % 60)},${pad(ms % 1000, 3)}`;
}

/** @param index from 0; cues are numbered from 1, with a blank line between them */
export function writeCue({ startMs, endMs, text }: Cue, index: number): string {
	return `${index + 1}\n${shown(startMs)} --> ${shown(endMs)}\n${text}\n`;
}
