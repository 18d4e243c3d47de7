/** Reads a list that services may publish, of voices or models (docs/service.md, "More routes"). */
import { attemptLater, FailureError } from '../base/failures';
import { asText, isObject, type JsonObject } from '../base/json';
import { newPages, recordsOf, type Page } from '../transport/paging';
import { readBody } from '../transport/reading';
import type { ReadSource } from './operation';

export interface ListEntry {
	value: string;
	name: string;
	description: string | undefined;
	/** As the service sent it. */
	record: JsonObject;
}

export interface ListRoute {
	/** A page is remembered by this name, so never reuse it for another route. */
	name: string;
	/** Makes the path with its query. @param cursor `next` of the page before */
	path(search: string, cursor: string | undefined): string;
	entryOf(record: JsonObject): ListEntry | undefined;
	/** A route without this answers with everything at once. */
	next?(answer: JsonObject, cursor: string | undefined): string | undefined;
}

export interface List {
	what: string;
	/** Whether the field may be left out, so that the list begins with an entry for that. */
	optional?: boolean;
	/** Groups of routes. The first group in which any route answers with a list counts. */
	routes: ReadonlyArray<readonly ListRoute[]>;
}

export const LIST_PAGE_SIZE = 100;

export const joinTexts = (between: string, values: readonly unknown[]) =>
	values.flatMap((value) => asText(value) ?? []).join(between);

export const wholeList = (path: string, entryOf: ListRoute['entryOf']): ListRoute => {
	return { name: path, path: () => path, entryOf };
};

/** Reads an answer; undefined if it is no list. */
function pageIn(
	body: unknown,
	route: ListRoute,
	cursor: string | undefined,
): Page<ListEntry> | undefined {
	const entries = recordsOf(body)?.flatMap(
		(each) => route.entryOf(isObject(each) ? each : { id: each }) ?? [],
	);
	return entries && { entries, next: route.next?.(isObject(body) ? body : {}, cursor) };
}

/** Compares from the beginning of a word: "male" does not find "female". */
function matches({ value, name, description = '' }: ListEntry, words: string): boolean {
	const plain = (text: string) =>
		` ${text
			.toLowerCase()
			.replace(/[^\p{L}\p{N}]+/gu, ' ')
			.trim()}`;
	return [value, name, description].some((text) => plain(text).includes(plain(words)));
}

/** Cuts a page out of a complete list. @param cursor number of entries before it */
function pageOfAll(entries: ListEntry[], words: string, cursor = '0'): Page<ListEntry> {
	const found = words === '' ? entries : entries.filter((entry) => matches(entry, words));
	const end = Number(cursor) + LIST_PAGE_SIZE;
	return {
		entries: found.slice(Number(cursor), end),
		next: end < found.length ? String(end) : undefined,
	};
}

export interface ListQuery extends ReadSource {
	list: List;
	/** Searched for; empty for all. */
	words: string;
}

/** Undefined if there is no list. Throws a FailureError if it can't be read. */
async function askPage(
	{ list, words, ...from }: ListQuery,
	route: ListRoute,
	cursor: string | undefined,
): Promise<Page<ListEntry> | undefined> {
	const reading = { ...from, path: route.path(words, cursor), what: `The list of ${list.what}` };
	const answer = await attemptLater(async () => await readBody(reading));
	if (!answer.ok) {
		// A route with these statuses offers nothing to choose from, and the next one is asked.
		const nothing = [200, 400, 403, 404, 405, 410, 422, 501];
		if (nothing.includes(answer.failure.httpStatus ?? 0)) return undefined;
		throw new FailureError(answer.failure);
	}
	const page = pageIn(answer.value, route, cursor);
	return page && route.next === undefined ? pageOfAll(page.entries, words, cursor) : page;
}

/** The place where a page begins. The editor keeps it as a text. */
export interface ListPosition {
	route: string;
	cursor: string;
	/** The last entries of the pages before, because services repeat entries where pages meet. */
	seen: readonly string[];
}

export function noList(what: string, description: string): FailureError {
	const message = `The service publishes no list of ${what}`;
	return new FailureError({ outcome: 'rejected', message, description });
}

/** Yields the pages of a list, each with the position of the next one. Throws a FailureError if it can't be read. */
export async function* listPages(
	query: ListQuery,
	from?: ListPosition,
): AsyncGenerator<{ entries: ListEntry[]; next: ListPosition | undefined }> {
	const seen = new Set(from?.seen);
	for (const group of query.list.routes) {
		const first = from === undefined ? 0 : group.findIndex(({ name }) => name === from.route);
		if (first < 0) continue;
		for (const [index, route] of [...group.entries()].slice(first)) {
			const pages = newPages({
				read: async (cursor?: string) => await askPage(query, route, cursor),
				keyOf: ({ value }) => value,
				seen,
				from: (index === first && from?.cursor) || undefined,
			});
			for await (const { entries, next: cursor } of pages) {
				const following = cursor === undefined ? group[index + 1] : route;
				const kept = { cursor: cursor ?? '', seen: [...seen].slice(-2 * LIST_PAGE_SIZE) };
				yield { entries, next: following && { route: following.name, ...kept } };
			}
		}
		if (seen.size > 0) return;
	}
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
	if (!isThere) throw noList(list.what, 'Look up the IDs in its documentation or on its website.');
	return found.slice(0, limit);
}
