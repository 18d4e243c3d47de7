/** Speech: by voice ID (`POST /v1/text-to-speech/{voice_id}`) and by voice name (`POST /v1e/task/text-to-speech`). docs/service.md, "Endpoints". */
import { longTextFields } from './longText';
import { choice, locator, openChoice, text, toggle, type Resource } from './operation';

const byVoiceId = 'generateByVoiceId';
const byVoiceName = 'generateByVoiceName';
const forVoiceId = { show: { operation: [byVoiceId] } };

export const speech: Resource = {
	value: 'speech',
	name: 'Speech',
	fields: [
		...locator('Voice', 'voiceId', {
			required: true,
			placeholder: 'e.g. 21m00Tcm4TlvDq8ikWAM',
			description: 'The voice to speak with',
			displayOptions: forVoiceId,
			list: 'searchVoices',
		}),
		text('Voice Name', 'voice', {
			required: true,
			placeholder: 'e.g. en-US-AriaNeural',
			description:
				'Name of the voice, as the voice list or the documentation of the service has it. It usually begins with a language code.',
			displayOptions: { show: { operation: [byVoiceName] } },
		}),
		text('Text', 'text', {
			typeOptions: { rows: 4 },
			required: true,
			placeholder: 'e.g. Welcome aboard!',
			description: 'The text to speak',
		}),
		...longTextFields,
		...locator('Model', 'modelId', {
			placeholder: 'e.g. eleven_multilingual_v2',
			description: 'The model to speak with. Leave empty to let the service choose.',
			displayOptions: forVoiceId,
			list: 'searchSpeechModels',
		}),
		openChoice('Output Format', 'outputFormat', {
			description: 'Format of the audio file. If not set, the service chooses.',
			displayOptions: forVoiceId,
			options: [
				choice('MP3 44100 128', 'mp3_44100_128', 'MP3 with 44.1 kHz and 128 kbit/s'),
				choice('MP3 44100 192', 'mp3_44100_192', 'MP3 with 44.1 kHz and 192 kbit/s'),
			],
		}),
		toggle('With Transcript', 'withTranscript', {
			description: 'Whether to also get subtitles (SRT) and word timings (JSON)',
		}),
	],
	extraFields: '{"voice_settings": {"speed": 1.1}}',
	operations: [
		{
			value: byVoiceId,
			name: 'Generate by Voice ID',
			action: 'Generate speech by voice ID',
			description:
				'Turn text into speech with a voice chosen by its ID, a model and an output format, with a transcript if wanted',
			subtitle: 'Speech by voice ID',
			work: {
				kind: 'creates',
				request(item) {
					const outputFormat = item.optionalText('outputFormat', 'Output Format');
					const voice = item.pathPart('voiceId', 'Voice');
					return {
						kind: 'speech-v1',
						path: `/v1/text-to-speech/${voice}`,
						pathFields: { voice_id: decodeURIComponent(voice) },
						qs: outputFormat === undefined ? undefined : { output_format: outputFormat },
						body: item.body({
							text: item.requiredText('text', 'Text'),
							model_id: item.optionalText('modelId', 'Model'),
							// Not all services take the field here, so it is sent only where it is wanted.
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
				'Turn text into speech with a voice chosen by its name, with a transcript if wanted',
			subtitle: 'Speech by voice name',
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
