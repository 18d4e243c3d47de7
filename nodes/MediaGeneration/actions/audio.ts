/** Joins existing sound files, without the service (docs/media.md). */
import { pauseOption } from './longText';
import type { Resource } from './operation';
import * as ui from './ui';

export const audio: Resource = {
	value: 'audio',
	name: 'Audio',
	// An agent passes only texts.
	displayOptions: { hide: ui.AS_TOOL },
	fields: [
		ui.text('Input Data Field Name', 'inputBinaryField', {
			required: true,
			default: 'data',
			hint: 'The name of the input field that holds the audio file of each item',
		}),
		ui.text('Group By', 'groupBy', {
			placeholder: 'e.g. chapter-1',
			description:
				'Items with the same value are joined into one file, in their order. Usually an expression: {{ $json.chapter }}. Leave empty to join all items.',
		}),
		ui.text('File Name', 'fileName', {
			placeholder: 'e.g. chapter-1',
			description: 'Name of the joined file; its extension is added. Leave empty for "joined".',
		}),
		ui.text('Put Output File in Field', 'outputBinaryField', {
			required: true,
			default: 'data',
			hint: 'The name of the output field for the joined file; merged captions get _1 appended',
		}),
		ui.optionsField([
			pauseOption,
			ui.maxFileSizeOption('If the joined file would be larger, the items fail instead'),
		]),
	],
	operations: [
		{
			value: 'join',
			name: 'Join',
			action: 'Join audio',
			description:
				'Join the audio files (MP3 or WAV) of all items into one. The service is not used.',
			work: { kind: 'joins' },
		},
	],
};
