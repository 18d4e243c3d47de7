import type { FormFile } from './form';
import { BITRATES, SAMPLE_RATES } from './media/mp3';
import { namedFormat } from './media/sounds';
import { isVoiceId, isVoiceName, PROVIDERS } from './voices';
import type { FileKind, JsonObject, Settings, TaskKind, TaskRecord } from './types';

export interface CreationFault {
	status: 400 | 422 | 500;
	error: string;
}

const bad = (field: string, words: string): CreationFault => ({
	status: 400,
	error: `${field} ${words}`,
});
const wrong = (error: string): CreationFault => ({ status: 422, error });

/** Characters of one request; the v3 route takes more. */
const MOST = { speech: 5_000, v3: 1_000_000, sound_effect: 450 };
/** The stand-in has WAV and MP3. */
const FORMATS = [
	'wav',
	...SAMPLE_RATES.flatMap((rate) => BITRATES.map((kbps) => `mp3_${rate}_${kbps}`)),
];

/** What is wrong with a creation (docs/service.md, "HTTP": 400 validation, 422 model parameters, 500 image model). */
export function creationFault(
	kind: TaskKind,
	body: unknown,
	params: TaskRecord['params'],
	settings: Pick<Settings, 'speechRoute'>,
): CreationFault | null {
	if (!isObject(body)) return { status: 400, error: 'The request body must be a JSON object' };
	return (
		sharedFault(body) ??
		(kind === 'image'
			? imageFault(body)
			: kind === 'music'
				? musicFault(body)
				: kind === 'dialogue'
					? dialogueFault(body)
					: isOfFile(kind)
						? fileFault(kind, body)
						: soundFault(kind, body, params, settings))
	);
}

function sharedFault(body: JsonObject): CreationFault | null {
	const { receive_url: url } = body;
	if (
		url !== undefined &&
		!(typeof url === 'string' && /^https?:\/\/./.test(url) && URL.canParse(url))
	) {
		return bad('receive_url', 'must be an http(s) URL');
	}
	return null;
}

function filesIn(body: JsonObject, name: string): FormFile[] {
	return Array.isArray(body[name]) ? (body[name] as FormFile[]) : [];
}

function soundFault(
	kind: TaskKind,
	body: JsonObject,
	params: TaskRecord['params'],
	{ speechRoute }: Pick<Settings, 'speechRoute'>,
): CreationFault | null {
	if (!isText(body.text)) return bad('text', 'is required');
	const most = MOST[kind === 'sound_effect' ? kind : speechRoute === 'v3' ? 'v3' : 'speech'];
	if (body.text.length > most)
		return bad('text', `is too long: ${body.text.length} characters, at most ${most} are allowed`);
	const format = params.output_format ?? body.output_format;
	if (isText(format) && namedFormat(format) === undefined)
		return bad('output_format', `"${format}" is not supported. Use one of: ${FORMATS.join(', ')}`);
	if (kind === 'speech_by_id') {
		const voice = speechRoute === 'v3' ? body.voice_id : params.voice_id;
		if (!isText(voice)) return bad('voice_id', 'is required');
		if (speechRoute === 'v3' && !PROVIDERS.some((provider) => voice.startsWith(`${provider}_`)))
			return bad('voice_id', 'must begin with its provider');
		if (!isVoiceId(voice)) return bad('voice_id', `"${voice}" was not found`);
		if (body.model_id !== undefined && !isText(body.model_id))
			return bad('model_id', 'must be a string');
	}
	if (kind === 'speech_by_name') {
		if (!isText(body.voice)) return bad('voice', 'is required');
		if (!isVoiceName(body.voice)) return bad('voice', `"${body.voice}" was not found`);
	}
	if (kind === 'sound_effect') return null;
	if (body.with_transcript !== undefined && typeof body.with_transcript !== 'boolean')
		return bad('with_transcript', 'must be a boolean');
	return null;
}

function musicFault(body: JsonObject): CreationFault | null {
	if (body.create_mode === 'custom')
		return isText(body.lyrics) || isText(body.tags) ? null : bad('lyrics', 'or tags is required');
	const { prompt, idea, gpt_description_prompt: description = prompt ?? idea } = body;
	if (!isText(description)) return bad('gpt_description_prompt', 'is required');
	return body.create_mode === 'simple' && description.length > 500
		? bad('gpt_description_prompt', 'must have at most 500 characters')
		: null;
}

/** Lines begin with a letter; the first one is that of the first speaker. */
function dialogueFault({ text, speakers, delay = 0 }: JsonObject): CreationFault | null {
	const list: unknown[] = Array.isArray(speakers) ? speakers : [];
	if (list.length < 2 || list.length > 26) return bad('speakers', 'must be a list of 2 to 26');
	const unknown = list.find((each) => !isObject(each) || !isVoiceId(String(each.voice_id)));
	if (unknown !== undefined) return bad('speakers', 'name a voice_id that was not found');
	const lines = isText(text) ? text.split('\n') : [''];
	const letters = lines.map((line) => /^([A-Z])> \S/.exec(line)?.[1]?.charCodeAt(0) ?? 0);
	if (!letters.every((letter) => letter >= 65 && letter < 65 + list.length))
		return bad('text', 'must have lines that begin with the letter of a speaker');
	return Number(delay) >= 0 && Number(delay) <= 5 ? null : bad('delay', 'must be from 0 to 5');
}

/** What each task of a file needs besides it. */
export const FILES: Record<FileKind, string[]> = {
	dubbing: ['target_lang', 'receive_url'],
	transcription: [],
	voice_changer: ['voice_id', 'model_id'],
	voice_isolate: [],
};
const isOfFile = (kind: TaskKind): kind is FileKind => kind in FILES;

function fileFault(kind: FileKind, body: JsonObject): CreationFault | null {
	if (filesIn(body, 'file').length !== 1) return bad('file', 'is required');
	const missing = FILES[kind].find((name) => !isText(body[name]));
	return missing === undefined ? null : bad(missing, 'is required');
}

function imageFault(body: JsonObject): CreationFault | null {
	const {
		prompt,
		model_id: model,
		generations_count: count = 1,
		model_parameters: parameters = {},
	} = body;
	if (!isText(prompt)) return bad('prompt', 'is required');
	if (!isText(model)) return bad('model_id', 'is required');
	if (!Number.isInteger(count) || Number(count) < 1 || Number(count) > 100) {
		return bad('generations_count', 'must be an integer from 1 to 100');
	}
	if (!isObject(parameters)) return bad('model_parameters', 'must be an object');
	if (model.startsWith('invalid')) return { status: 500, error: `Invalid model_id ${model}` };
	const { aspect_ratio: ratio, resolution } = parameters;
	if (ratio !== undefined && !(isText(ratio) && /^\d+(\.\d+)?:\d+(\.\d+)?$/.test(ratio))) {
		return wrong(`Unknown aspect_ratio ${JSON.stringify(ratio)}`);
	}
	if (resolution !== undefined && !isText(resolution)) return wrong('resolution must be a string');
	return null;
}

function isText(value: unknown): value is string {
	return typeof value === 'string' && value.trim() !== '';
}

export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
