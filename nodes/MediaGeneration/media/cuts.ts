/** Where a text may be cut, from the best places to the worst: paragraphs, sentences, clauses, spaces, words, graphemes. Pure. */

/** What a cut lies between, from the best to the worst. */
export type Cut = 'paragraph' | 'sentence' | 'clause' | 'space' | 'word' | 'grapheme';

/** A place to cut: a new piece can begin at `at`. */
export interface Place {
	at: number;
	cut: Cut;
}

/** The part of a text that is examined: from `from` (inclusive) to `to` (exclusive). */
export interface Range {
	from: number;
	to: number;
}

/** The same on every machine: the language of a text is not known, and the rules hardly differ between languages. */
const LOCALE = 'en';
/** V8 copies the whole text for each segment that it hands out: long texts are segmented in windows of this size. */
const WINDOW = 2048;
/** What follows can change where a sentence ends: places this close to a window's end wait for the next window. */
const LOOKAHEAD = 256;

/**
 * Abbreviations that a capital letter or a number often follows, without their last dot. A wrong entry does no harm: the
 * text is then cut at the next sentence.
 */
const ABBREVIATIONS = [
	'adm|approx|apt|art|ave|bd|bros|bzw|ca|cap|capt|cf|ch|cie|cmdr|co|col|corp|cpl|dept|dott|dr|dra|ed|eds|eq|esq|est|etc',
	'ev|ex|exc|exmo|ff|fig|figs|fr|ft|gen|gov|hon|hr|hrsg|inc|incl|ing|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|okt|nov|dec|dez',
	'jr|lt|ltd|ltda|maj|max|mes|messrs|mgr|mio|min|mlle|mme|mr|mrd|mrs|ms|mt|mtn|nr|no|nos|núm|num|op|orig|pag|pág|par|ph|pp|pres',
	'prof|pt|pvt|red|rep|reps|rev|sec|sen|sens|sgt|sig|sog|sr|sra|srta|ss|st|sta|ste|str|suppl|tel|ud|uds|usw|vgl|viz|vol|vols|vs|zzgl',
].join('|');
/** A single letter stands for initials, "U.S.", "z. B." and the like. */
const ABBREVIATION = new RegExp(`(?:^|[^\\p{L}\\p{N}])(?:\\p{L}|${ABBREVIATIONS})\\.$`, 'iu');
/** "1. First", "am 3. Mai" */
const ORDINAL = /(?:^|[^\p{L}\p{N}.,])\p{N}{1,3}\.$/u;
const CLOSING = `[\\p{Pe}\\p{Pf}\\p{Pi}"']*`;
const ELLIPSIS = new RegExp(`(?:\\.\\s?\\.|…)${CLOSING}$`, 'u');
const TERMINAL = new RegExp(`\\p{STerm}${CLOSING}$`, 'u');
/** `"Stop!" he said.` */
const GOES_ON = /^[\p{Ps}\p{Pi}"'¿¡]*\p{Ll}/u;
const BLANK_LINE = /\n[^\S\n]*\n|[\f\u2029]/;

const SPACE = /\s/;
const OPENING = /[\p{Ps}\p{Pi}]/u;
/** A mark belongs to the character before it, also where that is a space. */
const ATTACHED = /^[\p{M}\u200d\u{1f3fb}-\u{1f3ff}]/u;

/**
 * Commas and the like before a space, line breaks, and the punctuation of scripts that write no spaces. It looks back from
 * the space, a few characters at most: looking for the space from each comma would take long where there are only commas.
 */
const CLAUSE_END = new RegExp(
	`(?<=(?:[,;:!?)\\]}…–—،؛]|\\.\\.)[\\p{Pe}\\p{Pf}\\p{Pi}"']{0,4})\\s+|\\n\\s*|[，、；：。！？—][\\p{Pe}\\p{Pf}"']*\\s*`,
	'gu',
);

/** The range without the spaces at its ends. */
export function trimmed(text: string, { from, to }: Range): Range {
	let [first, last] = [from, to];
	while (first < last && SPACE.test(text.charAt(first))) first += 1;
	while (last > first && SPACE.test(text.charAt(last - 1))) last -= 1;
	return { from: first, to: last };
}

/** Where the sentences that a segmenter finds in a text begin; the first of a window comes once more. */
function* sentenceBegins(text: string): Generator<number> {
	const segmenter = new Intl.Segmenter(LOCALE, { granularity: 'sentence' });
	let from = 0;
	let size = WINDOW;
	while (from < text.length) {
		const end = Math.min(text.length, from + size);
		const trusted = end === text.length ? end : end - LOOKAHEAD;
		let next = from;
		for (const { index } of segmenter.segment(text.slice(from, end))) {
			if (from + index > trusted) break;
			next = from + index;
			yield next;
		}
		if (end === text.length) return;
		// A sentence that is longer than the window needs a larger one.
		size = next === from ? size * 2 : WINDOW;
		from = next;
	}
}

/** How good a cut is between two segments that a sentence segmenter took for sentences; undefined where it was mistaken. */
function sentenceCut(head: string, gap: string, tail: string): Cut | undefined {
	const lines = gap.replace(/\r\n?/g, '\n');
	if (BLANK_LINE.test(lines)) return 'paragraph';
	if (ABBREVIATION.test(head) || ORDINAL.test(head) || ELLIPSIS.test(head)) return undefined;
	if (!TERMINAL.test(head) || GOES_ON.test(tail)) return undefined;
	return lines.includes('\n') ? 'paragraph' : 'sentence';
}

/** The ends of paragraphs and sentences in a text. */
export function* sentencePlaces(text: string): Generator<Place> {
	let last = 0;
	for (const begin of sentenceBegins(text)) {
		let at = begin;
		// Where no space shows which, a quote that opens the next sentence is taken for one that closes the last.
		while (OPENING.test(text.charAt(at - 1))) at -= 1;
		while (SPACE.test(text.charAt(at))) at += 1;
		if (at >= text.length) continue;
		const end = trimmed(text, { from: last, to: at }).to;
		const head = text.slice(Math.max(last, end - 32), end);
		const cut = sentenceCut(head, text.slice(end, at), text.slice(at, at + 16));
		last = at;
		if (cut !== undefined && !ATTACHED.test(text.slice(at, at + 2))) yield { at, cut };
	}
}

/** Where a piece goes on after what an expression finds in it. */
function* after(text: string, { from, to }: Range, ends: RegExp): Generator<number> {
	const piece = text.slice(from, to);
	for (const match of piece.matchAll(ends)) {
		const at = match.index + match[0].length;
		if (at < piece.length && !ATTACHED.test(piece.slice(at, at + 2))) yield from + at;
	}
}

interface Units extends Range {
	granularity: 'word' | 'grapheme';
	/** About how many characters may lie between two places, as not all are needed. */
	stride: number;
}

/** Where words or graphemes begin. */
function* begins(text: string, { from, to, granularity, stride }: Units): Generator<number> {
	const segmenter = new Intl.Segmenter(LOCALE, { granularity });
	let start = from;
	let wanted = from + stride;
	let size = WINDOW + stride;
	while (wanted < to) {
		const end = Math.min(to, start + size);
		const segments = segmenter.segment(text.slice(start, end));
		let begin = start;
		while (wanted < end) {
			const found = segments.containing(wanted - start);
			if (found === undefined) break;
			begin = start + found.index;
			// A part begins with a word, not with the comma after one.
			const fits = begin > from && (granularity === 'grapheme' || found.isWordLike === true);
			if (fits) yield begin;
			wanted = Math.max(begin + found.segment.length, fits ? begin + stride : 0);
		}
		// The last segment may go on after the window; one that fills the window needs a larger one.
		size = begin === start ? size * 2 : WINDOW + stride;
		start = begin;
	}
}

/** The places in a piece that is too long for better ones, from the best kind to the worst. */
export const FINER: ReadonlyArray<{
	cut: Cut;
	places: (text: string, range: Range, stride: number) => Iterable<number>;
}> = [
	{ cut: 'clause', places: (text, range) => after(text, range, CLAUSE_END) },
	{ cut: 'space', places: (text, range) => after(text, range, /\s+/gu) },
	{
		cut: 'word',
		places: (text, range, stride) => begins(text, { ...range, stride, granularity: 'word' }),
	},
	{
		cut: 'grapheme',
		places: (text, range, stride) => begins(text, { ...range, stride, granularity: 'grapheme' }),
	},
];
