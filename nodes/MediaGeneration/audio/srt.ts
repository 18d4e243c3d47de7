/** Reads SubRip subtitles as leniently as players do, and writes them as strictly as the strictest player needs them. */
import type { Work } from '../base/work';
import { TRANSCRIPT } from '../base/bounds';

/** Text that is spoken from `start` to `end`, in seconds. */
export interface Spoken {
	text: string;
	start: number;
	end: number;
}

const TIME = String.raw`(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[,.](\d{1,3})\d*)?`;
const TIMES = new RegExp(String.raw`^\s*${TIME}\s*-->\s*${TIME}(?:\s.*)?$`);

/** "1:02:03,4" means 4 tenths of a second after 1:02:03. */
function inSeconds(found: string[]): number {
	const [hours = 0, minutes = 0, seconds = 0, fraction = ''] = found;
	const ms = Number(fraction.padEnd(3, '0'));
	return (((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + ms) / 1000;
}

/** Numbers, blank lines and hours may be missing. Returns undefined if the text is something else. */
export function* parseSrt(text: string): Work<Spoken[] | undefined> {
	if (text.length > TRANSCRIPT.bytes) return undefined;
	const cues: Array<{ start: number; end: number; lines: string[] }> = [];
	let lines: string[] = [];
	const isVtt = /^\ufeff?\s*WEBVTT/.test(text);
	for (const [number, line] of text.split(/\r\n?|\n/).entries()) {
		if (number % 1_000 === 999) yield;
		const times = TIMES.exec(line);
		if (times === null) {
			// What follows such a word is not spoken: until the next times, nobody gets it.
			const isNote = isVtt && /^(NOTE|STYLE|REGION)(\s|$)/.test(line) && !lines.at(-1);
			if (isNote) lines = [];
			if (line.trim() !== '' || lines.length > 0) lines.push(line.trimEnd());
			continue;
		}
		// The number of this cue, above its times.
		if (/^\s*\d+$/.test(lines.at(-1) ?? '')) lines.pop();
		lines = [];
		cues.push({ start: inSeconds(times.slice(1, 5)), end: inSeconds(times.slice(5, 9)), lines });
	}
	if (cues.length === 0 && lines.length > 0) return undefined;
	const spoken: Spoken[] = [];
	for (const { start, end, lines: all } of cues) {
		if (spoken.length % 1_000 === 999) yield;
		const said = all.filter(Boolean).join('\n');
		if (said !== '') spoken.push({ text: said, start, end: Math.max(start, end) });
	}
	return spoken;
}

function timestamp(time: number): string {
	const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');
	const ms = Math.round(time * 1000);
	const seconds = Math.floor(ms / 1000);
	const minutes = Math.floor(seconds / 60);
	return `${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}:${pad(seconds % 60)},${pad(ms % 1000, 3)}`;
}

/** Cues are numbered from 1, with a blank line between them. @param index from 0 */
export function writeCue({ start, end, text }: Spoken, index: number): string {
	return `${index + 1}\n${timestamp(start)} --> ${timestamp(end)}\n${text}\n`;
}
