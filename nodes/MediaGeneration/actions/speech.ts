/** Makes speech, by voice ID (`POST /v1/text-to-speech/{voice_id}`) or voice name (`POST /v1e/task/text-to-speech`). See docs/service.md, "Endpoints". */
import { longTextFields, longTextOptions, transcriptOption } from './longText';
import { choice, locator, openChoice, text, select, toggle, type Resource } from './operation';

const byVoiceId = 'generateByVoiceId';
const byVoiceName = 'generateByVoiceName';
const forVoiceId = { show: { operation: [byVoiceId] } };

const routeField = select('Speech Route', 'speechRoute', {
	options: [
		choice('Automatic', 'auto', 'Uses v1 until the service asks for v3'),
		choice('V1', 'v1', 'POST /v1/text-to-speech/{voice_id}'),
		choice('V3', 'v3', 'POST /v3/text-to-speech, with voices of all providers'),
	],
	default: 'auto',
	description:
		'Which route of the service to use. With v3, a voice ID begins with the name of its provider.',
	displayOptions: forVoiceId,
});

export const speech: Resource = {
	value: 'speech',
	name: 'Speech',
	fields: [
		locator('Voice', 'voiceId', {
			required: true,
			placeholder: 'e.g. 21m00Tcm4TlvDq8ikWAM',
			description:
				'Pick a voice from the list of the service. If it publishes none, choose By ID and enter the ID.',
			displayOptions: forVoiceId,
			list: 'searchVoices',
		}),
		text('Voice Name', 'voice', {
			required: true,
			placeholder: 'e.g. en-US-AriaNeural',
			description:
				'Name of the voice as the service documents it. It usually begins with a language code. To pick a voice from a list, use "Generate by Voice ID".',
			displayOptions: { show: { operation: [byVoiceName] } },
		}),
		text('Text', 'text', {
			typeOptions: { rows: 4 },
			required: true,
			placeholder: 'e.g. Welcome aboard!',
			description: 'The text to speak',
		}),
		...longTextFields,
		locator('Model', 'modelId', {
			placeholder: 'e.g. eleven_multilingual_v2',
			description: 'The model to speak with. With "Service default" the service chooses.',
			displayOptions: forVoiceId,
			list: 'searchSpeechModels',
		}),
		openChoice('Output Format', 'outputFormat', {
			description: 'Format of the audio file. With "Service default" the service chooses.',
			displayOptions: forVoiceId,
			options: [
				choice('MP3, 44.1 kHz, 128 kbit/s', 'mp3_44100_128', 'The usual quality'),
				choice('MP3, 44.1 kHz, 192 kbit/s', 'mp3_44100_192', 'Larger files'),
			],
		}),
		toggle('Captions and Word Timings', 'withTranscript', {
			description:
				'Whether to also get captions (SRT) and word timings (JSON): two more files, in the binary fields after the audio',
		}),
	],
	extraFields: '{"voice_settings": {"speed": 1.1}}',
	options: longTextOptions,
	rareOptions: [transcriptOption, routeField],
	operations: [
		{
			value: byVoiceId,
			name: 'Generate by Voice ID',
			action: 'Generate speech by voice ID',
			description:
				'Speak with a voice from the list or by its ID. Offers models, output formats and captions. Start with this one.',
			subtitle: 'Speech',
			toldApartBy: 'voiceId',
			work: {
				kind: 'creates',
				request(item) {
					const outputFormat = item.optionalText('outputFormat', 'Output Format');
					const voice = item.pathPart('voiceId', 'Voice');
					return {
						kind: 'speech-v1',
						speechRoute: item.choice(item.options.speechRoute, 'Speech Route', [
							'auto',
							'v1',
							'v3',
						]),
						path: `/v1/text-to-speech/${voice}`,
						pathFields: { voice_id: decodeURIComponent(voice) },
						qs: outputFormat === undefined ? undefined : { output_format: outputFormat },
						body: item.body({
							text: item.requiredText('text', 'Text'),
							model_id: item.optionalText('modelId', 'Model'),
							// Some services refuse the field here, so it is sent only where it is wanted.
							with_transcript: item.boolean('withTranscript', false) ? true : undefined,
						}),
					};
				},
			},
		},
		{
			value: byVoiceName,
			name: 'Generate by Voice Name',
			action: 'Generate speech by voice name',
			description:
				'Speak with a voice that the service documents by name, e.g. en-US-AriaNeural. Offers captions, but no model or output format.',
			subtitle: 'Speech',
			toldApartBy: 'voice',
			work: {
				kind: 'creates',
				request: (item) => ({
					kind: 'speech-v1e',
					path: '/v1e/task/text-to-speech',
					body: item.body({
						text: item.requiredText('text', 'Text'),
						voice: item.requiredText('voice', 'Voice Name'),
						with_transcript: item.boolean('withTranscript', false),
					}),
				}),
			},
		},
	],
};
