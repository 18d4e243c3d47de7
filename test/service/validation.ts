import { z } from 'zod';
import { namedFormat } from './media/sounds';
import { isVoiceId, isVoiceName, PROVIDERS } from './voices';
import type { FileKind, JsonObject, Settings, TaskKind, TaskRecord } from './types';

export interface CreationFault {
	status: number;
	error: string;
}

/** The stand-in has WAV and MP3. */
const isFormat = (name: string) => name.trim() === '' || namedFormat(name) !== undefined;
const format = z.string().refine(isFormat, 'is none of wav, mp3_44100_128 and the like');
const text = z.string().regex(/\S/, 'is required');
const voiceId = text.refine(isVoiceId, 'was not found');
const upTo = (most: number) => text.max(most, `is too long: at most ${most} characters`);
const url = z
	.string()
	.url()
	.regex(/^https?:/, 'must be an http(s) URL');
const sound = z.object({ receive_url: url.optional(), output_format: format.optional() });
/** Characters of one request; the v3 route takes more. */
const speech = sound.extend({ text: upTo(5_000), with_transcript: z.boolean().optional() });
const byId = speech.extend({ voice_id: voiceId, model_id: z.string().optional() });
const byProvider = byId.extend({
	text: upTo(1_000_000),
	voice_id: text
		.regex(new RegExp(`^(${PROVIDERS.join('|')})_`), 'must begin with its provider')
		.refine(isVoiceId, 'was not found'),
});

/** docs/service.md, "HTTP": 422 for model parameters, 500 for a model of images. */
const as = (status: number, message: string) => ({ message, params: { status } });
const isRatio = (ratio: string) => /^\d+(\.\d+)?:\d+(\.\d+)?$/.test(ratio);
const image = z.object({
	receive_url: url.optional(),
	prompt: text,
	model_id: text.refine((id) => !id.startsWith('invalid'), as(500, 'is invalid')),
	generations_count: z.number().int().min(1).max(100).optional(),
	model_parameters: z
		.object({ aspect_ratio: z.string().optional(), resolution: z.unknown() })
		.refine(
			({ aspect_ratio: ratio = '1:1' }) => isRatio(ratio),
			as(422, 'has no such aspect_ratio'),
		)
		.refine(
			({ resolution = '' }) => typeof resolution === 'string',
			as(422, 'has no such resolution'),
		)
		.optional(),
});

const song = z.object({ create_mode: z.literal('custom') });
const music = song
	.extend({ lyrics: text })
	.or(song.extend({ tags: text }))
	.or(z.object({ create_mode: z.literal('simple'), gpt_description_prompt: upTo(500) }))
	.or(z.object({ create_mode: z.undefined(), prompt: text }))
	.or(z.object({ create_mode: z.undefined(), idea: text }));

/** Lines begin with a letter; the first one is that of the first speaker. */
const dialogue = sound
	.extend({
		text: z.string().regex(/^([A-Z]> \S.*(\r?\n|$))+$/, 'must have lines that begin with a letter'),
		speakers: z
			.array(z.object({ voice_id: voiceId }))
			.min(2)
			.max(26),
		delay: z.coerce.number().min(0).max(5).optional(),
	})
	.refine(
		({ text: lines, speakers }) =>
			[...lines.matchAll(/^./gm)].every(([letter]) => letter.charCodeAt(0) - 65 < speakers.length),
		{ path: ['text'], message: 'has a line of no speaker' },
	);

const ofFile = sound.extend({ file: z.array(z.unknown()).length(1) });
/** Those of a task that is made of a file. */
export const FILES = {
	dubbing: ofFile.extend({ target_lang: text, receive_url: url }),
	transcription: ofFile,
	voice_changer: ofFile.extend({ voice_id: text, model_id: text }),
	voice_isolate: ofFile,
} satisfies Record<FileKind, z.ZodType>;

const SCHEMAS: Record<TaskKind, z.ZodType> = {
	...FILES,
	sound_effect: sound.extend({ text: upTo(450) }),
	speech_by_id: byId,
	speech_by_name: speech.extend({ voice: text.refine(isVoiceName, 'was not found') }),
	image,
	music,
	dialogue,
};

const words: z.ZodErrorMap = ({ code, ...issue }, { defaultError }) => ({
	message:
		code === 'invalid_type' && 'received' in issue && issue.received === 'undefined'
			? 'is required'
			: defaultError,
});

/** What is wrong with a creation (docs/service.md, "HTTP": 400 validation). */
export function creationFault(
	kind: TaskKind,
	body: unknown,
	params: TaskRecord['params'],
	{ speechRoute }: Pick<Settings, 'speechRoute'>,
): CreationFault | null {
	if (!isObject(body)) return { status: 400, error: 'The request body must be a JSON object' };
	const schema = kind === 'speech_by_id' && speechRoute === 'v3' ? byProvider : SCHEMAS[kind];
	const [issue] = schema.safeParse({ ...body, ...params }, { errorMap: words }).error?.issues ?? [];
	if (issue === undefined) return null;
	const { status = 400 } = (issue.code === 'custom' ? issue.params : undefined) ?? {};
	return { status: Number(status), error: `${issue.path.join('.')} ${issue.message}` };
}

export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
