/** SubRip subtitles: read as leniently as players do, written as strictly as the strictest of them wants it. Pure. */

export interface Cue {
	startMs: number;
	endMs: number;
	/** One or more lines. */
	text: string;
}

const TIME = String.raw`(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[,.](\d{1,3})\d*)?`;
const TIMES = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(?:\s.*)?$`);

/** "1:02:03,4" is 4 tenths of a second after 1:02:03. */
function inMs([hours = '0', minutes = '0', seconds = '0', fraction = '0']: Array<
	string | undefined
>) {
	const ms = Number(fraction.padEnd(3, '0'));
	return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + ms;
}

const isBlank = (line: string | undefined) => line?.trim() === '';

/** Which of the lines between two times is the number of the next cue, if one is: a number alone, apart from the text. */
function numberAt(lines: readonly string[]): number {
	const at = lines.flatMap((line, index) => (isBlank(line) ? [] : [index])).at(-1) ?? -1;
	const isApart = at === lines.length - 1 || isBlank(lines[at - 1]);
	return isApart && /^\s*\d+\s*$/.test(lines[at] ?? '') ? at : lines.length;
}

function textOf(lines: readonly string[], isLast: boolean): string {
	return lines
		.slice(0, isLast ? lines.length : numberAt(lines))
		.filter((line) => !isBlank(line))
		.map((line) => line.trimEnd())
		.join('\n');
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

/**
 * The cues of subtitles; numbers, blank lines and hours may be missing. An empty text has no cues; undefined where the text is
 * something else.
 */
export function parseSrt(text: string): Cue[] | undefined {
	const lines = text.split(/\r\n|\r|\n/);
	const times = lines.flatMap((line, at) => {
		const match = TIMES.exec(line);
		if (match === null) return [];
		return [{ at, startMs: inMs(match.slice(1, 5)), endMs: inMs(match.slice(5, 9)) }];
	});
	if (times.length === 0) return text.trim() === '' ? [] : undefined;
	const cues = times.map(({ at, startMs, endMs }, index): Cue => {
		const next = times[index + 1]?.at;
		return { startMs, endMs, text: textOf(lines.slice(at + 1, next), next === undefined) };
	});
	return inOrder(cues.filter((cue) => cue.text !== ''));
}

function shown(ms: number): string {
	const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');
	const seconds = Math.floor(ms / 1000);
	const minutes = Math.floor(seconds / 60);
	const time = [Math.floor(minutes / 60), minutes % 60, seconds % 60].map((value) => pad(value));
	return `${time.join(':')},${pad(ms % 1000, 3)}`;
}

/** Numbered from 1, a blank line between cues. */
export function writeSrt(cues: readonly Cue[]): string {
	return cues
		.map(
			({ startMs, endMs, text }, index) =>
				`${index + 1}\n${shown(startMs)} --> ${shown(endMs)}\n${text}\n`,
		)
		.join('\n');
}
