/** Lists models, for workflows and for the model pickers (docs/service.md, "More routes"). */
import { asNumber, asText, type JsonObject } from '../base/json';
import { attemptAsync } from '../base/outcomes';
import { realClock } from '../n8n/realClock';
import { joinTexts, pickList, wholeList, type ListEntry, type PickList } from './pickLists';
import { readPages } from '../transport/pages';
import { getMany, type ReadSource, type Resource } from './operation';
import { choice, limitFields, select } from './ui';

export function modelEntry(record: JsonObject): ListEntry | undefined {
	const value = asText(record.model_id) ?? asText(record.id);
	if (value === undefined) return undefined;
	const list = (values: unknown) => (Array.isArray(values) ? joinTexts(', ', values) : undefined);
	const most = asText(record.max_generations);
	const images = most === '1' ? 'One image' : most && `Up to ${most} images`;
	const limits = joinTexts('; ', [images, list(record.aspect_ratios), list(record.resolutions)]);
	const description = joinTexts('. ', [asText(record.description), limits]);
	return { value, name: asText(record.name) ?? value, description, record };
}

const speechModel = (record: JsonObject) =>
	record.can_do_text_to_speech === false ? undefined : modelEntry(record);

/** Each makes the list of what has some words in it. */
export const models: Record<'image' | 'speech', (words: string) => PickList> = {
	image: (words) => pickList('image models', [wholeList('/v1i/models', words, modelEntry)], true),
	speech: (words) => pickList('speech models', [wholeList('/v1/models', words, speechModel)], true),
};

/** Reads how many images each model makes at most, as far as the service says so. It is asked once, and not during a pause. */
export async function imageLimits({ client, signal }: ReadSource): Promise<Map<string, number>> {
	if (client.account.pausedUntil('read') > realClock.now()) return new Map();
	const once = { client, signal, limit: Infinity, tries: 1, timeoutMs: 5_000 };
	const read = await attemptAsync(async () => await readPages(models.image(''), once));
	const found = read.ok ? read.value.entries : [];
	return new Map(
		found.flatMap(({ value, record }) => {
			const most = asNumber(record.max_generations);
			return most === undefined ? [] : [[value, most] as const];
		}),
	);
}

const modelTypeField = select('Model Type', 'modelType', {
	options: [
		choice('Image', 'image', 'Models that generate images'),
		choice('Speech', 'speech', 'Models that speak'),
	],
	default: 'image',
	description: 'What the models generate',
});

export const model: Resource = {
	value: 'model',
	name: 'Model',
	fields: [modelTypeField, ...limitFields],
	operations: [
		getMany('models', 'with their IDs, if the service lists them', async (from, fields) => {
			const type = fields.choice(modelTypeField) === 'image' ? 'image' : 'speech';
			const { entries } = await readPages(models[type](''), { ...from, limit: fields.limit() });
			return entries.map(({ value, record }) => ({ ...record, model_id: value }));
		}),
	],
};
