/** How a voice speaks: fields that operations with voices share. */
import type { INodeProperties } from 'n8n-workflow';
import * as ui from './ui';

export const voiceSettings = {
	similarity_boost: ui.fraction('Similarity Boost', 'similarityBoost', {
		default: 0.75,
		description: 'How close to stay to the original voice, from 0 to 1',
	}),
	speed: ui.amount('Speed', 'speed', {
		typeOptions: { minValue: 0.5, maxValue: 1.5, numberPrecision: 2 },
		default: 1,
		description: 'How fast to speak, from 0.5 (slow) to 1.5 (fast)',
	}),
	stability: ui.fraction('Stability', 'stability', {
		default: 0.5,
		description: 'How even the voice is, from 0 (expressive) to 1 (monotonous)',
	}),
	style: ui.fraction('Style', 'style', {
		description: 'How much to exaggerate the style of the voice, from 0 to 1',
	}),
};

export const voiceSettingsField: INodeProperties = ui.collection(
	'Voice Settings',
	'voiceSettings',
	{
		placeholder: 'Add Setting',
		description: 'Settings of the voice. Those that are not added are left to the service.',
		options: Object.values(voiceSettings),
	},
);

export const speechExtraFields = ui.extraFieldsOption(
	'{"voice_settings": {"use_speaker_boost": true}}',
);

export const captionsField = ui.toggle('Captions', 'withTranscript', {
	description:
		'Whether to also get captions (SRT) and word timings (JSON): two more files, in the fields after the audio',
});

export const dictionaryOption = ui.text(
	'Pronunciation Dictionary ID',
	'pronunciationDictionaryId',
	{
		placeholder: 'e.g. 42',
		description: 'A dictionary of the account that says how to pronounce words',
	},
);
