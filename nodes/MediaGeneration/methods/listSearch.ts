/** The editor shows this under "From List": a page of a list, or an error in place of the list. */
import { NodeApiError, type ILoadOptionsFunctions, type INodeListSearchResult } from 'n8n-workflow';
import {
	lists,
	PICKER_PAGE_SIZE,
	pageIn,
	voicesOfAll,
	type List,
	type ListEntry,
	type ListRoute,
} from '../actions/lists';
import { SERVICE_DEFAULT, type ListName } from '../actions/operation';
import type { ServiceClient } from '../transport/client';
import { asFailure, attemptLater, FailureError, valueOf, type Failure } from '../base/failures';
import { isObject, parseJson, type JsonObject } from '../base/json';
import { newPages, type Page } from '../transport/paging';
import { readBody } from '../transport/reading';
import { openClient } from '../run/prepare';

/** Says where a page begins. It travels to the editor and comes back unchanged. */
interface Position {
	route: string;
	cursor: string;
	/** Holds the last entries of the pages before, as services repeat entries where pages meet. */
	seen: string[];
}

const SEEN_KEPT = 2 * PICKER_PAGE_SIZE;
/** A route with these statuses offers nothing to choose from, and the next one is asked. */
const NOTHING_TO_CHOOSE = new Set([200, 400, 403, 404, 405, 410, 422, 501]);
const BY_ID = 'Choose By ID and enter the ID as the service shows it.';

interface Lookup {
	client: ServiceClient;
	what: string;
	words: string;
	from: Position | undefined;
}

async function pageOf(
	{ client, what, words }: Lookup,
	route: ListRoute,
	cursor: string | undefined,
): Promise<Page<ListEntry> | undefined> {
	const reading = { client, path: route.path(words, cursor), what: `The list of ${what}` };
	const answer = await attemptLater(async () => await readBody(reading));
	if (!answer.ok) {
		const { httpStatus = 0 } = answer.failure;
		if (NOTHING_TO_CHOOSE.has(httpStatus)) return undefined;
		throw new FailureError(answer.failure);
	}
	const page = pageIn(answer.value, route, cursor);
	return page && route.next === undefined ? pageOfAll(page.entries, words, cursor) : page;
}

/** Cuts the part that belongs on a page out of a complete list. @param cursor how many entries came before */
function pageOfAll(entries: ListEntry[], search: string, cursor = '0'): Page<ListEntry> {
	const wanted = search.toLowerCase();
	const found = entries.filter((entry) =>
		Object.values(entry as Record<keyof ListEntry, string>).some((text) =>
			text.toLowerCase().includes(wanted),
		),
	);
	const end = Number(cursor) + PICKER_PAGE_SIZE;
	return {
		entries: found.slice(Number(cursor), end),
		next: end < found.length ? String(end) : undefined,
	};
}

async function readOn(asked: Lookup, route: ListRoute): Promise<INodeListSearchResult | undefined> {
	const seen = new Set(asked.from?.seen);
	const read = async (cursor?: string) => await pageOf(asked, route, cursor);
	let isThere = false;
	const pages = newPages({
		read,
		keyOf: ({ value }) => value,
		seen,
		from: asked.from?.cursor || undefined,
	});
	for await (const { entries: results, next: cursor } of pages) {
		isThere = true;
		if (cursor === undefined) return { results };
		if (results.length > 0) {
			const position: Position = { route: route.name, cursor, seen: [...seen].slice(-SEEN_KEPT) };
			return { results, paginationToken: JSON.stringify(position) };
		}
	}
	return isThere ? { results: [] } : undefined;
}

async function search(
	asked: Lookup,
	{ routes, all = false }: List,
): Promise<INodeListSearchResult> {
	const { what, words, from } = asked;
	let empty: INodeListSearchResult | undefined;
	const first = from === undefined ? 0 : routes.findIndex(({ name }) => name === from.route);
	const last = from === undefined || all ? routes.length : first + 1;
	for (const [index, route] of [...routes.entries()].slice(first, last)) {
		const found = await readOn(index === first ? asked : { ...asked, from: undefined }, route);
		const next = all ? routes[index + 1] : undefined;
		if (found !== undefined && found.results.length > 0) {
			if (next === undefined) return found;
			const onwards: Position = { route: next.name, cursor: '', seen: [] };
			return { paginationToken: JSON.stringify(onwards), ...found };
		}
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

function usesV3(context: ILoadOptionsFunctions, { account }: ServiceClient): boolean {
	const options = context.getCurrentNodeParameter('options');
	const { speechRoute = 'auto' }: JsonObject = isObject(options) ? options : {};
	return speechRoute === 'v3' || (speechRoute === 'auto' && account.speechRoute === 'v3');
}

export async function searchList(
	context: ILoadOptionsFunctions,
	name: ListName,
	{ filter = '', paginationToken = '' }: { filter?: string; paginationToken?: string },
): Promise<INodeListSearchResult> {
	const from = (parseJson(paginationToken) ?? undefined) as Position | undefined;
	try {
		const client = valueOf(await openClient(context));
		const isV3 = name === 'searchVoices' && usesV3(context, client);
		const list = isV3 ? voicesOfAll : lists[name];
		const words = filter.trim();
		const found = await search({ client, what: list.what, words, from }, list);
		const isFirst = list.optional && words === '' && from === undefined;
		return isFirst ? { ...found, results: [SERVICE_DEFAULT, ...found.results] } : found;
	} catch (error) {
		throw asShown(context, asFailure(error));
	}
}
