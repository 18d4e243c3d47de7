/** Reads a list that services may publish, of voices or models (docs/service.md, "More routes"). */
import { attemptAsync, FailureError } from '../base/outcomes';
import { asText, isObject, type JsonObject } from '../base/json';
import { MAX_PAGES } from '../base/bounds';
import { recordsOf, saysMore } from '../answers/lists';
import { readBody } from '../transport/reading';
import type { ReadSource } from './operation';

export interface ListEntry {
	value: string;
	name: string;
	description: string | undefined;
	/** Where it can be heard or looked at. */
	link?: string | undefined;
	/** As the service sent it. */
	record: JsonObject;
}

export interface ListRoute {
	/** Makes the path with its query. @param words searched for; empty for all */
	path(words: string, page: number): string;
	entryOf(record: JsonObject): ListEntry | undefined;
	/** Whether the service itself searches and gives out page by page; else it answers with everything at once. */
	isPaged: boolean;
}

export interface List {
	what: string;
	/** Whether the field may be left out, so that the list begins with an entry for that. */
	optional?: boolean;
	/** Their lists follow one another. */
	routes: readonly ListRoute[];
	/** Asked if none of them has an entry. */
	otherwise?: ListRoute;
}

export const joinTexts = (between: string, values: readonly unknown[]) =>
	values.flatMap((value) => asText(value) ?? []).join(between);

export const wholeList = (path: string, entryOf: ListRoute['entryOf']): ListRoute => {
	return { path: () => path, entryOf, isPaged: false };
};

/** Compares from the beginning of a word: "male" does not find "female". */
function matches({ value, name, description = '' }: ListEntry, words: string): boolean {
	const plain = (text: string) =>
		` ${text
			.toLowerCase()
			.replace(/[^\p{L}\p{N}]+/gu, ' ')
			.trim()}`;
	return [value, name, description].some((text) => plain(text).includes(plain(words)));
}

export interface ListQuery extends ReadSource {
	list: List;
	/** Searched for; empty for all. */
	words: string;
}

/** Undefined if there is no list. Throws a FailureError if it can't be read. */
async function askPage({ list, words, ...from }: ListQuery, route: ListRoute, page: number) {
	// Of a route that may not exist, nothing is gained by another try.
	const tries = route.isPaged && page === 1 ? 1 : undefined;
	const path = route.path(words, page);
	const reading = { ...from, path, tries, what: `The list of ${list.what}` };
	const answer = await attemptAsync(async () => await readBody(reading));
	if (!answer.ok) {
		// A route with these statuses offers nothing to choose from, and the next one is asked.
		const nothing = [200, 400, 403, 404, 405, 410, 422, 501];
		if (nothing.includes(answer.failure.httpStatus ?? 0)) return undefined;
		throw new FailureError(answer.failure);
	}
	const entries = recordsOf(answer.value)?.flatMap(
		(each) => route.entryOf(isObject(each) ? each : { id: each }) ?? [],
	);
	if (entries === undefined || !route.isPaged)
		return entries && { entries: entries.filter((entry) => matches(entry, words)), more: false };
	return { entries, more: saysMore(answer.value) === true };
}

/** Where a page begins. The editor keeps it as a text. */
export interface ListPosition {
	route: number;
	page: number;
}

export function noList(what: string): FailureError {
	const message = `The service publishes no list of ${what}`;
	const description = 'Look up the IDs in its documentation or on its website.';
	return new FailureError({ outcome: 'rejected', message, description });
}

/** Yields the pages of a list, each with the position of the next one. Throws a FailureError if it can't be read. */
export async function* listPages(
	query: ListQuery,
	from?: ListPosition,
): AsyncGenerator<{ entries: ListEntry[]; next: ListPosition | undefined }> {
	const { routes, otherwise } = query.list;
	const seen = new Set<string>();
	let at = from ?? { route: 0, page: 1 };
	for (let route = routes[at.route]; route !== undefined; route = routes[at.route]) {
		const found = await askPage(query, route, at.page);
		// Services repeat entries where pages meet, and some ignore which page is asked for.
		const isNew = ({ value }: ListEntry) => !seen.has(value) && seen.add(value);
		const entries = found?.entries.filter(isNew) ?? [];
		const more = found?.more === true && entries.length > 0 && at.page < MAX_PAGES;
		at = more ? { ...at, page: at.page + 1 } : { route: at.route + 1, page: 1 };
		if (found !== undefined) yield { entries, next: at.route < routes.length ? at : undefined };
	}
	if (otherwise === undefined || from !== undefined || seen.size > 0) return;
	const found = await askPage(query, otherwise, 1);
	if (found !== undefined) yield { entries: found.entries, next: undefined };
}

/** Throws a FailureError if there is no list, or if it can't be read. */
export async function readList(
	from: ReadSource,
	list: List,
	{ words = '', limit }: { words?: string; limit: number },
): Promise<ListEntry[]> {
	const found: ListEntry[] = [];
	let isThere = false;
	for await (const { entries } of listPages({ ...from, list, words })) {
		isThere = true;
		for (const entry of entries) found.push(entry);
		if (found.length >= limit) break;
	}
	if (!isThere) throw noList(list.what);
	return found.slice(0, limit);
}
