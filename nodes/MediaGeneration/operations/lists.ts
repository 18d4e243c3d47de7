/** The lists that such services may publish: which routes to ask, and how to read their answers (docs/service.md, "More routes"). */
import { asText, isObject, recordsIn, type JsonObject } from '../service/json';
import type { ListName } from './operation';

export interface ListEntry {
	value: string;
	name: string;
	description?: string;
}

export interface ListPage {
	entries: ListEntry[];
	/** Where the next page begins, in the route's own terms. */
	next: string | undefined;
}

export interface ListRoute {
	/** What a page is remembered by. Never reused for another route. */
	name: string;
	/** Whether its one answer holds everything, so that searching and paging are up to the caller. */
	whole: boolean;
	/** The path with its query. @param cursor `next` of the page before */
	path(search: string, cursor: string | undefined): string;
	read(body: unknown, cursor: string | undefined): ListPage | undefined;
}

export interface List {
	what: string;
	/** The first one that answers with a list counts. */
	routes: readonly ListRoute[];
}

export const PAGE_SIZE = 100;
/** The provider whose voices `POST /v1/text-to-speech/{voice_id}` takes. `/v3/voices` puts the name before their IDs; that route takes them without. */
const PROVIDER = 'elevenlabs';

const NAMES = ['data', 'voices', 'models', 'items', 'results', 'voice_list'];

function entriesIn(body: unknown, read: (record: JsonObject) => ListEntry | undefined) {
	return recordsIn(body, NAMES)?.flatMap(
		(record) => read(isObject(record) ? record : { id: record }) ?? [],
	);
}

function words(values: readonly unknown[]): string {
	return values.flatMap((value) => asText(value) ?? []).join(', ');
}

function described(entry: ListEntry, description: string | undefined): ListEntry {
	return description === undefined ? entry : { ...entry, description };
}

function joined(between: string, texts: Array<string | undefined>): string | undefined {
	return texts.filter(Boolean).join(between) || undefined;
}

function voiceOf(record: JsonObject): ListEntry | undefined {
	const id = asText(record.voice_id) ?? asText(record.id);
	if (id === undefined) return undefined;
	const value = id.startsWith(`${PROVIDER}_`) ? id.slice(PROVIDER.length + 1) : id;
	const labels = isObject(record.labels) ? record.labels : {};
	const details = words([
		record.language ?? labels.language,
		record.accent ?? labels.accent,
		record.gender ?? labels.gender,
	]);
	const name = asText(record.name) ?? value;
	const description = asText(record.description);
	return described({ value, name: details === '' ? name : `${name} (${details})` }, description);
}

function modelOf(record: JsonObject): ListEntry | undefined {
	const value = asText(record.model_id) ?? asText(record.id);
	if (value === undefined) return undefined;
	const list = (values: unknown) => (Array.isArray(values) ? words(values) : undefined);
	const most = asText(record.max_generations);
	const images = most === '1' ? 'One image' : most && `Up to ${most} images`;
	const limits = joined('; ', [images, list(record.aspect_ratios), list(record.resolutions)]);
	const description = joined('. ', [asText(record.description), limits]);
	return described({ value, name: asText(record.name) ?? value }, description);
}

function query(fields: Record<string, string | undefined>): string {
	const given = Object.entries(fields).filter(
		(field): field is [string, string] => field[1] !== undefined && field[1] !== '',
	);
	return new URLSearchParams(given).toString();
}

function wholeList(path: string, read: (record: JsonObject) => ListEntry | undefined): ListRoute {
	return {
		name: path,
		whole: true,
		path: () => path,
		read(body) {
			const entries = entriesIn(body, read);
			return entries === undefined ? undefined : { entries, next: undefined };
		},
	};
}

const voicesV3: ListRoute = {
	name: 'v3',
	whole: false,
	path: (search, page = '1') =>
		`/v3/voices?${query({ provider: PROVIDER, search, page, page_size: String(PAGE_SIZE) })}`,
	read(body, page = '1') {
		const entries = entriesIn(body, voiceOf);
		if (entries === undefined) return undefined;
		const pagination = isObject(body) && isObject(body.pagination) ? body.pagination : {};
		const more = pagination.has_more === true && entries.length > 0;
		return { entries, next: more ? String(Number(page) + 1) : undefined };
	},
};

const voicesV2: ListRoute = {
	name: 'v2',
	whole: false,
	path: (search, token) =>
		`/v2/voices?${query({ search, page_size: String(PAGE_SIZE), next_page_token: token })}`,
	read(body) {
		const entries = entriesIn(body, voiceOf);
		if (entries === undefined) return undefined;
		const { has_more: more, next_page_token: token } = isObject(body) ? body : {};
		return { entries, next: more === false ? undefined : asText(token) };
	},
};

export const lists: Readonly<Record<ListName, List>> = {
	searchVoices: {
		what: 'voices',
		routes: [voicesV3, voicesV2, wholeList('/v1/voices', voiceOf)],
	},
	searchSpeechModels: {
		what: 'speech models',
		routes: [
			wholeList('/v1/models', (record) =>
				record.can_do_text_to_speech === false ? undefined : modelOf(record),
			),
		],
	},
	searchImageModels: { what: 'image models', routes: [wholeList('/v1i/models', modelOf)] },
};
