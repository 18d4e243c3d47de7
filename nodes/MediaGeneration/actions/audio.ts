/** Makes something of existing sound files: by the service, or, joining them, without it (docs/media.md). */
import {
	audioFields,
	audioOptions,
	changeVoice,
	dub,
	isolateVoice,
	transcribe,
} from './audioTasks';
import { maxFileSizeOption } from './fileSettings';
import { pauseOption } from './longText';
import type { Resource } from './operation';
import * as ui from './ui';

/** `run/joinItems` reads these fields of Audio: Join. */
export const joining = {
	input: ui.text('Input Data Field Name', 'inputBinaryField', {
		required: true,
		default: 'data',
		hint: 'The name of the input field that holds the audio file of each item',
	}),
	groupBy: ui.text('Group By', 'groupBy', {
		placeholder: 'e.g. chapter-1',
		description:
			'Items with the same value are joined into one file, in their order. Usually an expression: {{ $json.chapter }}. Leave empty to join all items.',
	}),
	fileName: ui.text('File Name', 'fileName', {
		placeholder: 'e.g. chapter-1',
		description:
			'Name of the joined file; its extension is added. Leave empty for the value of Group By, or "joined" without one.',
	}),
	output: ui.text('Put Output File in Field', 'outputBinaryField', {
		required: true,
		default: 'data',
		hint: 'The name of the output field for the joined file; merged captions get _1 appended',
	}),
};
const joinedSizeOption = {
	...maxFileSizeOption,
	description: 'If the joined file would be larger, the items fail instead',
};

export const audio: Resource = {
	value: 'audio',
	name: 'Audio',
	// An agent passes only texts.
	displayOptions: { hide: ui.AS_TOOL },
	fields: [
		...audioFields,
		...ui.shownWhen({ operation: ['join'] }, [
			...Object.values(joining),
			ui.optionsField([pauseOption, joinedSizeOption]),
		]),
	],
	options: audioOptions,
	defaultOperation: 'transcribe',
	operations: [
		changeVoice,
		dub,
		isolateVoice,
		{
			value: 'join',
			name: 'Join',
			action: 'Join audio',
			description:
				'Join the audio files (MP3 or WAV) of all items into one. The service is not used.',
			work: { kind: 'joins' },
		},
		transcribe,
	],
};
