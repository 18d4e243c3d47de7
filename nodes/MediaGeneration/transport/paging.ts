/** Reads the service's lists page by page: where their records are, and when nothing more will come (docs/service.md, "More routes"). */
import { isObject } from '../base/json';
import { MAX_LEVELS } from '../base/limits';

const RECORD_NAMES = [
	...['data', 'voices', 'voice_list', 'models', 'tasks', 'api_keys', 'apiKeys', 'keys'],
	...['items', 'results', 'list', 'records'],
];

/** Finds the records in an answer; undefined if it is no list. */
export function recordsOf(body: unknown, depth = 0): unknown[] | undefined {
	if (Array.isArray(body)) return body as unknown[];
	if (!isObject(body) || depth > MAX_LEVELS) return undefined;
	const found = RECORD_NAMES.map((name) => recordsOf(body[name], depth + 1));
	return found.find((records) => records !== undefined);
}

export interface Page<Entry> {
	entries: Entry[];
	/** Where the next page begins, in the list's own terms; undefined after the last one. */
	next: string | undefined;
	/** Whether the service does not mention a next page: then a page without anything new is the last one. */
	isGuess?: boolean;
}

interface Paging<Own extends Page<unknown>> {
	read: (cursor: string | undefined) => Promise<Own | undefined>;
	keyOf: (entry: Own['entries'][number]) => string;
	/** Keys of the entries so far. Grows. */
	seen: Set<string>;
	from?: string | undefined;
}

/** Yields pages without the entries of earlier ones. Ends if there is no page. */
export async function* newPages<Own extends Page<unknown>>(
	paging: Paging<Own>,
): AsyncGenerator<Own> {
	const { read, keyOf, seen } = paging;
	let [cursor, empty] = [paging.from, 0];
	// Services repeat entries where pages meet, and some ignore which page is asked for.
	while (empty < 3) {
		const page = await read(cursor);
		if (page === undefined) return;
		const entries = page.entries.filter((entry) => {
			const key = keyOf(entry);
			return !seen.has(key) && seen.add(key);
		});
		empty = entries.length === 0 ? empty + 1 : 0;
		cursor = empty > 0 && page.isGuess === true ? undefined : page.next;
		yield { ...page, entries, next: cursor };
		if (cursor === undefined) return;
	}
}
