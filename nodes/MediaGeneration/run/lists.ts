/** What the editor shows under "From List": a page of a list, or an error, which it shows in place of the list. */
import { NodeApiError, type ILoadOptionsFunctions, type INodeListSearchResult } from 'n8n-workflow';
import {
	lists,
	PAGE_SIZE,
	pageIn,
	type List,
	type ListEntry,
	type ListPage,
	type ListRoute,
} from '../operations/lists';
import type { ListName } from '../operations/operation';
import type { ServiceClient } from '../service/client';
import { asFailure, attemptLater, FailureError, valueOf, type Failure } from '../service/failures';
import { parseJson } from '../service/json';
import { readBody } from '../service/reading';
import { NO_LIST } from '../service/taskList';
import { openClient } from './prepare';

/** Where a page begins. It travels to the editor and comes back as it was. */
interface Position {
	route: string;
	cursor: string;
	/** What the pages before it showed last: services repeat entries where pages meet. */
	seen: string[];
}

const SEEN_KEPT = 2 * PAGE_SIZE;
/** Pages that hold nothing new are skipped; after this many in a row nothing new is expected. */
const MAX_EMPTY_PAGES = 5;
const BY_ID = 'Choose By ID and enter the ID as the service shows it.';

interface Asked {
	client: ServiceClient;
	what: string;
	words: string;
	from: Position | undefined;
}

async function pageOf(
	{ client, what, words }: Asked,
	route: ListRoute,
	cursor: string | undefined,
): Promise<ListPage | undefined> {
	const reading = { client, path: route.path(words, cursor), what: `The list of ${what}` };
	const answer = await attemptLater(async () => await readBody(reading));
	if (!answer.ok) {
		const { httpStatus = 0 } = answer.failure;
		if (NO_LIST.has(httpStatus)) return undefined;
		throw new FailureError(answer.failure);
	}
	const page = pageIn(answer.value, route, cursor);
	return page && route.next === undefined ? cutOut(page.entries, words, cursor) : page;
}

/** The part of a complete list that belongs on a page. @param cursor how many entries came before */
function cutOut(entries: ListEntry[], search: string, cursor = '0'): ListPage {
	const wanted = search.toLowerCase();
	const found = entries.filter((entry) =>
		Object.values(entry as Record<keyof ListEntry, string>).some((text) =>
			text.toLowerCase().includes(wanted),
		),
	);
	const end = Number(cursor) + PAGE_SIZE;
	return {
		entries: found.slice(Number(cursor), end),
		next: end < found.length ? String(end) : undefined,
	};
}

async function readOn(asked: Asked, route: ListRoute): Promise<INodeListSearchResult | undefined> {
	let cursor = asked.from?.cursor;
	const known = new Set(asked.from?.seen);
	for (let pages = 0; pages < MAX_EMPTY_PAGES; pages += 1) {
		const page = await pageOf(asked, route, cursor);
		if (page === undefined) return undefined;
		const results = page.entries.filter(({ value }) => !known.has(value) && known.add(value));
		cursor = page.next;
		if (cursor === undefined) return { results };
		if (results.length > 0) {
			const position: Position = { route: route.name, cursor, seen: [...known].slice(-SEEN_KEPT) };
			return { results, paginationToken: JSON.stringify(position) };
		}
	}
	return { results: [] };
}

async function search(asked: Asked, routes: List['routes']): Promise<INodeListSearchResult> {
	const { what, words, from } = asked;
	let empty: INodeListSearchResult | undefined;
	for (const route of routes) {
		if (from !== undefined && route.name !== from.route) continue;
		const found = await readOn(asked, route);
		if (found !== undefined && found.results.length > 0) return found;
		empty ??= found;
	}
	// An empty search result is an answer; an empty list is not.
	if (empty !== undefined && (words !== '' || from !== undefined)) return empty;
	throw new FailureError({
		outcome: 'rejected',
		message: `The service publishes no list of ${what}`,
		description: BY_ID,
	});
}

/** As the editor shows it: only of a NodeApiError does it show description and status. */
function asShown(context: ILoadOptionsFunctions, failure: Failure): NodeApiError {
	const { httpStatus, outcome, message } = failure;
	const advice = outcome === 'unreachable' ? 'Try again in a while.' : failure.description;
	const description = advice === BY_ID ? BY_ID : `${advice} Or: ${BY_ID}`;
	const httpCode = httpStatus === undefined ? undefined : String(httpStatus);
	return new NodeApiError(context.getNode(), { message }, { message, description, httpCode });
}

export async function searchList(
	context: ILoadOptionsFunctions,
	name: ListName,
	{ filter = '', paginationToken = '' }: { filter?: string; paginationToken?: string },
): Promise<INodeListSearchResult> {
	const { what, routes } = lists[name];
	const from = (parseJson(paginationToken) ?? undefined) as Position | undefined;
	try {
		const client = valueOf(await openClient(context));
		return await search({ client, what, words: filter.trim(), from }, routes);
	} catch (error) {
		throw asShown(context, asFailure(error));
	}
}
