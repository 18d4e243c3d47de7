/** Makes something of a sound file: a transcript, a dubbing, another voice, the voice alone. */
import type { INodeProperties } from 'n8n-workflow';
import { transcriptOption } from './fileSettings';
import { audioExtraFields, fileField, fileOperation } from './fileOperation';
import * as ui from './ui';
import { providerPrefix } from './voice';
import { voiceSettings, voiceSettingsField } from './voiceSettings';
import { callbackUrlField } from './waiting';

const only = (operation: string, fields: readonly INodeProperties[]) =>
	ui.shownWhen({ operation: [operation] }, fields);

const tagOption = ui.toggle('Tag Audio Events', 'tagAudioEvents', {
	default: true,
	description: 'Whether to mark sounds that are not speech, such as laughter',
});

const targetField = ui.text('Target Language', 'targetLanguage', {
	required: true,
	placeholder: 'e.g. de',
	description: 'Code of the language to dub into',
});
const sourceField = ui.text('Source Language', 'sourceLanguage', {
	default: 'auto',
	placeholder: 'e.g. en',
	description: 'Code of the language that is spoken. With "auto" the service finds out.',
});
const keepVoicesOption = ui.toggle('Keep Voices', 'keepVoices', {
	default: true,
	description:
		'Whether to keep the voices of the speakers by cloning them. Without this option, voices are kept.',
});
const speakersOption = ui.amount('Number of Speakers', 'numberOfSpeakers', {
	typeOptions: { minValue: 0, numberPrecision: 0 },
	description: 'How many people speak; 0 lets the service find out',
});

const voiceField = ui.locator('Voice', 'voiceId', {
	required: true,
	placeholder: 'e.g. 21m00Tcm4TlvDq8ikWAM',
	description: 'The voice that the recording gets',
	list: 'searchVoices',
});
const modelField = ui.text('Model', 'modelId', {
	default: 'eleven_multilingual_sts_v2',
	placeholder: 'e.g. eleven_multilingual_sts_v2',
	description: 'The model to change the voice with',
});
const noiseOption = ui.toggle('Remove Background Noise', 'removeBackgroundNoise', {
	default: true,
	description: 'Whether to remove noise from the recording first',
});

export const audioFields: INodeProperties[] = [
	...ui.shownWhen({ operation: ['changeVoice', 'dub', 'isolateVoice', 'transcribe'] }, [fileField]),
	...only('dub', [
		targetField,
		sourceField,
		...ui.hiddenWhen({ waitForCompletion: [false] }, [
			{
				...callbackUrlField,
				description:
					'Some services refuse a dubbing without an address to report to, even if this node polls: enter any address of your own. Suspend sends its own.',
			},
		]),
	]),
	...only('changeVoice', [voiceField, modelField, voiceSettingsField]),
];

export const audioOptions: INodeProperties[] = [
	audioExtraFields,
	...only('transcribe', [tagOption]),
	...ui.shownWhen({ operation: ['dub', 'transcribe'] }, [transcriptOption]),
	...only('dub', [keepVoicesOption, speakersOption]),
	...only('changeVoice', [noiseOption]),
];

export const changeVoice = fileOperation({
	value: 'changeVoice',
	name: 'Change Voice',
	action: 'Change voice',
	description: 'Give a recording another voice',
	...{ kind: 'voice-changer', makesFile: true },
	path: '/v1/task/voice-changer',
	fields: {
		voice_id: voiceField,
		model_id: modelField,
		voice_settings: voiceSettings,
		remove_background_noise: noiseOption,
	},
	apart: (item) => {
		const voice = item.requiredText(voiceField);
		// The task fails if the provider's name, which the list of voices puts before an ID, is sent.
		return { voice_id: voice.slice(providerPrefix(voice).length) };
	},
});

export const dub = fileOperation({
	value: 'dub',
	name: 'Dub',
	action: 'Dub audio',
	description: 'Dub a recording into another language',
	...{ kind: 'dubbing', makesFile: true },
	path: '/v1/task/dubbing',
	usualFileMb: 20,
	callsBack: true,
	fields: {
		target_lang: targetField,
		source_lang: sourceField,
		num_speakers: speakersOption,
		disable_voice_cloning: keepVoicesOption,
	},
	apart: (item) => ({
		source_lang: item.text(sourceField) ?? 'auto',
		disable_voice_cloning: !item.boolean(keepVoicesOption),
	}),
});

export const isolateVoice = fileOperation({
	value: 'isolateVoice',
	name: 'Isolate Voice',
	action: 'Isolate voice',
	description: 'Remove everything but the voice from a recording',
	...{ kind: 'voice-isolate', makesFile: true, path: '/v1/task/voice-isolate', fields: {} },
});

export const transcribe = fileOperation({
	value: 'transcribe',
	name: 'Transcribe',
	action: 'Transcribe audio',
	description: 'Get the text and the subtitles of a recording',
	kind: 'transcription',
	path: '/v1/task/speech-to-text',
	usualFileMb: 200,
	fields: { tag_audio_events: tagOption },
});
