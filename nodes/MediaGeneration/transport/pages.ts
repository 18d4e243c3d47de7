/** Reads lists that services may publish, page by page (docs/service.md, "More routes"). */
import { ListSeen, type EntryOf } from '../answers/lists';
import type { Answer } from '../answers/reply';
import { unreadable } from '../answers/failures';
import { MAX_LIST, MAX_PAGES } from '../base/bounds';
import { attemptAsync, FailureError, type Failure } from '../base/outcomes';
import { readReply, type Reading } from './reading';

export interface ListRoute<Entry> {
	path: (page: number) => string;
	entryOf: EntryOf<Entry>;
	/** Returns whether to ask for another page; undefined stands for a service that says nothing of one. Without it, all comes at once. */
	hasMore?: (more: boolean | undefined) => boolean;
	/** Whether it is asked only if no route before it has an entry. */
	isFallback?: boolean;
}

export interface List<Entry> {
	/** In words. The default is the path. */
	what?: string;
	/** Their entries follow one another. */
	routes: ReadonlyArray<ListRoute<Entry>>;
	idOf: (entry: Entry) => string;
	/** Returns whether the service says that it has no such list, or no such page. */
	isNone: (failure: Failure) => boolean;
	none: Failure;
}

/** Where a page begins. The editor keeps it as a text. */
export interface ListPosition {
	route: number;
	page: number;
}

export interface ListQuery<Entry> extends Omit<Reading, 'path'> {
	from?: ListPosition | undefined;
	limit: number;
	mostPages?: number;
	/** Returns whether an entry counts. The default is all of them. */
	isWanted?: (entry: Entry) => boolean;
	/** Returns whether a page is the last one of interest. */
	isPast?: (page: readonly Entry[], answer: Answer) => boolean;
}

export interface ListResult<Entry> {
	/** Each once, in the service's order. */
	entries: Entry[];
	/** Whether nothing of interest was left out: an entry that is not here is not in the list. */
	isWhole: boolean;
	next: ListPosition | undefined;
	/** The first page, for what its headers say. */
	answer: Answer;
}

function tooLong(what: string): FailureError {
	const failure = unreadable(what, 'its pages have more than 100 MB together');
	const description = 'Ask for fewer entries, with a lower limit or a filter.';
	return new FailureError({ ...failure, description });
}

/** Walks through the pages of one route after the other. @yields each, and where the next one begins */
async function* pagesOf<Entry>(
	{ what, routes, idOf, isNone }: List<Entry>,
	query: ListQuery<Entry>,
) {
	const { from, mostPages = MAX_PAGES } = query;
	const seen = new ListSeen(idOf);
	let at = from ?? { route: 0, page: 1 };
	let characters = 0;
	for (let pages = 0; pages < mostPages; pages += 1) {
		const route = routes[at.route];
		if (!route || (route.isFallback && (from !== undefined || seen.ids.size > 0))) return;
		const { path, entryOf, hasMore } = route;
		const reading = { what, ...query, path: path(at.page) };
		// If another route follows, nothing is gained by another try.
		if (at.page === 1 && at.route + 1 < routes.length) reading.tries = 1;
		const asked = await attemptAsync(async () => {
			const answer = await readReply(reading);
			characters += answer.text.length;
			if (characters > MAX_LIST) throw tooLong(what ?? reading.path);
			return { answer, page: seen.page(answer, entryOf, { ...at, path: reading.path }) };
		});
		if (!asked.ok && !isNone(asked.failure)) throw new FailureError(asked.failure);
		const { page, answer } = asked.ok ? asked.value : { page: seen.noPage() };
		// A page that repeats another one is the end of what can be read, but not of the list.
		const hasNext = page.entries.length > 0 && hasMore?.(page.more) === true;
		at = hasNext ? { ...at, page: at.page + 1 } : { route: at.route + 1, page: 1 };
		yield { page, answer, next: at };
	}
}

/** Throws a FailureError if it can't be read, or if there is none. */
export async function readPages<Entry>(
	list: List<Entry>,
	query: ListQuery<Entry>,
): Promise<ListResult<Entry>> {
	const { limit, isWanted, isPast } = query;
	const entries: Entry[] = [];
	let isWhole = false;
	let at: ListPosition | undefined;
	let first: Answer | undefined;
	for await (const { page, answer, next } of pagesOf(list, query)) {
		first ??= answer;
		at = next;
		for (const entry of page.entries) if (isWanted?.(entry) !== false) entries.push(entry);
		const isEnough = answer !== undefined && isPast?.(page.entries, answer) === true;
		isWhole = page.isWhole || isEnough;
		if (isEnough || entries.length >= limit) break;
	}
	if (first === undefined || at === undefined) throw new FailureError(list.none);
	const hasNext = at.route < list.routes.length && !list.routes[at.route]?.isFallback;
	return {
		entries: entries.slice(0, limit),
		isWhole: isWhole && entries.length <= limit,
		next: hasNext ? at : undefined,
		answer: first,
	};
}
