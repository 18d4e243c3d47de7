/** Makes speech, by voice ID (`POST /v1/text-to-speech/{voice_id}`) or voice name (`POST /v1e/task/text-to-speech`). See docs/service.md, "Endpoints". */
import { dialogueFields, generateDialogue, lineDelayOption } from './dialogue';
import { transcriptOption } from './fileSettings';
import { longTextField, longTextOptions } from './longText';
import type { Resource } from './operation';
import * as ui from './ui';
import {
	captionsField,
	dictionaryOption,
	speechExtraFields,
	voiceSettings,
	voiceSettingsField,
} from './voiceSettings';

const forText = { operation: ['generateByVoiceId', 'generateByVoiceName'] };
const forVoiceId = { operation: ['generateByVoiceId'] };

/** Makes choices of a codec's formats: samples per second, and kbit/s if they differ. */
const formatsOf = (codec: string, [name, description]: [string, string], formats: string) =>
	formats.split(' ').map((format) => {
		const [rate, kbits] = format.split('_');
		const bits = kbits === undefined ? '' : `, ${kbits} kbit/s`;
		return ui.choice(
			`${name}, ${Number(rate) / 1_000} kHz${bits}`,
			`${codec}_${format}`,
			description,
		);
	});

const mp3Formats = '22050_32 24000_48 44100_32 44100_64 44100_96 44100_192';
const opusFormats = '48000_32 48000_64 48000_96 48000_128 48000_192';
const pcmFormats = '8000 16000 22050 24000 32000 44100 48000';
const outputFormats = [
	ui.choice('MP3, 44.1 kHz, 128 kbit/s', 'mp3_44100_128', 'The usual choice: it plays everywhere'),
	...formatsOf('mp3', ['MP3', 'Another size or quality'], mp3Formats),
	...formatsOf('alaw', ['A-Law', 'For telephony'], '8000'),
	...formatsOf('ulaw', ['Mu-Law', 'For telephony'], '8000'),
	...formatsOf('opus', ['Opus', 'Small files'], opusFormats),
	...formatsOf('pcm', ['PCM', 'Raw samples without a header'], pcmFormats),
];

const speakerField = ui.locator('Voice', 'voiceId', {
	required: true,
	placeholder: 'e.g. 21m00Tcm4TlvDq8ikWAM',
	description:
		'Pick a voice from the list of the service. If it publishes none, choose By ID and enter the ID.',
	list: 'searchVoices',
});
const voiceNameField = ui.text('Voice Name', 'voice', {
	required: true,
	placeholder: 'e.g. en-US-AriaNeural',
	description:
		'Name of the voice as the service documents it. It usually begins with a language code. To pick a voice from a list, use "Generate by Voice ID".',
});
const spokenField = ui.text('Text', 'text', {
	typeOptions: { rows: 4 },
	required: true,
	placeholder: 'e.g. Welcome aboard!',
	description: 'The text to speak',
});
const speechModelField = ui.locator('Model', 'modelId', {
	placeholder: 'e.g. eleven_multilingual_v2',
	description: "The model to speak with. With 'Service Default' the service chooses.",
	list: 'searchSpeechModels',
});
const formatField = ui.openChoice('Output Format', 'outputFormat', {
	description: "Format of the audio file. With 'Service Default' the service chooses.",
	options: outputFormats,
});
const pathLabels = ui.labelsOf({ voice_id: speakerField, output_format: formatField });

export const speech: Resource = {
	value: 'speech',
	name: 'Speech',
	fields: [
		...ui.shownWhen(forVoiceId, [speakerField]),
		...ui.shownWhen({ operation: ['generateByVoiceName'] }, [voiceNameField]),
		...dialogueFields,
		...ui.shownWhen(forText, [spokenField, longTextField]),
		captionsField,
		...ui.shownWhen(forVoiceId, [speechModelField, formatField, voiceSettingsField]),
	],
	options: [
		speechExtraFields,
		...ui.shownWhen(forText, longTextOptions),
		...ui.shownWhen({ withTranscript: [true] }, [transcriptOption]),
		...ui.shownWhen({ operation: ['generateByVoiceId', 'generateDialogue'] }, [dictionaryOption]),
		...ui.shownWhen({ operation: ['generateDialogue'] }, [lineDelayOption]),
	],
	operations: [
		{
			value: 'generateByVoiceId',
			name: 'Generate by Voice ID',
			action: 'Generate speech by voice ID',
			description: ui.costing(
				'Generate speech with a voice from the list or by its ID: start with this one. Offers models, output formats and captions',
				'according to the number of characters',
			),
			subtitle: 'Speech',
			subtitleField: 'voiceId',
			work: {
				kind: 'creates',
				request(item) {
					const voice = item.pathPart(speakerField);
					const outputFormat = item.text(formatField);
					const fields = {
						text: spokenField,
						model_id: speechModelField,
						with_transcript: captionsField,
						voice_settings: voiceSettings,
						pronunciation_dictionary_id: dictionaryOption,
					};
					// Some services refuse the field here, so it is sent only if it is wanted.
					const apart = { with_transcript: item.boolean(captionsField) || undefined };
					const { body, labels } = item.sends(fields, speechExtraFields, apart);
					return {
						...{ kind: 'speech-v1', makesFile: true },
						path: `/v1/text-to-speech/${encodeURIComponent(voice)}`,
						pathFields: { voice_id: voice },
						qs: outputFormat === undefined ? undefined : { output_format: outputFormat },
						body,
						labels: { ...pathLabels, ...labels },
					};
				},
			},
		},
		{
			value: 'generateByVoiceName',
			name: 'Generate by Voice Name',
			action: 'Generate speech by voice name',
			description: ui.costing(
				'Generate speech with a voice that the service documents by name, e.g. en-US-AriaNeural. Offers captions, but no model or output format',
				'according to the number of characters',
			),
			subtitle: 'Speech',
			subtitleField: 'voice',
			work: {
				kind: 'creates',
				request: (item) => ({
					...{ kind: 'speech-v1e', makesFile: true },
					path: '/v1e/task/text-to-speech',
					...item.sends(
						{ text: spokenField, voice: voiceNameField, with_transcript: captionsField },
						speechExtraFields,
					),
				}),
			},
		},
		generateDialogue,
	],
};
