import { json, refusal, type Answer } from './answer';
import type { Context } from './context';
import { now } from './clock';
import { asRead, taskPayload } from './payload';
import { hash } from './random';
import { TASK_TYPES } from './tasks';
import type { JsonObject, TaskRecord } from './types';

type Query = Record<string, string | undefined>;
type List = (query: Query) => Answer;

const PROVIDER = 'elevenlabs';
const LANGUAGES = ['English', 'German', 'Spanish', 'Japanese'];

interface Voice extends JsonObject {
	voice_id: string;
	name: string;
}

/** The n-th voice, from 0. */
function voiceAt(index: number): Voice {
	return {
		voice_id: `voice-${String(index + 1).padStart(5, '0')}`,
		name: `Voice ${index + 1}`,
		language: LANGUAGES[index % LANGUAGES.length],
		gender: index % 2 === 0 ? 'female' : 'male',
	};
}

function matching(count: number, search: string | undefined): Voice[] {
	const words = (search ?? '').toLowerCase();
	return Array.from({ length: count }, (_, index) => voiceAt(index)).filter((voice) =>
		Object.values(voice).some((value) => String(value).toLowerCase().includes(words)),
	);
}

const SPEECH_MODELS = [
	{ model_id: 'eleven_v3', name: 'Eleven v3', can_do_text_to_speech: true },
	{
		model_id: 'eleven_multilingual_v2',
		name: 'Eleven Multilingual v2',
		can_do_text_to_speech: true,
	},
	{ model_id: 'eleven_multilingual_sts_v2', name: 'Voice changer', can_do_text_to_speech: false },
];
const IMAGE_MODELS = [
	{
		model_id: 'image-1',
		max_generations: 4,
		aspect_ratios: ['1:1', '16:9'],
		resolutions: ['1K', '2K'],
	},
	{ model_id: 'image-2', max_generations: 1, aspect_ratios: [], resolutions: [] },
];

const NOT_FOUND = json(404, { success: false, error: 'Not found' });

/** The routes of docs/service.md, "More routes", that list something; each as the settings say, or 404. */
export function listRoutes(context: Context): Array<[string, List]> {
	const { settings } = context;
	type Name = 'voicesV3' | 'voicesV2' | 'voicesV1' | 'speechModels' | 'imageModels' | 'tasks';
	const routes: Array<[string, Name, List]> = [
		['/v3/voices', 'voicesV3', (query) => voicesV3(context, query)],
		['/v2/voices', 'voicesV2', (query) => voicesV2(context, query)],
		['/v1/voices', 'voicesV1', () => json(200, { voices: matching(settings.lists.voices, '') })],
		['/v1/models', 'speechModels', () => json(200, SPEECH_MODELS)],
		['/v1i/models', 'imageModels', () => json(200, { success: true, models: IMAGE_MODELS })],
		['/v1/tasks', 'tasks', (query) => tasksOf(context, query)],
	];
	return routes.map(([path, name, list]) => [
		path,
		(query) => (settings.lists[name] ? list(query) : NOT_FOUND),
	]);
}

/** A task as the list has it: with what it repeats of the creation. */
function listed(task: TaskRecord, { settings, urls }: Context): JsonObject {
	const asked: JsonObject = { ...task.params, ...task.body };
	const repeated = settings.taskList.repeats.filter((name) => asked[name] !== undefined);
	return {
		...taskPayload(asRead(task, settings), settings, urls.files),
		...Object.fromEntries(repeated.map((name) => [name, asked[name]])),
	};
}

function tasksOf(context: Context, query: Query): Answer {
	const { lagMs, order, shape, overlap } = context.settings.taskList;
	const page = Number(query.page ?? 1);
	const limit = Math.min(Number(query.limit ?? 20), 100);
	if (!(page >= 1) || !(limit >= 1)) return refusal(context.settings, 400, 'invalid page');
	const found = context.store.tasks.filter(
		({ kind, createdAt }) =>
			createdAt + lagMs <= now() && (query.type ?? TASK_TYPES[kind]) === TASK_TYPES[kind],
	);
	if (order === 'newest') found.reverse();
	if (order === 'shuffled') found.sort((one, other) => hash(one.id) - hash(other.id));
	const start = (page - 1) * Math.max(1, limit - overlap);
	const entries = found.slice(start, start + limit).map((task) => listed(task, context));
	if (shape === 'array') return json(200, entries);
	const pagination = { page, limit, total: found.length, has_more: start + limit < found.length };
	return json(200, { success: true, [shape]: entries, pagination });
}

/** By provider; IDs carry its name, and a page begins with the end of the one before it. */
function voicesV3({ settings }: Context, query: Query): Answer {
	if (query.provider !== PROVIDER) return refusal(settings, 400, 'unsupported_voice_provider');
	const { voices, overlap } = settings.lists;
	const page = Number(query.page ?? 1);
	const pageSize = Math.min(Number(query.page_size ?? 30), 100);
	if (!(page >= 1) || !(pageSize >= 1)) return refusal(settings, 400, 'invalid page');
	const found = matching(voices, query.search);
	const start = (page - 1) * Math.max(1, pageSize - overlap);
	const end = start + pageSize;
	const data = found
		.slice(start, end)
		.map((voice) => ({ ...voice, voice_id: `${PROVIDER}_${voice.voice_id}` }));
	return json(200, {
		success: true,
		data,
		pagination: { page, page_size: pageSize, total: found.length, has_more: end < found.length },
	});
}

/** Paged by tokens. */
function voicesV2({ settings }: Context, query: Query): Answer {
	const pageSize = Math.min(Number(query.page_size ?? 10), 100);
	const start = Number(query.next_page_token ?? 0);
	const found = matching(settings.lists.voices, query.search);
	const end = start + pageSize;
	return json(200, {
		voices: found.slice(start, end),
		has_more: end < found.length,
		total_count: found.length,
		next_page_token: end < found.length ? String(end) : null,
	});
}
