/** Cuts a long text into parts that can be spoken one by one, in linear time. */
import type { Work } from '../base/work';

/** A capital letter or a number often follows them. A wrong entry does no harm: the text is then cut at the next sentence. */
const ABBREVIATIONS = [
	'adm|approx|art|ave|bd|bros|bzw|ca|cap|capt|cf|ch|co|col|corp|dept|dr|dra|ed|eds|eq|etc|ex|fig|figs|gen|gov|hon|hr',
	'inc|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|okt|nov|dec|dez|jr|lt|ltd|ltda|maj|messrs|mio|mlle|mme|mr|mrd|mrs|ms|mt',
	'nr|no|nos|núm|op|pag|pág|ph|pp|prof|rev|sen|sgt|sr|sra|srta|st|sta|ste|str|tel|ud|uds|usw|vgl|vol|vols|vs',
].join('|');
/** A single letter stands for initials, "U.S.", "z. B." and the like; up to three digits for "am 3. Mai". */
const ABBREVIATION = new RegExp(
	`(?:^|[^\\p{L}\\p{N}])(?:\\p{L}|${ABBREVIATIONS})\\.$|(?:^|[^\\p{L}\\p{N}.,])\\p{N}{1,3}\\.$`,
	'iu',
);
const ELLIPSIS = /(?:\.\s?\.|…)[\p{Pe}\p{Pf}\p{Pi}"']{0,4}$/u;
const SENTENCE_END = /\p{STerm}[\p{Pe}\p{Pf}\p{Pi}"']{0,4}$/u;
/** The sentence continues in `"Stop!" he said.` */
const CONTINUES = /^\s+[\p{Ps}\p{Pi}"'¿¡]*\p{Ll}/u;
/** Scripts without spaces have this punctuation. What belongs to the character before it may not follow. */
const WIDE_SENTENCE_END =
	/[。！？｡][\p{Pe}\p{Pf}"']{0,4}(?![\s\p{M}\p{Pe}\p{Pf}"'\u200d\p{Emoji_Modifier}。！？｡])/u;
const BLANK_LINE = /[\f\u2029]|(?:\r\n?|\n)[^\S\r\n]*[\r\n\f\u2029]/;

const MOST_IN_TAG = 300;
/** Finds spaces, wide ends, and what services read as tags, e.g. `<break time="1.5s" />` and `[whispers]`. A longer one, and a lone bracket, is text. */
function patternFor(most: number): RegExp {
	const inTag = Math.min(MOST_IN_TAG, most - 2);
	const tag = `<[^<>]{1,${inTag}}>|\\[[^\\[\\]]{1,${inTag}}\\]`;
	return new RegExp(`(?<tag>${tag})|\\s+|${WIDE_SENTENCE_END.source}`, 'gu');
}

function sentenceEnds(text: string, at: number): boolean {
	const head = text.slice(Math.max(0, at - 9), at);
	if (!SENTENCE_END.test(head) || ABBREVIATION.test(head) || ELLIPSIS.test(head)) return false;
	return !CONTINUES.test(text.slice(at, at + 16));
}

/** A place where a part can end. */
interface CutPlace {
	at: number;
	/** Index in {@link KINDS}. */
	kind: number;
}

/** Paragraphs, sentences and words: the best places come first. `least` and `most` are shares of an even part's length. */
const KINDS = [
	{ least: 0.8, most: 1.2 },
	{ least: 0.5, most: Infinity },
	{ least: 0, most: Infinity },
];

function kindOf(isSentence: boolean, gap: string): number {
	if (BLANK_LINE.test(gap) || (isSentence && /[\r\n]/.test(gap))) return 0;
	return isSentence ? 1 : 2;
}

function nearest(places: readonly CutPlace[], ideal: number): number | undefined {
	for (const [kind, { least, most }] of KINDS.entries()) {
		const fitting = places.filter(
			(place) => place.kind <= kind && place.at >= ideal * least && place.at <= ideal * most,
		);
		const distance = ({ at }: CutPlace) => Math.abs(at - ideal);
		const [first] = fitting.sort((one, other) => distance(one) - distance(other));
		if (first !== undefined) return first.at;
	}
	return undefined;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts a text without spaces: before the last grapheme that does not fit, else between two code points. */
function anywhere(text: string, most: number): number {
	// This much text around a place shows where graphemes begin.
	const begin = Math.max(0, most - 256);
	const around = graphemes.segment(text.slice(begin, most + 64));
	const { index = 0 } = around.containing(most - begin) ?? {};
	if (index > 0) return begin + index;
	const inPair = (text.codePointAt(most - 1) ?? 0) > 0xffff;
	return inPair ? most - 1 : most;
}

interface Wanted {
	/** An even part's length. */
	ideal: number;
	most: number;
	pattern: RegExp;
}

/** @param text from the beginning of a part, and beyond its longest possible end */
function* endOfPart(text: string, { ideal, most, pattern }: Wanted): Work<number> {
	const places: CutPlace[] = [];
	const tags: Array<{ start: number; end: number }> = [];
	for (const { index, 0: found, groups } of text.matchAll(pattern)) {
		const end = index + found.length;
		const isWide = /\S/.test(found);
		const at = isWide ? end : index;
		if (groups?.tag !== undefined) tags.push({ start: index, end });
		else if (at > most) break;
		else places.push({ at, kind: kindOf(isWide || sentenceEnds(text, at), found) });
		if (places.length % 1_000 === 999) yield;
	}
	const place = nearest(places, ideal);
	if (place !== undefined) return place;
	const at = anywhere(text, most);
	const tag = tags.find(({ start, end }) => start < at && at < end);
	// An emoji counts as two characters, so a tag can be longer than a part.
	return [tag?.start, tag?.end].find((end = 0) => end > 0 && end <= most) ?? at;
}

/**
 * Makes parts of about the same length, each of at most `most` characters (JavaScript's, which are never fewer than a reader's). A part
 * ends with a paragraph where one ends near an even part's length, else with a sentence, a word, and at last with a grapheme,
 * never within a tag. Only spaces at the cuts are left out. @param most a whole number of at least 3
 */
export function* splitText(text: string, most: number): Work<string[]> {
	const pattern = patternFor(most);
	const parts: string[] = [];
	let rest = text.trim();
	while (rest.length > most) {
		const ideal = Math.floor(rest.length / Math.ceil(rest.length / most));
		const window = rest.slice(0, most + MOST_IN_TAG + 2);
		const at = yield* endOfPart(window, { ideal, most, pattern });
		yield;
		parts.push(rest.slice(0, at));
		rest = rest.slice(at).trimStart();
	}
	return rest === '' ? parts : [...parts, rest];
}
