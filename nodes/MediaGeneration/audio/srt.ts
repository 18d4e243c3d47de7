/** Reads SubRip subtitles as leniently as players do, and writes them as strictly as the strictest of them wants it. */
import type { Work } from '../base/clock';

/** Somebody says this from `start` to `end`, in seconds. */
export interface Spoken {
	text: string;
	start: number;
	end: number;
}

/** More than a day of speech has; sorting them takes less than the event loop can wait. */
export const MOST_CUES = 50_000;

const TIME = String.raw`(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[,.](\d{1,3})\d*)?`;
const TIMES = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(?:\s.*)?$`);
/** A longer line does not belong to a subtitle. */
const LINE = /([^\r\n]{0,100000})(?:\r\n?|\n|$)/y;

/** "1:02:03,4" means 4 tenths of a second after 1:02:03. */
function inSeconds(found: string[]): number {
	const [hours = 0, minutes = 0, seconds = 0, fraction = ''] = found;
	const ms = Number(fraction.padEnd(3, '0'));
	return (((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + ms) / 1000;
}

/** Sorts cues by time, and shortens one that is still shown when the next one comes. */
function inOrder(cues: Spoken[]): Spoken[] {
	cues.sort((one, other) => one.start - other.start);
	return cues.map((cue, index) => {
		const next = cues[index + 1]?.start ?? Infinity;
		const end = next > cue.start ? Math.min(cue.end, next) : cue.end;
		return { ...cue, end: Math.max(cue.start, end) };
	});
}

interface OpenCue extends Omit<Spoken, 'text'> {
	lines: string[];
	isLastApart: boolean;
}

/** The last line may be the number of the next times, alone or right above them. @param isNextApart whether a blank line precedes them */
function close(cues: Spoken[], open: OpenCue | undefined, isNextApart?: boolean): void {
	if (open === undefined) return;
	const { start, end, lines, isLastApart } = open;
	const mayBeNumber = isNextApart !== undefined && (isLastApart || !isNextApart);
	const isNumber = mayBeNumber && /^\s*\d+$/.test(lines.at(-1) ?? '');
	const text = lines.slice(0, isNumber ? -1 : undefined).join('\n');
	if (text !== '') cues.push({ text, start, end });
}

/** Numbers, blank lines and hours may be missing. Returns undefined if the text is something else, or has more than `MOST_CUES`. */
export function* parseSrt(text: string): Work<Spoken[] | undefined> {
	const cues: Spoken[] = [];
	let open: OpenCue | undefined;
	let isApart = false;
	let lines = 0;
	for (let [at, worked] = [0, 0]; at < text.length;) {
		LINE.lastIndex = at;
		const [whole, content = ''] = LINE.exec(text) ?? [];
		if (whole === undefined || lines > 10 * MOST_CUES || cues.length > MOST_CUES) return undefined;
		at += whole.length;
		const line = content.trimEnd();
		const times = TIMES.exec(line);
		if (times !== null) {
			close(cues, open, isApart);
			const [start, end] = [inSeconds(times.slice(1, 5)), inSeconds(times.slice(5, 9))];
			open = { start, end, lines: [], isLastApart: false };
		} else if (line !== '' && open !== undefined) {
			open.lines.push(line);
			open.isLastApart = isApart;
		}
		isApart = line === '';
		lines += isApart ? 0 : 1;
		if (at - worked < 100_000) continue;
		worked = at;
		yield;
	}
	close(cues, open);
	return open === undefined && lines > 0 ? undefined : inOrder(cues);
}

export const inMs = (seconds: number): number => Math.round(seconds * 1000);

function shown(time: number): string {
	const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');
	const ms = inMs(time);
	const seconds = Math.floor(ms / 1000);
	const minutes = Math.floor(seconds / 60);
	return `${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}:${pad(seconds % 60)},${pad(ms % 1000, 3)}`;
}

/** Cues are numbered from 1, with a blank line between them. @param index from 0 */
export function writeCue({ start, end, text }: Spoken, index: number): string {
	return `${index + 1}\n${shown(start)} --> ${shown(end)}\n${text}\n`;
}
