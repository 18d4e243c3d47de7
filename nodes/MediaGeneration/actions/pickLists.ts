/** Lists to choose from, of voices or models (docs/service.md, "More routes"). */
import { asText, type JsonObject } from '../base/json';
import type { List, ListRoute } from '../transport/pages';

export interface ListEntry {
	value: string;
	name: string;
	description: string | undefined;
	/** It can be heard or looked at there. */
	link?: string | undefined;
	/** This is what the service sent. */
	record: JsonObject;
}

export type PickRoute = ListRoute<ListEntry>;

export interface PickList extends List<ListEntry> {
	/** Whether the field may be left out, so that the list begins with an entry for that. */
	optional: boolean;
}

export const pickList = (
	what: string,
	routes: readonly PickRoute[],
	optional = false,
): PickList => ({
	...{ what: `The list of ${what}`, routes, optional },
	idOf: ({ value }) => value,
	// A route with these statuses offers nothing to choose from, and the next one is asked.
	isNone: ({ httpStatus = 0 }) => [200, 400, 403, 404, 405, 410, 422, 501].includes(httpStatus),
	none: {
		outcome: 'rejected',
		message: `The service publishes no list of ${what}`,
		description: 'Look up the IDs in its documentation or on its website.',
	},
});

export const joinTexts = (between: string, values: readonly unknown[]) =>
	values.flatMap((value) => asText(value) ?? []).join(between);

/** Compares from the beginning of a word: "male" does not find "female". */
function matches({ value, name, description = '' }: ListEntry, words: string): boolean {
	const plain = (text: string) =>
		` ${text
			.toLowerCase()
			.replace(/[^\p{L}\p{N}]+/gu, ' ')
			.trim()}`;
	return [value, name, description].some((text) => plain(text).includes(plain(words)));
}

/** A route that answers with everything at once, in which we search. @param words empty for all */
export const wholeList = (
	path: string,
	words: string,
	entryOf: (record: JsonObject) => ListEntry | undefined,
): PickRoute => ({
	path: () => path,
	entryOf(record) {
		const entry = entryOf(record);
		return entry && matches(entry, words) ? entry : undefined;
	},
});
