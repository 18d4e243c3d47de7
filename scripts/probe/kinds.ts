/** One task of each kind, as the probe makes it. */
export interface Kind {
	name: string;
	path: string;
	body: Record<string, unknown>;
	/** The task's own `type`; only that of sound effects is stated. */
	type?: string;
	/** Where the result is expected in the metadata. */
	result: string;
}

/** What differs from one service to the next. */
export interface Values {
	voiceId: string;
	speechModel: string;
	outputFormat: string;
	voice: string;
	imageModel: string;
}

export const defaultValues: Values = {
	voiceId: '21m00Tcm4TlvDq8ikWAM',
	speechModel: 'eleven_multilingual_v2',
	outputFormat: 'mp3_44100_128',
	voice: 'en-US-AriaNeural',
	imageModel: 'image-1',
};

/** The four routes of docs/service.md, "Endpoints", each with the least that can be ordered. */
export function kindsOf(values: Values): Kind[] {
	const text = 'One.';
	const format = encodeURIComponent(values.outputFormat);
	return [
		{
			name: 'sound effect',
			path: '/v1/task/sound-effect',
			body: { text: 'A click' },
			type: 'sound_effect',
			result: 'audio_url',
		},
		{
			name: 'speech by voice ID',
			path: `/v1/text-to-speech/${encodeURIComponent(values.voiceId)}?output_format=${format}`,
			body: { text, model_id: values.speechModel },
			result: 'audio_url',
		},
		{
			name: 'speech by voice name',
			path: '/v1e/task/text-to-speech',
			body: { text, voice: values.voice, with_transcript: true },
			result: 'audio_url',
		},
		{
			name: 'image',
			path: '/v1i/task/generate-image',
			body: { prompt: 'A dot', model_id: values.imageModel, generations_count: 1 },
			result: 'result_images',
		},
	];
}
