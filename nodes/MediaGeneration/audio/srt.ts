/** Reads SubRip subtitles as leniently as players do, and writes them as strictly as the strictest player needs them. */
/** Text that is spoken from `start` to `end`, in seconds. */
export interface Spoken {
	text: string;
	start: number;
	end: number;
}

/** More than a day of speech has. Sorting them does not block the event loop for long. */
export const MOST_CUES = 50_000;

const TIME = String.raw`(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[,.](\d{1,3})\d*)?`;
const TIMES = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(?:\s.*)?$`);

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

/** Returns the line after a cue's last one. The number of the next times, alone or right above them, belongs to those. */
function endOfCue(lines: readonly string[], next: number): number {
	let last = next - 1;
	while (lines[last] === '') last -= 1;
	const mayBeNumber = last === next - 1 || lines[last - 1] === '';
	return mayBeNumber && /^\s*\d+$/.test(lines[last] ?? '') ? last : last + 1;
}

/** Numbers, blank lines and hours may be missing. Returns undefined if the text is something else, or has more than `MOST_CUES`. */
export function parseSrt(text: string): Spoken[] | undefined {
	const lines = text.split(/\r\n?|\n/).map((line) => line.trimEnd());
	const found = lines.flatMap((line, at) => {
		const times = TIMES.exec(line);
		return times === null ? [] : [{ at, times }];
	});
	if (found.length > MOST_CUES || lines.length > 20 * MOST_CUES) return undefined;
	if (found.length === 0) return lines.every((line) => line === '') ? [] : undefined;
	const cues = found.map(({ at, times }, index) => {
		const next = found[index + 1]?.at;
		const end = next === undefined ? lines.length : endOfCue(lines, next);
		const said = lines.slice(at + 1, end).filter((line) => line !== '');
		return {
			text: said.join('\n'),
			start: inSeconds(times.slice(1, 5)),
			end: inSeconds(times.slice(5, 9)),
		};
	});
	return inOrder(cues.filter((cue) => cue.text !== ''));
}

export const inMs = (seconds: number): number => Math.round(seconds * 1000);

function timestamp(time: number): string {
	const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');
	const ms = inMs(time);
	const seconds = Math.floor(ms / 1000);
	const minutes = Math.floor(seconds / 60);
	return `${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}:${pad(seconds % 60)},${pad(ms % 1000, 3)}`;
}

/** Cues are numbered from 1, with a blank line between them. @param index from 0 */
export function writeCue({ start, end, text }: Spoken, index: number): string {
	return `${index + 1}\n${timestamp(start)} --> ${timestamp(end)}\n${text}\n`;
}
