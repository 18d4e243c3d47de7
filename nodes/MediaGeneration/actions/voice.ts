/** Lists voices, for workflows and for the voice picker (docs/service.md, "More routes"). */
import { asText, isObject, type JsonObject } from '../base/json';
import { idProblem, urlOf } from '../base/url';
import {
	joinTexts,
	pickList,
	wholeList,
	type ListEntry,
	type PickList,
	type PickRoute,
} from './pickLists';
import { readPages } from '../transport/pages';
import { getMany, type Resource } from './operation';
import * as ui from './ui';

/** `/v3/voices` puts the provider's name before each ID. The v1 route of speech takes this provider's voices, without the name. */
export const V1_PROVIDER = 'elevenlabs';
export const VOICE_PROVIDERS = `${V1_PROVIDER} minimax edge kokoro vbee fishaudio clone`.split(' ');

/** Returns the provider's prefix of a voice ID, with its underscore; empty if it has none. */
export const providerPrefix = (voice: string): string =>
	VOICE_PROVIDERS.map((name) => `${name}_`).find((each) => voice.startsWith(each)) ?? '';

function voiceEntry(record: JsonObject): ListEntry | undefined {
	const value = asText(record.voice_id) ?? asText(record.id);
	if (value === undefined || idProblem(value) !== undefined) return undefined;
	const labels = isObject(record.labels) ? record.labels : {};
	const details = joinTexts(', ', [
		record.language ?? labels.language,
		record.accent ?? labels.accent,
		record.gender ?? labels.gender,
	]);
	const known = asText(record.name) ?? value;
	const name = details === '' ? known : `${known} (${details})`;
	const preview = urlOf(record.preview_url ?? record.preview);
	const link = /^https?:$/.test(preview?.protocol ?? '') ? preview?.href : undefined;
	return { value, name, description: asText(record.description), link, record };
}

const voicesV3 = (provider: string, words: string): PickRoute => ({
	path(page) {
		const found: Record<string, string> = words === '' ? {} : { search: words };
		const query = new URLSearchParams({ provider, ...found, page: `${page}`, page_size: '100' });
		return `/v3/voices?${query.toString()}`;
	},
	entryOf: (record) => voiceEntry({ ...record, provider: record.provider ?? provider }),
	hasMore: (more) => more === true,
});

/** @param provider the only one whose voices are wanted */
export function voicesOf(words: string, provider?: string): PickList {
	const providers = provider === undefined ? VOICE_PROVIDERS : [provider];
	const newer = providers.map((each) => voicesV3(each, words));
	const older = wholeList('/v1/voices', words, (record) =>
		provider === undefined || record.provider === provider ? voiceEntry(record) : undefined,
	);
	return pickList('voices', [...newer, { ...older, isFallback: true }]);
}

const providerFilter = ui.text('Provider', 'provider', {
	placeholder: 'e.g. minimax',
	description: `Only voices of this provider, e.g. ${VOICE_PROVIDERS.join(', ')}`,
});
const searchFilter = ui.text('Search', 'search', {
	placeholder: 'e.g. english female',
	description: 'Only voices whose name or description contains these words',
});

export const voice: Resource = {
	value: 'voice',
	name: 'Voice',
	fields: [...ui.limitFields, ui.filtersField([providerFilter, searchFilter])],
	operations: [
		getMany('voices', 'with their IDs, if the service lists them', async (from, fields) => {
			const list = voicesOf(fields.text(searchFilter) ?? '', fields.text(providerFilter));
			const { entries } = await readPages(list, { ...from, limit: fields.limit() });
			return entries.map(({ value, record }) => {
				const { voice_id: _, ...others } = record;
				return { voice_id: value, name: value, ...others };
			});
		}),
	],
};
