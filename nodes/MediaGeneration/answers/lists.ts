/** Reads a page of a list: where its records are, and whether more will come (docs/service.md, "More routes"). */
import { asBoolean, asNumber, isObject, type JsonObject } from '../base/json';
import { MAX_LEVELS } from '../base/bounds';

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

function placesIn(body: unknown): JsonObject[] {
	return isObject(body) ? [body, body.pagination, body.meta, body.data].filter(isObject) : [];
}

/** Returns how many records the service counts, on this page or in the whole list; 0 if it says nothing. */
export function totalOf(body: unknown): number {
	return placesIn(body).reduce((most, { total }) => Math.max(most, asNumber(total) ?? 0), 0);
}

/** Tells whether the service says that more follows; undefined if it says nothing. */
export function saysMore(body: unknown): boolean | undefined {
	const places = placesIn(body);
	const said = places.map((at) => asBoolean(at.has_more)).find((more) => more !== undefined);
	// A total can also be that of one page: it tells that more follows, but never that nothing does.
	const isBefore = ({ page, limit, page_size = limit, total }: JsonObject) => {
		const [at = NaN, size = NaN, all = NaN] = [page, page_size, total].map(asNumber);
		return at * size < all;
	};
	return said ?? (places.some(isBefore) || undefined);
}
