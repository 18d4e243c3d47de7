/** Makes something of a sound file: a transcript, a dubbing, another voice, the voice alone. All are forms (docs/service.md, "More routes"). */
import type { IDataObject, INodeProperties } from 'n8n-workflow';
import type { CreationRequest } from '../answers/request';
import type { ItemFields } from './fields';
import { inputFile } from './inputFiles';
import { transcriptOption } from './longText';
import type { Operation } from './operation';
import * as ui from './ui';
import { providerPrefix } from './voice';
import { voiceSettings, voiceSettingsField } from './voiceSettings';
import { callbackUrlField } from './waitingFields';

const only = (operation: string, fields: readonly INodeProperties[]) =>
	ui.shownWhen({ operation: [operation] }, fields);

const fileField = ui.text('Input Data Field Name', 'inputBinaryField', {
	required: true,
	default: 'data',
	hint: 'The name of the input field that holds the audio file to send',
});
const audioExtraFields = ui.extraFieldsOption('{"file_name": "interview"}');
const noCloning = ui.toggle('Keep Voices', 'keepVoices', {
	default: true,
	description:
		'Whether to keep the voices of the speakers by cloning them. Without this option: on.',
});
const transcriptionSettings = {
	tag_audio_events: ui.toggle('Tag Audio Events', 'tagAudioEvents', {
		default: true,
		description: 'Whether to mark sounds that are not speech, such as laughter',
	}),
};
const dubbingSettings = {
	num_speakers: ui.amount('Number of Speakers', 'numberOfSpeakers', {
		typeOptions: { minValue: 0 },
		description: 'How many people speak; 0 lets the service find out',
	}),
};
const changeSettings = {
	remove_background_noise: ui.toggle('Remove Background Noise', 'removeBackgroundNoise', {
		default: true,
		description: 'Whether to remove noise from the recording first',
	}),
};

export const audioFields: INodeProperties[] = [
	...ui.shownWhen({ operation: ['changeVoice', 'dub', 'isolateVoice', 'transcribe'] }, [fileField]),
	...only('dub', [
		ui.text('Target Language', 'targetLanguage', {
			required: true,
			placeholder: 'e.g. de',
			description: 'Code of the language to dub into',
		}),
		ui.text('Source Language', 'sourceLanguage', {
			default: 'auto',
			placeholder: 'e.g. en',
			description: 'Code of the language that is spoken. With "auto" the service finds out.',
		}),
		...ui.hiddenWhen({ waitForCompletion: [false] }, [
			callbackUrlField(
				'Some services refuse a dubbing without an address to report to, even if this node polls: enter any address of yours. Suspend sends its own.',
			),
		]),
	]),
	...only('changeVoice', [
		ui.locator('Voice', 'voiceId', {
			required: true,
			placeholder: 'e.g. 21m00Tcm4TlvDq8ikWAM',
			description: 'The voice that the recording gets',
			list: 'searchVoices',
		}),
		ui.text('Model', 'modelId', {
			default: 'eleven_multilingual_sts_v2',
			placeholder: 'e.g. eleven_multilingual_sts_v2',
			description: 'The model to change the voice with',
		}),
		voiceSettingsField,
	]),
];

export const audioOptions: INodeProperties[] = [
	audioExtraFields,
	...only('transcribe', Object.values(transcriptionSettings)),
	...ui.shownWhen({ operation: ['dub', 'transcribe'] }, [transcriptOption]),
	...only('dub', [noCloning, ...Object.values(dubbingSettings)]),
	...only('changeVoice', Object.values(changeSettings)),
];

/** Takes off the provider's name that the list of voices puts before an ID: with it the task fails. */
function plainVoice(voice: string): string {
	return voice.slice(providerPrefix(voice).length);
}

type Endpoint = Pick<CreationRequest, 'kind' | 'path' | 'labels' | 'usualFileMb'>;

/** An operation that sends one file of the item. */
function fileOperation(
	texts: Pick<Operation, 'value' | 'name' | 'action' | 'description'>,
	endpoint: Endpoint,
	bodyOf: (item: ItemFields) => IDataObject,
): Operation {
	return {
		...texts,
		work: {
			kind: 'creates',
			callsBack: endpoint.kind === 'dubbing',
			files: (item) => {
				const label = fileField.displayName;
				const inputDataFieldName = item.requiredText(fileField.name, label);
				return [inputFile(item, { name: 'file', inputDataFieldName }, label)];
			},
			request: (item) => ({
				...endpoint,
				optional: `Audio: ${texts.name}`,
				form: true,
				body: item.body(bodyOf(item), audioExtraFields),
				labels: { file: fileField.displayName, ...endpoint.labels },
			}),
		},
	};
}

export const audioOperations = {
	changeVoice: fileOperation(
		{
			value: 'changeVoice',
			name: 'Change Voice',
			action: 'Change voice',
			description: ui.costing('Give a recording another voice', 'by the length of the recording'),
		},
		{
			kind: 'voice-changer',
			path: '/v1/task/voice-changer',
			labels: {
				...{ voice_id: 'Voice', model_id: 'Model' },
				...ui.labelsOf({ ...voiceSettings, ...changeSettings }),
			},
		},
		(item) => ({
			voice_id: plainVoice(item.requiredText('voiceId', 'Voice')),
			model_id: item.optionalText('modelId', 'Model'),
			voice_settings: item.sentOptions(voiceSettings),
			...item.sentOptions(changeSettings),
		}),
	),
	dub: fileOperation(
		{
			value: 'dub',
			name: 'Dub',
			action: 'Dub audio',
			description: ui.costing(
				'Dub a recording into another language',
				'by the length of the recording',
			),
		},
		{
			kind: 'dubbing',
			path: '/v1/task/dubbing',
			usualFileMb: 20,
			labels: {
				...{ target_lang: 'Target Language', source_lang: 'Source Language' },
				...{ disable_voice_cloning: noCloning.displayName, receive_url: 'Callback URL' },
				...ui.labelsOf(dubbingSettings),
			},
		},
		(item) => ({
			target_lang: item.requiredText('targetLanguage', 'Target Language'),
			source_lang: item.optionalText('sourceLanguage', 'Source Language') ?? 'auto',
			disable_voice_cloning: !item.boolean(noCloning.name, noCloning.displayName, true),
			...item.sentOptions(dubbingSettings),
		}),
	),
	isolateVoice: fileOperation(
		{
			value: 'isolateVoice',
			name: 'Isolate Voice',
			action: 'Isolate voice',
			description: ui.costing(
				'Remove everything but the voice from a recording',
				'by the length of the recording',
			),
		},
		{ kind: 'voice-isolate', path: '/v1/task/voice-isolate' },
		() => ({}),
	),
	transcribe: fileOperation(
		{
			value: 'transcribe',
			name: 'Transcribe',
			action: 'Transcribe audio',
			description: ui.costing(
				'Get the text and the subtitles of a recording',
				'by the length of the recording',
			),
		},
		{
			kind: 'transcription',
			path: '/v1/task/speech-to-text',
			usualFileMb: 200,
			labels: ui.labelsOf(transcriptionSettings),
		},
		(item) => ({ ...item.sentOptions(transcriptionSettings) }),
	),
};
