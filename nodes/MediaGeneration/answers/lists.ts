/** Reads a page of a list: where its records are, and whether more will come (docs/service.md, "More routes"). */
import { asBoolean, asNumber, isGiven, isObject, type JsonObject } from '../base/json';
import { MAX_LEVELS } from '../base/bounds';
import { FailureError } from '../base/outcomes';
import { unreadable } from './failures';
import { isFilled, isSuccess, type Answer } from './reply';
import { fieldsNamed, valuesWithin } from './walk';

const OUTSIDE_LISTS = { maxDepth: MAX_LEVELS, entersLists: false };
const fieldsWithRecords = fieldsNamed([
	...['data', 'voices', 'voice_list', 'models', 'tasks', 'api_keys', 'apiKeys', 'keys'],
	...['items', 'results', 'result', 'list', 'records', 'rows'],
]);

/** Finds the records in an answer; undefined if it is no list. */
export const recordsOf = (body: unknown): unknown[] | undefined =>
	valuesWithin(body, { ...OUTSIDE_LISTS, fieldsOf: fieldsWithRecords }).find((value) =>
		Array.isArray(value),
	);

/** Lists the objects around the records, and those beside them, such as `pagination`. */
const objectsAround = (body: unknown): JsonObject[] =>
	valuesWithin(body, OUTSIDE_LISTS).filter(isObject);

/** What headers say, as if it stood around the records. */
const headersAround = (headers: JsonObject): JsonObject => ({
	...headers,
	next: /rel="?next/i.test(String(headers.link)),
	total: /\d+$/.exec(String(headers['content-range']))?.[0],
});

/** Names without what separates their words. */
const TOTAL = /^total(count|items|results|elements)?$/i;
const PAGES = /^(total)?pages$|^(lastpage|pagecount)$/i;
const HAS_MORE = /^has(more|next|nextpage)$/i;
/** Names of what follows, or of why a list is not whole. */
const NEXT = /^(next(?!js)|(more|cursor)$)|continuation|truncated|incomplete|partial|timedout/i;

const valuesOf = (places: readonly JsonObject[], name: RegExp): unknown[] =>
	places.flatMap((place) =>
		Object.keys(place).flatMap((key) =>
			name.test(key.replace(/^x-|[-_]/gi, '')) ? [place[key]] : [],
		),
	);

/** Returns the highest number of that name; 0 if the service says nothing. */
const mostOf = (places: readonly JsonObject[], name: RegExp): number =>
	valuesOf(places, name).reduce<number>((most, each) => Math.max(most, asNumber(each) ?? 0), 0);

/** Returns whether the service says that more follows this page; undefined if it says nothing. */
function saysMore(places: readonly JsonObject[], page: number): boolean | undefined {
	const said = valuesOf(places, HAS_MORE).map(asBoolean);
	const next = valuesOf(places, NEXT);
	if ([...said, ...next.map(asBoolean)].includes(true)) return true;
	// Some services name a last cursor beside the word that nothing follows.
	if (said.some(isGiven)) return false;
	// A total can also be that of one page: it tells that more follows, but never that nothing does.
	const isBefore = (place: JsonObject) =>
		page * (asNumber(place.page_size ?? place.limit) ?? NaN) < mostOf([place], TOTAL);
	const hasNext = next.some((each) => asBoolean(each) ?? isFilled(each));
	return hasNext || page < mostOf(places, PAGES) || places.some(isBefore) || undefined;
}

export type EntryOf<Entry> = (record: JsonObject) => Entry | Entry[] | undefined;

export interface ListPage<Entry> {
	/** Entries that no earlier page has shown. */
	entries: Entry[];
	/** Whether another page follows; undefined if nobody knows. */
	more: boolean | undefined;
	/** Whether the pages have shown all: an entry that was on none of them is not in the list. */
	isWhole: boolean;
}

/** What the pages of a list have shown. Services repeat entries where pages meet, and some ignore which page is asked for. */
export class ListSeen<Entry> {
	readonly ids = new Set<string>();
	private isReadable = true;
	private isPromised = false;
	private total = 0;

	constructor(private readonly idOf: (entry: Entry) => string) {}

	/** Throws a FailureError if the answer is no list. @param entryOf returns undefined for a record that is no entry. A record can be a bare ID */
	page(
		{ body, headers }: Answer,
		entryOf: EntryOf<Entry>,
		{ path, page }: { path: string; page: number },
	): ListPage<Entry> {
		const records = recordsOf(body)?.map((each) => (isObject(each) ? each : { id: each }));
		if (records === undefined)
			throw new FailureError(
				unreadable(path, 'the answer has an unexpected shape', { httpStatus: 200 }),
			);
		const readable = records.flatMap((record) => entryOf(record) ?? []);
		this.isReadable &&= readable.length === records.length;
		const places = [...objectsAround(body), headersAround(headers)];
		// Deeper down, a count can be of anything.
		const count = isObject(body) ? (asNumber(body.count) ?? 0) : 0;
		this.total = Math.max(this.total, mostOf(places, TOTAL), count);
		const isNew = (id: string) => !this.ids.has(id) && this.ids.add(id);
		const entries = readable.filter((entry) => isNew(this.idOf(entry)));
		const more = saysMore(places, page) ?? (records.length === 0 ? false : undefined);
		this.isPromised = more === true;
		// An unknown code can be a refusal.
		const isRead = records.length > 0 || isSuccess(body);
		return { entries, more, isWhole: more === false && isRead && this.hasAll };
	}

	/** Stands for a page that the service does not have. Some have none beyond the last one, but one that was promised is missing. */
	noPage(): ListPage<Entry> {
		return { entries: [], more: false, isWhole: !this.isPromised && this.hasAll };
	}

	private get hasAll(): boolean {
		return this.isReadable && this.ids.size >= this.total;
	}
}
