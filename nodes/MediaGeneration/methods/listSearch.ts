/** The editor shows this under "From List": a page of a list, or an error in place of the list. */
import { NodeApiError, type ILoadOptionsFunctions, type INodeListSearchResult } from 'n8n-workflow';
import {
	LIST_PAGE_SIZE,
	lists,
	noList,
	readPage,
	type List,
	type ListEntry,
	type ListRoute,
} from '../actions/lists';
import { SERVICE_DEFAULT, type ListName } from '../actions/operation';
import { asFailure, type Failure } from '../base/failures';
import { parseJson } from '../base/json';
import { openClient } from '../run/prepare';
import type { ServiceClient } from '../transport/client';
import { newPages } from '../transport/paging';

/** Where a page begins. It travels to the editor and comes back unchanged. */
interface Position {
	route: string;
	cursor: string;
	/** The last entries of the pages before, as services repeat entries where pages meet. */
	seen: string[];
}

const SEEN_KEPT = 2 * LIST_PAGE_SIZE;
const BY_ID = 'Choose By ID and enter the ID as the service shows it.';

interface Lookup {
	client: ServiceClient;
	what: string;
	words: string;
	from: Position | undefined;
}

/** Entries as the editor takes them. */
const shownIn = (entries: readonly ListEntry[]) => entries.map(({ record: _, ...shown }) => shown);

function tokenFor({ name: route }: ListRoute, cursor: string, seen: ReadonlySet<string>): string {
	const position: Position = { route, cursor, seen: [...seen].slice(-SEEN_KEPT) };
	return JSON.stringify(position);
}

/** Reads on from a position; undefined where the route has no list. */
async function readOn(
	asked: Lookup,
	route: ListRoute,
	seen: Set<string>,
): Promise<INodeListSearchResult | undefined> {
	const pages = newPages({
		read: async (cursor?: string) => await readPage(asked, route, cursor),
		keyOf: ({ value }) => value,
		seen,
		from: asked.from?.cursor || undefined,
	});
	let isThere = false;
	for await (const { entries, next: cursor } of pages) {
		isThere = true;
		const results = shownIn(entries);
		if (cursor === undefined) return { results };
		if (results.length > 0) {
			return { results, paginationToken: tokenFor(route, cursor, seen) };
		}
	}
	return isThere ? { results: [] } : undefined;
}

/** Reads a page of the list that these routes share, one after the other; undefined where none of them has it. */
async function searchRoutes(
	asked: Lookup,
	routes: readonly ListRoute[],
): Promise<INodeListSearchResult | undefined> {
	const seen = new Set(asked.from?.seen);
	let empty: INodeListSearchResult | undefined;
	for (const [index, route] of routes.entries()) {
		const found = await readOn(index === 0 ? asked : { ...asked, from: undefined }, route, seen);
		if (found !== undefined && found.results.length > 0) {
			const next = routes[index + 1];
			return next === undefined ? found : { paginationToken: tokenFor(next, '', seen), ...found };
		}
		empty ??= found;
	}
	return empty;
}

async function search(asked: Lookup, { routes }: List): Promise<INodeListSearchResult> {
	const { what, words, from } = asked;
	let isThere = false;
	for (const group of routes) {
		const first = from === undefined ? 0 : group.findIndex(({ name }) => name === from.route);
		const found = first < 0 ? undefined : await searchRoutes(asked, group.slice(first));
		if (found !== undefined && found.results.length > 0) return found;
		isThere ||= found !== undefined;
	}
	// An empty search result is an answer; an empty list is not.
	if (isThere && (words !== '' || from !== undefined)) return { results: [] };
	throw noList(what, BY_ID);
}

/** The editor shows description and status of a NodeApiError only. */
function asShown(context: ILoadOptionsFunctions, failure: Failure): NodeApiError {
	const { httpStatus, outcome, message } = failure;
	const advice =
		outcome === 'unreachable'
			? 'Check the Base URL in the credential and whether the service is up.'
			: failure.description;
	const description = advice === BY_ID ? BY_ID : `${advice} Or: ${BY_ID}`;
	const httpCode = httpStatus === undefined ? undefined : String(httpStatus);
	return new NodeApiError(context.getNode(), { message }, { message, description, httpCode });
}

export async function searchList(
	context: ILoadOptionsFunctions,
	name: ListName,
	{ filter = '', paginationToken = '' }: { filter?: string; paginationToken?: string },
): Promise<INodeListSearchResult> {
	const from = (parseJson(paginationToken) ?? undefined) as Position | undefined;
	try {
		const client = await openClient(context);
		const list = lists[name];
		const words = filter.trim();
		const found = await search({ client, what: list.what, words, from }, list);
		const isFirst = list.optional && words === '' && from === undefined;
		return isFirst ? { ...found, results: [SERVICE_DEFAULT, ...found.results] } : found;
	} catch (error) {
		throw asShown(context, asFailure(error));
	}
}
