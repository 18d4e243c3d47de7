/** Reads the lists that services may publish, of voices and models (docs/service.md, "More routes"). */
import { attemptLater, FailureError } from '../base/failures';
import { asText, isObject, type JsonObject } from '../base/json';
import { newPages, recordsOf, type Page } from '../transport/paging';
import { readBody } from '../transport/reading';
import type { ListName, ReadSource } from './operation';

export interface ListEntry {
	value: string;
	name: string;
	description?: string;
	/** As the service has it. */
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
	/** The first ones of which any answers with a list count. */
	routes: ReadonlyArray<readonly ListRoute[]>;
}

export const LIST_PAGE_SIZE = 100;
/** `/v3/voices` puts the provider's name before each ID. The v1 route of speech takes the voices of the first one, and without its name. */
export const V1_PROVIDER = 'elevenlabs';
const OTHER_PROVIDERS = ['minimax', 'edge', 'kokoro', 'vbee', 'fishaudio', 'clone'];
export const VOICE_PROVIDERS = [V1_PROVIDER, ...OTHER_PROVIDERS];

const joinTexts = (between: string, values: readonly unknown[]) =>
	values.flatMap((value) => asText(value) ?? []).join(between);

function entryFor(
	record: JsonObject,
	{ value, name, description }: { value: string; name: string; description: string },
): ListEntry {
	return { value, name, ...(description !== '' && { description }), record };
}

function voiceEntry(record: JsonObject): ListEntry | undefined {
	const value = asText(record.voice_id) ?? asText(record.id);
	if (value === undefined) return undefined;
	const labels = isObject(record.labels) ? record.labels : {};
	const details = joinTexts(', ', [
		record.language ?? labels.language,
		record.accent ?? labels.accent,
		record.gender ?? labels.gender,
	]);
	const known = asText(record.name) ?? value;
	const name = details === '' ? known : `${known} (${details})`;
	return entryFor(record, { value, name, description: asText(record.description) ?? '' });
}

function modelEntry(record: JsonObject): ListEntry | undefined {
	const value = asText(record.model_id) ?? asText(record.id);
	if (value === undefined) return undefined;
	const list = (values: unknown) => (Array.isArray(values) ? joinTexts(', ', values) : undefined);
	const most = asText(record.max_generations);
	const images = most === '1' ? 'One image' : most && `Up to ${most} images`;
	const limits = joinTexts('; ', [images, list(record.aspect_ratios), list(record.resolutions)]);
	const description = joinTexts('. ', [asText(record.description), limits]);
	return entryFor(record, { value, name: asText(record.name) ?? value, description });
}

const wholeList = (path: string, entryOf: ListRoute['entryOf']): ListRoute => {
	return { name: path, path: () => path, entryOf };
};

const voicesV3 = (provider: string): ListRoute => ({
	name: `v3 ${provider}`,
	path(search, page = '1') {
		const size = String(LIST_PAGE_SIZE);
		const found: Record<string, string> = search === '' ? {} : { search };
		const query = new URLSearchParams({ provider, ...found, page, page_size: size });
		return `/v3/voices?${query.toString()}`;
	},
	entryOf: (record) => voiceEntry({ ...record, provider: record.provider ?? provider }),
	next({ pagination }, page = '1') {
		const more = isObject(pagination) && pagination.has_more === true;
		return more ? String(Number(page) + 1) : undefined;
	},
});

/** @param provider the only one whose voices are wanted */
export function voicesOf(provider?: string): List {
	const providers = provider === undefined ? VOICE_PROVIDERS : [provider];
	const entryOf = (record: JsonObject) =>
		provider === undefined || record.provider === provider ? voiceEntry(record) : undefined;
	const routes = [providers.map(voicesV3), [wholeList('/v1/voices', entryOf)]];
	return { what: 'voices', routes };
}

export const lists: Readonly<Record<ListName, List>> = {
	searchVoices: voicesOf(),
	searchSpeechModels: {
		what: 'speech models',
		optional: true,
		routes: [
			[
				wholeList('/v1/models', (record) =>
					record.can_do_text_to_speech === false ? undefined : modelEntry(record),
				),
			],
		],
	},
	searchImageModels: {
		what: 'image models',
		optional: true,
		routes: [[wholeList('/v1i/models', modelEntry)]],
	},
};

