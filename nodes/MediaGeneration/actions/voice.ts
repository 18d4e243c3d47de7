/** Lists voices: what the voice picker offers (docs/service.md, "More routes"). */
import { asText, isObject } from '../base/json';
import { readList, VOICE_PROVIDERS, voicesOf } from './lists';
import { collection, limitFields, text, type Resource } from './operation';

export const voice: Resource = {
	value: 'voice',
	name: 'Voice',
	fields: [
		...limitFields,
		collection('Filters', 'filters', {
			placeholder: 'Add Filter',
			options: [
				text('Provider', 'provider', {
					placeholder: 'e.g. minimax',
					description: `Only voices of this provider, e.g. ${VOICE_PROVIDERS.join(', ')}`,
				}),
				text('Search', 'search', {
					placeholder: 'e.g. english female',
					description: 'Only voices in whose name or description these words are found',
				}),
			],
		}),
	],
	operations: [
		{
			value: 'getAll',
			name: 'Get Many',
			action: 'Get many voices',
			description: 'Get many voices with their IDs, if the service lists them',
			subtitle: 'Get Many Voices',
			work: {
				kind: 'reads',
				async read(from, fields) {
					const given = fields.raw('filters');
					const filters = isObject(given) ? given : {};
					const list = voicesOf(asText(filters.provider)?.trim() || undefined);
					const words = asText(filters.search)?.trim() ?? '';
					const voices = await readList(from, list, { words, limit: fields.limit() });
					return voices.map(({ value, record }) => {
						const { voice_id: _, ...others } = record;
						return { voice_id: value, name: value, ...others };
					});
				},
			},
		},
	],
};
