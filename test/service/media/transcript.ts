import { toneSeconds } from './tone';

interface Word {
	text: string;
	startMs: number;
	endMs: number;
}

/** The words of a text, spread evenly over its tone. */
function words(text: string): Word[] {
	const parts = text.split(/\s+/).filter((part) => part !== '');
	const eachMs = (toneSeconds(text) * 1000) / Math.max(1, parts.length);
	return parts.map((part, index) => ({
		text: part,
		startMs: Math.round(index * eachMs),
		endMs: Math.round((index + 1) * eachMs),
	}));
}

function srtTime(ms: number): string {
	const pad = (value: number, length = 2) => String(value).padStart(length, '0');
	const seconds = Math.floor(ms / 1000);
	return `${pad(Math.floor(seconds / 3600))}:${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)},${pad(ms % 1000, 3)}`;
}

/** SubRip subtitles, six words a cue. */
export function transcriptSrt(text: string): Buffer {
	const all = words(text);
	const cues: string[] = [];
	for (let first = 0; first < all.length; first += 6) {
		const cue = all.slice(first, first + 6);
		const from = srtTime(cue[0]?.startMs ?? 0);
		const to = srtTime(cue[cue.length - 1]?.endMs ?? 0);
		cues.push(`${cues.length + 1}\n${from} --> ${to}\n${cue.map((word) => word.text).join(' ')}\n`);
	}
	return Buffer.from(cues.join('\n'));
}

/** The same as JSON, word by word, times in seconds. */
export function transcriptJson(text: string): Buffer {
	const timed = words(text).map((word) => ({
		word: word.text,
		start: word.startMs / 1000,
		end: word.endMs / 1000,
	}));
	return Buffer.from(JSON.stringify({ text, words: timed }));
}
