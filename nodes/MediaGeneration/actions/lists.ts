/** Says which routes to ask for the lists that services may publish, and reads their answers (docs/service.md, "More routes"). */
import { asText, isObject, type JsonObject } from '../base/json';
import { recordsOf, type Page } from '../transport/paging';
import type { ListName } from './operation';

export interface ListEntry {
	value: string;
	name: string;
	description?: string;
}

export interface ListRoute {
	/** A page is remembered by this name, so never reuse it for another route. */
	name: string;
	/** Makes the path with its query. @param cursor `next` of the page before */
	path(search: string, cursor: string | undefined): string;
	entryOf(record: JsonObject): ListEntry | undefined;
	/** A route without this answers with everything at once; the caller searches and pages. */
	next?(answer: JsonObject, cursor: string | undefined): string | undefined;
}

export interface List {
	what: string;
	/** Whether the field may be left out, so that the list begins with an entry for that. */
	optional?: boolean;
	/** The first one that answers with a list counts, or `all` do, one after the other. */
	routes: readonly ListRoute[];
	all?: boolean;
}

export const PICKER_PAGE_SIZE = 100;
const SIZE = { page_size: String(PICKER_PAGE_SIZE) };
/** `/v3/voices` puts the provider's name before each ID. The v1 route of speech takes the voices of the first one, and without its name. */
export const V1_PROVIDER = 'elevenlabs';
const OTHER_PROVIDERS = ['minimax', 'edge', 'kokoro', 'vbee', 'fishaudio', 'clone'];
export const VOICE_PROVIDERS = [V1_PROVIDER, ...OTHER_PROVIDERS];

const joinTexts = (between: string, values: readonly unknown[]) =>
	values.flatMap((value) => asText(value) ?? []).join(between);

const v1VoiceEntry = (record: JsonObject) => voiceEntry(record, `${V1_PROVIDER}_`);

/** @param omitted what the ID is listed without */
function voiceEntry(record: JsonObject, omitted: string): ListEntry | undefined {
	const id = asText(record.voice_id) ?? asText(record.id);
	if (id === undefined) return undefined;
	const value = id.startsWith(omitted) ? id.slice(omitted.length) : id;
	const labels = isObject(record.labels) ? record.labels : {};
	const details = joinTexts(', ', [
		record.language ?? labels.language,
		record.accent ?? labels.accent,
		record.gender ?? labels.gender,
	]);
	const known = asText(record.name) ?? value;
	const name = details === '' ? known : `${known} (${details})`;
	const description = asText(record.description);
	return { value, name, ...(description && { description }) };
}

function modelOf(record: JsonObject): ListEntry | undefined {
	const value = asText(record.model_id) ?? asText(record.id);
	if (value === undefined) return undefined;
	const list = (values: unknown) => (Array.isArray(values) ? joinTexts(', ', values) : undefined);
	const most = asText(record.max_generations);
	const images = most === '1' ? 'One image' : most && `Up to ${most} images`;
	const limits = joinTexts('; ', [images, list(record.aspect_ratios), list(record.resolutions)]);
	const description = joinTexts('. ', [asText(record.description), limits]);
	return { value, name: asText(record.name) ?? value, ...(description && { description }) };
}

function pathWith(path: string, fields: Record<string, string | undefined>): string {
	const given = new URLSearchParams();
	for (const [name, value = ''] of Object.entries(fields)) if (value !== '') given.set(name, value);
	return `${path}?${given.toString()}`;
}

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

const wholeList = (path: string, entryOf: ListRoute['entryOf']): ListRoute => {
	return { name: path, path: () => path, entryOf };
};

const voicesV3 = (name: string, provider: string, entryOf = v1VoiceEntry): ListRoute => ({
	name,
	path: (search, page = '1') => pathWith('/v3/voices', { provider, search, page, ...SIZE }),
	entryOf,
	next({ pagination }, page = '1') {
		const more = isObject(pagination) && pagination.has_more === true;
		return more ? String(Number(page) + 1) : undefined;
	},
});

/** The v3 route of speech takes all of these. */
export const voicesOfAll: List = {
	what: 'voices',
	all: true,
	routes: VOICE_PROVIDERS.map((provider) =>
		voicesV3(`v3 ${provider}`, provider, (record) => voiceEntry(record, '')),
	),
};

const voicesV2: ListRoute = {
	name: 'v2',
	path: (search, token) => pathWith('/v2/voices', { search, ...SIZE, next_page_token: token }),
	entryOf: v1VoiceEntry,
	next: ({ has_more: more, next_page_token: token }) =>
		more === false ? undefined : asText(token),
};

export const lists: Readonly<Record<ListName, List>> = {
	searchVoices: {
		what: 'voices',
		routes: [voicesV3('v3', V1_PROVIDER), voicesV2, wholeList('/v1/voices', v1VoiceEntry)],
	},
	searchSpeechModels: {
		what: 'speech models',
		optional: true,
		routes: [
			wholeList('/v1/models', (record) =>
				record.can_do_text_to_speech === false ? undefined : modelOf(record),
			),
		],
	},
	searchImageModels: {
		what: 'image models',
		optional: true,
		routes: [wholeList('/v1i/models', modelOf)],
	},
};
