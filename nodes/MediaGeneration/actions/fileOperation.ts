/** Makes operations that send one sound file as a form (docs/service.md, "More routes"). */
import type { CreationRequest } from '../answers/request';
import type { JsonObject } from '../base/json';
import type { ItemFields } from './fields';
import { inputFile } from './inputFiles';
import type { Operation } from './operation';
import * as ui from './ui';
import { callbackUrlField } from './waiting';

export const fileField = ui.text('Input Data Field Name', 'inputBinaryField', {
	required: true,
	default: 'data',
	hint: 'The name of the input field that holds the audio file to send',
});
export const audioExtraFields = ui.extraFieldsOption('{"file_name": "interview"}');

type Texts = Pick<Operation, 'value' | 'name' | 'action' | 'description'>;
type Endpoint = Pick<CreationRequest, 'kind' | 'makesFile' | 'path' | 'usualFileMb'>;
interface FileOperation extends Texts, Endpoint {
	fields: ui.SentFields;
	/** What is not sent as its field has it. */
	apart?: (item: ItemFields) => JsonObject;
	/** Whether services may want a Callback URL. */
	callsBack?: boolean;
}

/** Makes one that sends a file of the item. */
export function fileOperation(given: FileOperation): Operation {
	const { kind, makesFile, path, usualFileMb, fields, apart, callsBack = false, ...texts } = given;
	const labels = ui.labelsOf({
		file: fileField,
		...(callsBack && { receive_url: callbackUrlField }),
	});
	return {
		...texts,
		description: ui.costing(texts.description, 'according to the length of the recording'),
		work: {
			kind: 'creates',
			callsBack,
			files: (item) => {
				const inputDataFieldName = item.requiredText(fileField);
				return [inputFile(item, { name: 'file', inputDataFieldName }, fileField)];
			},
			request: (item) => {
				const sent = item.sends(fields, audioExtraFields, apart?.(item));
				return {
					...{ kind, makesFile, path, usualFileMb, form: true },
					...sent,
					optional: `Audio: ${texts.name}`,
					labels: { ...labels, ...sent.labels },
				};
			},
		},
	};
}
