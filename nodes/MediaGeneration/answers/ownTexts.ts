/** The texts of a request, which services quote in their answers, often only in part. */
import { MAX_DEPTH } from '../base/bounds';
import { getOrCreate } from '../base/boundedMap';
import type { CreationRequest } from './request';
import { valuesWithin } from './walk';

type Carrier = Pick<CreationRequest, 'body' | 'pathFields' | 'qs'>;

/** Lists the texts that a request carries. */
export const carriedTexts = (request: unknown): string[] =>
	valuesWithin(request, { maxDepth: MAX_DEPTH }).filter((value) => typeof value === 'string');

export const ownTextsOf = ({ body, pathFields, qs }: Carrier): string[] =>
	carriedTexts([body, pathFields, qs]);

/** How many characters of the service's words count. */
const MAX_WORDS = 2_000;
/** So many characters in a row are a quote: no two texts share them by chance. */
const QUOTED = 12;

/** Returns a function that lists the parts of a length that a text shares with some words. It goes through the text, which can be long, once. */
function sharing(words: string, length: number): (text: string) => Set<string> {
	// Three characters say of most places that nothing there is shared.
	const keyAt = (within: string, at: number) =>
		(within.charCodeAt(at) * 961 +
			within.charCodeAt(at + (length >> 1)) * 31 +
			within.charCodeAt(at + length - 1)) &
		0xffff;
	const keys = new Uint8Array(0x10000);
	const sought = new Set<string>();
	for (let at = 0; at + length <= words.length; at += 1) {
		keys[keyAt(words, at)] = 1;
		sought.add(words.slice(at, at + length));
	}
	return (text) => {
		const shared = new Set<string>();
		for (let at = 0; at + length <= text.length; at += 1) {
			const part = keys[keyAt(text, at)] === 1 ? text.slice(at, at + length) : '';
			if (sought.has(part)) shared.add(part);
		}
		return shared;
	};
}

/** Returns the length of the longest beginning of some words that a text contains. @param least a length that it surely contains */
function quotedLength(words: string, text: string, least: number): number {
	let length = least;
	let at = text.indexOf(words.slice(0, length));
	while (at >= 0) {
		while (length < words.length && text[at + length] === words[length]) length += 1;
		at = length < words.length ? text.indexOf(words.slice(0, length + 1), at + 1) : -1;
	}
	return length;
}

/** Takes out of a service's words what the request said, which services quote, often only in part. */
export function withoutOwnTexts(words: string, own: readonly string[]): string {
	let left = words.slice(0, MAX_WORDS);
	/** What looks for shared parts of a length in the words that are left. */
	const sharedBy = new Map<number, ReturnType<typeof sharing>>();
	for (const text of own) {
		const length = Math.min(text.length, QUOTED);
		if (length <= 3 || left.length < length) continue;
		const shared = getOrCreate(sharedBy, length, () => sharing(left, length))(text);
		if (shared.size > 0) sharedBy.clear();
		for (let at = 0; shared.size > 0 && at + length <= left.length; at += 1) {
			if (!shared.has(left.slice(at, at + length))) continue;
			const rest = left.slice(at);
			left = `${left.slice(0, at)} ${rest.slice(quotedLength(rest, text, length))}`;
		}
	}
	return left;
}