/** Reads an answer; undefined where it is no list. */
export function pageIn(
	body: unknown,
	route: ListRoute,
	cursor: string | undefined,
): Page<ListEntry> | undefined {
	const entries = recordsOf(body)?.flatMap(
		(each) => route.entryOf(isObject(each) ? each : { id: each }) ?? [],
	);
	return entries && { entries, next: route.next?.(isObject(body) ? body : {}, cursor) };
}

/** Where a word of what is shown begins so: "male" does not find "female". */
function matches({ value, name, description = '' }: ListEntry, words: string): boolean {
	const start = words.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ');
	return [value, name, description].some((text) =>
		` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')}`.includes(` ${start.trim()}`),
	);
}

/** Cuts the part that belongs on a page out of a complete list. @param cursor how many entries came before */
function pageOfAll(entries: ListEntry[], words: string, cursor = '0'): Page<ListEntry> {
	const found = words === '' ? entries : entries.filter((entry) => matches(entry, words));
	const end = Number(cursor) + LIST_PAGE_SIZE;
	return {
		entries: found.slice(Number(cursor), end),
		next: end < found.length ? String(end) : undefined,
	};
}

/** A route with these statuses offers nothing to choose from, and the next one is asked. */
const NOTHING_TO_CHOOSE = new Set([200, 400, 403, 404, 405, 410, 422, 501]);

export interface ListQuery extends ReadSource {
	what: string;
	/** Searched for; empty for all. */
	words: string;
}

/** Undefined where there is no list. Throws a FailureError where it can't be read. */
async function readPage(
	{ what, words, ...from }: ListQuery,
	route: ListRoute,
	cursor: string | undefined,
): Promise<Page<ListEntry> | undefined> {
	const reading = { ...from, path: route.path(words, cursor), what: `The list of ${what}` };
	const answer = await attemptLater(async () => await readBody(reading));
	if (!answer.ok) {
		if (NOTHING_TO_CHOOSE.has(answer.failure.httpStatus ?? 0)) return undefined;
		throw new FailureError(answer.failure);
	}
	const page = pageIn(answer.value, route, cursor);
	return page && route.next === undefined ? pageOfAll(page.entries, words, cursor) : page;
}

/** Where a page begins. The editor keeps it as a text. */
export interface ListPosition {
	route: string;
	cursor: string;
	/** The last entries of the pages before, as services repeat entries where pages meet. */
	seen: readonly string[];
}

const SEEN_KEPT = 2 * LIST_PAGE_SIZE;

export function noList(what: string, description: string): FailureError {
	const message = `The service publishes no list of ${what}`;
	return new FailureError({ outcome: 'rejected', message, description });
}

/** Yields the pages of a list, each with the position of the next one. Throws a FailureError where it can't be read. */
export async function* listPages(
	query: ListQuery,
	routes: List['routes'],
	from?: ListPosition,
): AsyncGenerator<{ entries: ListEntry[]; next: ListPosition | undefined }> {
	const seen = new Set(from?.seen);
	for (const group of routes) {
		const first = from === undefined ? 0 : group.findIndex(({ name }) => name === from.route);
		if (first < 0) continue;
		for (const [index, route] of [...group.entries()].slice(first)) {
			const pages = newPages({
				read: async (cursor?: string) => await readPage(query, route, cursor),
				keyOf: ({ value }) => value,
				seen,
				from: (index === first && from?.cursor) || undefined,
			});
			for await (const { entries, next: cursor } of pages) {
				const following = cursor === undefined ? group[index + 1] : route;
				const kept = { cursor: cursor ?? '', seen: [...seen].slice(-SEEN_KEPT) };
				yield { entries, next: following && { route: following.name, ...kept } };
			}
		}
		if (seen.size > 0) return;
	}
}

/** Throws a FailureError where there is no list, or where it can't be read. */
export async function readList(
	from: ReadSource,
	{ what, routes }: List,
	{ words = '', limit }: { words?: string; limit: number },
): Promise<ListEntry[]> {
	const found: ListEntry[] = [];
	let isThere = false;
	for await (const { entries } of listPages({ ...from, what, words }, routes)) {
		isThere = true;
		for (const entry of entries) found.push(entry);
		if (found.length >= limit) break;
	}
	if (!isThere) throw noList(what, 'Look up the IDs in its documentation or on its website.');
	return found.slice(0, limit);
}
