import { toneSeconds } from './tone';

interface Word {
	text: string;
	startMs: number;
	endMs: number;
}

const WORDS_IN_CUE = 6;
/** Between two words. */
const GAP_MS = 10;

/** The words of a text, spread evenly over its tone, six at a time. */
function cues(text: string): Word[][] {
	const words = text.split(/\s+/).filter((part) => part !== '');
	const eachMs = (toneSeconds(text) * 1000) / Math.max(1, words.length);
	const timed = words.map((word, index) => ({
		text: word,
		startMs: Math.round(index * eachMs),
		endMs: Math.max(Math.round(index * eachMs), Math.round((index + 1) * eachMs) - GAP_MS),
	}));
	const count = Math.ceil(timed.length / WORDS_IN_CUE);
	return Array.from({ length: count }, (_, index) =>
		timed.slice(index * WORDS_IN_CUE, (index + 1) * WORDS_IN_CUE),
	);
}

const sentence = (cue: Word[]) => cue.map(({ text }) => text).join(' ');

function srtTime(ms: number): string {
	const pad = (value: number, length = 2) => String(value).padStart(length, '0');
	const seconds = Math.floor(ms / 1000);
	return `${pad(Math.floor(seconds / 3600))}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)},${pad(ms % 1000, 3)}`;
}

/** SubRip subtitles, six words a cue. */
export function transcriptSrt(text: string): Buffer {
	const written = cues(text).map((cue, index) => {
		const times = `${srtTime(cue[0]?.startMs ?? 0)} --> ${srtTime(cue.at(-1)?.endMs ?? 0)}`;
		return `${index + 1}\n${times}\n${sentence(cue)}\n`;
	});
	return Buffer.from(written.join('\n'));
}

/** The same as JSON, word by word, times in seconds (docs/service.md, "Shapes"). */
export function transcriptJson(text: string): Buffer {
	const seconds = (type: string, { text: word, startMs, endMs }: Word) => ({
		text: word,
		start: startMs / 1000,
		end: endMs / 1000,
		type,
	});
	const segments = cues(text).map((cue) => ({
		text: sentence(cue),
		words: cue.flatMap((word, index) => {
			const next = cue[index + 1];
			const said = seconds('word', word);
			if (next === undefined) return [said];
			const space = { text: ' ', startMs: word.endMs, endMs: next.startMs };
			return [said, seconds('spacing', space)];
		}),
	}));
	return Buffer.from(JSON.stringify(segments));
}
