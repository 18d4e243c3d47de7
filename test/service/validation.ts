import type { FormFile } from './form';
import type { JsonObject, Settings, TaskKind, TaskRecord } from './types';

export interface CreationFault {
	status: 400 | 422 | 500;
	error: string;
	field?: string;
}

const bad = (field: string, words: string): CreationFault => ({
	status: 400,
	error: `${field} ${words}`,
	field,
});
const wrong = (field: string, error: string): CreationFault => ({ status: 422, error, field });

/** What the voice IDs of `POST /v3/text-to-speech` begin with. */
export const PROVIDERS = [
	'elevenlabs',
	'minimax',
	'edge',
	'kokoro',
	'vbee',
	'fishaudio',
	'clone',
] as const;

/** Characters of a text, by kind, and bytes of a file, by field. */
const MOST_CHARACTERS = { sound_effect: 450, image: 4_000 } as Partial<Record<TaskKind, number>>;
const MOST_BYTES: Record<string, number> = { assets: 5_000_000, file: 20_000_000 };

/** What is wrong with a creation (docs/service.md, "HTTP": 400 validation, 422 model parameters, 500 image model). */
export function creationFault(
	kind: TaskKind,
	body: unknown,
	params: TaskRecord['params'],
	settings: Pick<Settings, 'limits' | 'speechRoute'>,
): CreationFault | null {
	if (!isObject(body)) return { status: 400, error: 'The request body must be a JSON object' };
	return (
		sharedFault(body) ??
		(settings.limits ? limitFault(kind, body) : null) ??
		(kind === 'image'
			? imageFault(body)
			: kind === 'music'
				? musicFault(body)
				: kind === 'dubbing'
					? dubbingFault(body)
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

function limitFault(kind: TaskKind, body: JsonObject): CreationFault | null {
	const name = kind === 'image' ? 'prompt' : 'text';
	const { [kind]: most = 1_000_000 } = MOST_CHARACTERS;
	const { [name]: text } = body;
	if (typeof text === 'string' && text.length > most)
		return bad(name, `must have at most ${most} characters`);
	for (const [field, bytes] of Object.entries(MOST_BYTES))
		if (filesIn(body, field).some((file) => file.bytes > bytes))
			return bad(field, `must have at most ${bytes / 1_000_000} MB each`);
	const named = new Set(typeof text === 'string' ? text.match(/@img\d+\b/g) : []);
	if (kind === 'image' && named.size !== filesIn(body, 'assets').length)
		return bad('prompt', 'must name each of the assets: @img1, @img2, ...');
	return null;
}

function soundFault(
	kind: TaskKind,
	body: JsonObject,
	params: TaskRecord['params'],
	{ speechRoute }: Pick<Settings, 'speechRoute'>,
): CreationFault | null {
	if (!isText(body.text)) return bad('text', 'is required');
	if (kind === 'speech_by_id') {
		const voice = speechRoute === 'v3' ? body.voice_id : params.voice_id;
		if (!isText(voice)) return bad('voice_id', 'is required');
		if (speechRoute === 'v3' && !PROVIDERS.some((provider) => voice.startsWith(`${provider}_`)))
			return bad('voice_id', 'must begin with its provider');
		if (body.model_id !== undefined && !isText(body.model_id))
			return bad('model_id', 'must be a string');
	}
	if (kind === 'speech_by_name' && !isText(body.voice)) return bad('voice', 'is required');
	if (kind === 'sound_effect') return null;
	if (body.with_transcript !== undefined && typeof body.with_transcript !== 'boolean')
		return bad('with_transcript', 'must be a boolean');
	return null;
}

function musicFault(body: JsonObject): CreationFault | null {
	return isText(body.prompt) || isText(body.idea) ? null : bad('prompt', 'or idea is required');
}

function dubbingFault(body: JsonObject): CreationFault | null {
	if (filesIn(body, 'file').length !== 1) return bad('file', 'is required');
	const missing = ['target_lang', 'receive_url'].find((name) => !isText(body[name]));
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
		return wrong('aspect_ratio', `Unknown aspect_ratio ${JSON.stringify(ratio)}`);
	}
	if (resolution !== undefined && !isText(resolution))
		return wrong('resolution', 'resolution must be a string');
	return null;
}

function isText(value: unknown): value is string {
	return typeof value === 'string' && value.trim() !== '';
}

export function isObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
