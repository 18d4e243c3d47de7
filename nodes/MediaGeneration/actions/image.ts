/** Makes images: `POST /v1i/task/generate-image` (docs/service.md, "Endpoints"). Models differ in what they take, so empty values are left out. */
import { asText, textsBetweenCommas, type JsonObject } from '../base/json';
import { attemptAsync, FailureError, invalid } from '../base/outcomes';
import { askOptional } from '../transport/reading';
import { unreadable } from '../answers/failures';
import { costIn, creditsOf } from '../answers/balance';
import type { InputFile, ItemFields } from './fields';
import { bodyTypeField, inputFile, isForm } from './inputFiles';
import { modelEntry } from './model';
import { pickList, type PickList } from './pickLists';
import type { Resource, ReadSource } from './operation';
import * as ui from './ui';
import { refusedQuestion } from './refusal';

const imageExtraFields = ui.extraFieldsOption('{"model_parameters": {"quality": "high"}}');
const promptField = ui.text('Prompt', 'prompt', {
	typeOptions: { rows: 4 },
	required: true,
	placeholder: 'e.g. A lighthouse at dawn, watercolour',
	description: 'What the image should show',
	displayOptions: { show: { operation: ['generate'] } },
});
const aspectRatioField = ui.locator('Aspect Ratio', 'aspectRatio', {
	placeholder: 'e.g. 16:9',
	description: 'Shape of the image. The list has what the model accepts; some accept none.',
	list: 'searchAspectRatios',
});
const resolutionField = ui.locator('Resolution', 'resolution', {
	placeholder: 'e.g. 2K',
	description: 'Size of the image. The list has what the model accepts; some accept none.',
	list: 'searchResolutions',
});
/** What makes a picture besides its prompt. Its price depends on them, too. */
const pictureFields = {
	model_id: ui.locator('Model', 'modelId', {
		placeholder: 'e.g. image-1',
		description:
			"The model to use. With 'Service Default' the request names none: some services then choose one, others refuse the request.",
		list: 'searchImageModels',
	}),
	generations_count: ui.amount('Number of Images', 'generationsCount', {
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 1,
		description:
			'How many images to make. All of them belong to one task. The list of models shows how many each makes.',
	}),
	model_parameters: { aspect_ratio: aspectRatioField, resolution: resolutionField },
};
const referenceCountField = ui.amount('Number of Reference Images', 'referenceImageCount', {
	typeOptions: { minValue: 0, numberPrecision: 0 },
	description: 'How many reference images the request would have',
	displayOptions: { show: { operation: ['getPrice'] } },
});
const referencesOption = ui.text('Reference Images', 'referenceImages', {
	placeholder: 'e.g. data, data_1',
	description:
		'Names of the input data fields that hold the reference images, separated by commas. The prompt refers to them as @img1, @img2 and so on. The request is then sent as a form.',
});

/** Reads the names of fields of the item that hold files. */
function referencesOf(item: ItemFields): string[] {
	return textsBetweenCommas(item.text(referencesOption) ?? '');
}

function referenceFiles(item: ItemFields): InputFile[] {
	return referencesOf(item).map((inputDataFieldName) =>
		inputFile(item, { name: 'assets', inputDataFieldName }, referencesOption),
	);
}

/** Refuses a name without a file. Some services refuse fewer names than files, others don't. */
function checkNames(prompt: string, count: number): void {
	const numbers = [...prompt.matchAll(/@img(\d+)\b/gi)].map(([, number]) => Number(number));
	const beyond = numbers.find((number) => number > count);
	if (beyond === undefined) return;
	const has = count === 1 ? 'there is 1 reference image' : `there are ${count} reference images`;
	throw invalid(
		`The prompt names @img${beyond}, but ${has}`,
		`Add the input data field of that image to the option '${referencesOption.displayName}', or take the name out of the prompt. Nothing was sent.`,
	);
}

/** Makes the list of what a model accepts, or of what any accepts if none is chosen. */
export function acceptedValues(field: 'aspect_ratios' | 'resolutions', modelId: string): PickList {
	const entryOf = (record: JsonObject) => {
		const isMeant = modelId === '' || modelEntry(record)?.value === modelId;
		const values = isMeant ? [record[field]].flat() : [];
		return values
			.flatMap((value) => asText(value) ?? [])
			.map((value) => ({ value, name: value, description: undefined, record }));
	};
	const what = `${field.replace('_', ' ')}${modelId && ' for this model'}`;
	const list = pickList(what, [{ path: () => '/v1i/models', entryOf }], true);
	const description = 'Leave the field empty if the model accepts none.';
	return { ...list, none: { ...list.none, description } };
}

async function getPrice(from: ReadSource, item: ItemFields): Promise<JsonObject[]> {
	const fields = { ...pictureFields, assets: referenceCountField };
	const { body, labels } = item.sends(fields, imageExtraFields);
	const path = '/v1i/task/price';
	const answer = await attemptAsync(
		async () => await askOptional({ ...from, path, body, what: 'The price' }, 'quote image prices'),
	);
	if (!answer.ok) throw new FailureError(refusedQuestion(answer.failure, labels));
	// Other names are those of a balance.
	const credits = costIn(answer.value) ?? creditsOf(answer.value, ['credits']);
	if (credits === undefined) throw new FailureError(unreadable(path, 'the answer has no price'));
	return [{ ...answer.value, credits }];
}

export const image: Resource = {
	value: 'image',
	name: 'Image',
	fields: [
		promptField,
		pictureFields.model_id,
		pictureFields.generations_count,
		aspectRatioField,
		resolutionField,
		referenceCountField,
		...ui.shownWhen({ operation: ['getPrice'] }, [ui.optionsField([imageExtraFields])]),
	],
	options: [imageExtraFields, bodyTypeField, ...ui.hiddenWhen(ui.AS_TOOL, [referencesOption])],
	operations: [
		{
			value: 'generate',
			name: 'Generate',
			action: 'Generate image',
			description: ui.costing('Generate one or more images from a prompt', 'per image'),
			subtitle: 'Image',
			subtitleField: 'generationsCount',
			work: {
				kind: 'creates',
				files: referenceFiles,
				request(item) {
					const fields = { prompt: promptField, ...pictureFields };
					const { body, labels } = item.sends(fields, imageExtraFields);
					if (body.assets === undefined)
						checkNames(asText(body.prompt) ?? '', referencesOf(item).length);
					const path = '/v1i/task/generate-image';
					const sent = { ...labels, ...ui.labelsOf({ assets: referencesOption }) };
					return { kind: 'image', makesFile: true, path, form: isForm(item), body, labels: sent };
				},
			},
		},
		{
			value: 'getPrice',
			name: 'Get Price',
			action: 'Get image price',
			description: 'Get the price of an image without generating it',
			work: { kind: 'reads', read: getPrice },
		},
	],
};
