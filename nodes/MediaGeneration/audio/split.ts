/** Cuts a long text into parts that can be spoken one by one, in linear time. */
import type { Work } from '../base/clock';

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
/** Scripts without spaces have this punctuation. */
const WIDE_SENTENCE_END = /[。！？｡][\p{Pe}\p{Pf}"']{0,4}$/u;
/** Marks that belong to the character before them. */
const ATTACHED = /^[\p{M}\p{Pe}\p{Pf}"'\u200d\p{Emoji_Modifier}。！？｡]/u;
const BLANK_LINE = /[^\S\r\n]*(?:[\f\u2029]|(?:\r\n?|\n)[^\S\r\n]*[\r\n\f\u2029])/y;
const LINE_END = /[^\S\r\n]*[\r\n]/y;

const isSpace = (text: string, at: number) => /\s/.test(text.charAt(at));

const startsAt = (pattern: RegExp, text: string, at: number) => {
	pattern.lastIndex = at;
	return pattern.test(text);
};

const before = (text: string, at: number, characters: number) =>
	text.slice(Math.max(0, at - characters), at);

function sentenceEnds(text: string, at: number): boolean {
	const head = before(text, at, 9);
	if (!SENTENCE_END.test(head) || ABBREVIATION.test(head) || ELLIPSIS.test(head)) return false;
	return !CONTINUES.test(text.slice(at, at + 16));
}

/** Two parts may meet there: the first one ends at `at`, with or without spaces after it. */
type IsPlace = (text: string, at: number) => boolean;

/** Accepts a place before spaces, or one between two characters that `wide` accepts. */
function place(beforeSpaces: IsPlace, wide?: RegExp): IsPlace {
	return (text, at) => {
		if (isSpace(text, at)) return !isSpace(text, at - 1) && beforeSpaces(text, at);
		if (wide === undefined || text.charCodeAt(at - 1) < 128) return false;
		return wide.test(before(text, at, 6)) && !ATTACHED.test(text.slice(at, at + 2));
	};
}

const paragraphs = place(
	(text, at) =>
		startsAt(BLANK_LINE, text, at) || (startsAt(LINE_END, text, at) && sentenceEnds(text, at)),
);
const sentences = place(sentenceEnds, WIDE_SENTENCE_END);
const words = place(() => true);

/** The best places to end a part come first. `least` and `most` are shares of an even part's length. */
const PLACES = [
	{ isPlace: paragraphs, least: 0.8, most: 1.2 },
	{ isPlace: sentences, least: 0.5, most: Infinity },
	{ isPlace: words, least: 0, most: Infinity },
];

/** Services read such brackets as tags, e.g. `<break time="1.5s" />` and `[whispers]`. A lone one, and a longer one, is text. */
const TAG = /<[^<>]{1,300}>|\[[^[\]]{1,300}\]/g;

/** Maps a place to the tag around it. */
type Tags = ReadonlyMap<number, { start: number; end: number }>;

/** @param limit of the part that begins at `from`: tags for which no part has room may be cut */
function tagsIn(text: string, from: number, limit: number): Tags {
	const tags = new Map<number, { start: number; end: number }>();
	for (const { index, 0: tag } of text.slice(from, limit + 302).matchAll(TAG)) {
		const [start, end] = [from + index, from + index + tag.length];
		if (tag.length > limit - from || start >= limit) continue;
		for (let at = start + 1; at < end; at += 1) tags.set(at, { start, end });
	}
	return tags;
}

/** A part begins at `from`, should end near `ideal`, and must end at `limit` or before. */
interface SplitRange {
	from: number;
	ideal: number;
	limit: number;
	/** No part ends in one of these. */
	tags: Tags;
}

function* nearest(
	text: string,
	{ from, ideal, limit, tags }: SplitRange,
	isPlace: IsPlace,
): Work<number | undefined> {
	const fits = (at: number) => isPlace(text, at) && !tags.has(at);
	const farthest = Math.max(ideal - from, limit - ideal);
	for (let distance = 0; distance <= farthest; distance += 1) {
		if (distance % 10_000 === 9_999) yield;
		if (ideal + distance <= limit && fits(ideal + distance)) return ideal + distance;
		if (ideal - distance > from && fits(ideal - distance)) return ideal - distance;
	}
	return undefined;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts a text without spaces: before the last grapheme that does not fit, else between two code points. */
function anywhere(text: string, { from, limit }: SplitRange): number {
	// This much text around a place shows where graphemes begin.
	const begin = Math.max(from, limit - 256);
	const window = graphemes.segment(text.slice(begin, limit + 64));
	const { index = 0 } = window.containing(limit - begin) ?? {};
	if (index > 0) return begin + index;
	const inPair = (text.codePointAt(limit - 1) ?? 0) > 0xffff;
	return inPair ? limit - 1 : limit;
}

function* endOfPart(text: string, wanted: SplitRange): Work<number> {
	const { from, ideal, limit, tags } = wanted;
	for (const { isPlace, least, most } of PLACES) {
		const within: SplitRange = {
			from: from + Math.floor((ideal - from) * least),
			ideal,
			limit: Math.min(limit, from + Math.ceil((ideal - from) * most)),
			tags,
		};
		const at = yield* nearest(text, within, isPlace);
		if (at !== undefined) return at;
	}
	const at = anywhere(text, wanted);
	const tag = tags.get(at) ?? { start: at, end: at };
	return tag.start > from ? tag.start : tag.end;
}

/**
 * Makes parts of about the same length, each of at most `most` characters (JavaScript's, which are never fewer than a reader's). A part
 * ends with a paragraph where one ends near an even part's length, else with a sentence, a word, and at last with a grapheme,
 * never within a tag. Only spaces at the cuts are left out. @param most a whole number of at least 2
 */
export function* splitText(text: string, most: number): Work<string[]> {
	const body = text.trim();
	const parts: string[] = [];
	let from = 0;
	while (body.length - from > most) {
		const left = body.length - from;
		const ideal = from + Math.floor(left / Math.ceil(left / most));
		const limit = from + most;
		const at = yield* endOfPart(body, { from, ideal, limit, tags: tagsIn(body, from, limit) });
		yield;
		parts.push(body.slice(from, at));
		from = at;
		while (isSpace(body, from)) from += 1;
	}
	if (from < body.length) parts.push(body.slice(from));
	return parts;
}
