/** Cutting a long text into parts that can be spoken one by one. Pure. */
import { type Cut, FINER, type Place, type Range, sentencePlaces, trimmed } from './cuts';

/** A piece of the text that is not cut any further, without the spaces around it. */
interface Piece extends Range {
	/** How good a cut after it is. */
	cut: Cut;
}

/**
 * What a cut costs, beside the square of a part's distance from an even share: the end of a sentence is preferred to that of a
 * paragraph where that saves two parts a distance of a fifth of their size.
 */
const COST: Record<Cut, number> = {
	paragraph: 0,
	sentence: 0.08,
	clause: 1,
	space: 2,
	word: 3,
	grapheme: 4,
};
/** Pieces are put together up to this share of a part: the effort then grows with the text's length alone. */
const SMALLEST_SHARE = 1 / 100;
/** Where there are no spaces, a place to cut in this share of a part is enough. */
const STRIDE_SHARE = 1 / 20;

/** Cuts a piece at some places; what is left of it ends as the piece itself did. */
function* cutAt(text: string, piece: Piece, places: Iterable<Place>): Generator<Piece> {
	let { from } = piece;
	for (const { at, cut } of places) {
		const range = trimmed(text, { from, to: at });
		if (range.to > range.from) yield { ...range, cut };
		from = at;
	}
	yield { ...trimmed(text, { from, to: piece.to }), cut: piece.cut };
}

/** The last resort, for a grapheme longer than a part: between code points. */
function* codePoints({ from, to }: Range, text: string, maxCharacters: number): Generator<Place> {
	let at = from + maxCharacters;
	while (at < to) {
		const inPair = (text.codePointAt(at - 1) ?? 0) > 0xffff;
		if (inPair && maxCharacters > 1) at -= 1;
		yield { at, cut: 'grapheme' };
		at += maxCharacters;
	}
}

/** Cuts a piece at ever worse places, until nothing is longer than a part. */
function* finer(text: string, piece: Piece, maxCharacters: number, step = 0): Generator<Piece> {
	const way = FINER[step];
	if (piece.to - piece.from <= maxCharacters || way === undefined) {
		yield* cutAt(text, piece, codePoints(piece, text, maxCharacters));
		return;
	}
	const stride = Math.max(1, Math.floor(maxCharacters * STRIDE_SHARE));
	const places = function* (): Generator<Place> {
		for (const at of way.places(text, piece, stride)) yield { at, cut: way.cut };
	};
	for (const smaller of cutAt(text, piece, places())) {
		yield* finer(text, smaller, maxCharacters, step + 1);
	}
}

/** All pieces of a text in order, the smallest of them put together. */
function piecesOf(text: string, maxCharacters: number): Piece[] {
	const whole: Piece = { from: 0, to: text.length, cut: 'paragraph' };
	const pieces: Piece[] = [];
	for (const sentence of cutAt(text, whole, sentencePlaces(text))) {
		for (const piece of finer(text, sentence, maxCharacters)) {
			const last = pieces.at(-1);
			if (last !== undefined && piece.to - last.from <= maxCharacters * SMALLEST_SHARE) {
				last.to = piece.to;
				last.cut = piece.cut;
			} else pieces.push(piece);
		}
	}
	return pieces;
}

/** Of all ways to put a text's pieces into parts the one that costs least: where each part begins and ends. */
function cheapestParts(text: string, maxCharacters: number): Range[] {
	const pieces = piecesOf(text, maxCharacters);
	const share = text.length / Math.ceil(text.length / maxCharacters);
	/** What the cheapest way to the end of the first `index` pieces costs, and with which piece its last part begins. */
	const costs = new Float64Array(pieces.length + 1).fill(Infinity);
	const begins = new Int32Array(pieces.length + 1);
	costs[0] = 0;
	pieces.forEach((end, index) => {
		for (let first = index; first >= 0; first -= 1) {
			const length = end.to - (pieces[first]?.from ?? 0);
			if (length > maxCharacters) break;
			const cost = (costs[first] ?? 0) + ((length - share) / share) ** 2 + COST[end.cut];
			if (cost < (costs[index + 1] ?? 0)) {
				costs[index + 1] = cost;
				begins[index + 1] = first;
			}
		}
	});
	const parts: Range[] = [];
	for (let end = pieces.length; end > 0; end = begins[end] ?? 0) {
		const [first, last] = [pieces[begins[end] ?? 0], pieces[end - 1]];
		if (first && last) parts.push({ from: first.from, to: last.to });
	}
	return parts.reverse();
}

/**
 * Splits a text into parts of about the same length, each of at most `maxCharacters` (as JavaScript counts the length of
 * a string, which is never less than the number of characters). It is cut between paragraphs where that leaves the parts
 * even, else between sentences; only a sentence that is too long for a part is cut at commas, spaces, words and at last
 * between graphemes. Put together, the parts are the text, apart from the spaces at the cuts. A text of spaces has no parts.
 *
 * @throws RangeError where `maxCharacters` is below 1
 */
export function splitText(text: string, maxCharacters: number): string[] {
	if (!(maxCharacters >= 1)) throw new RangeError('A part of a text has at least one character.');
	const { from, to } = trimmed(text, { from: 0, to: text.length });
	if (to === from) return [];
	const body = text.slice(from, to);
	if (body.length <= maxCharacters) return [body];
	const limit = Math.floor(maxCharacters);
	return cheapestParts(body, limit).map((part) => body.slice(part.from, part.to));
}
