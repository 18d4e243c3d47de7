import { json, refusal, type Answer } from './answer';
import type { Context } from './context';
import { now } from './clock';
import { asRead, taskPayload } from './payload';
import { matching, PROVIDERS, VOICE_COUNT } from './voices';
import type { JsonObject, TaskRecord } from './types';

type Query = Record<string, string | undefined>;
type List = (query: Query) => Answer;

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
	const models = { success: true, models: IMAGE_MODELS };
	return [
		['/v3/voices', (query) => voicesV3(context, query)],
		['/v1/models', () => json(200, SPEECH_MODELS)],
		['/v1i/models', () => json(200, models)],
		['/v1/tasks', (query) => (settings.lists.tasks ? tasksOf(context, query) : NOT_FOUND)],
	];
}

/** A part of a list, whose beginning repeats so many entries of the one before, and what is said of it. */
function pageOf<T>(all: T[], page: number, { size, overlap }: { size: number; overlap: number }) {
	const start = (page - 1) * Math.max(1, size - overlap);
	const has_more = start + size < all.length;
	return {
		entries: all.slice(start, start + size),
		pagination: { page, total: all.length, has_more },
	};
}

/** What a listed task repeats of its creation. */
const REPEATED = ['text', 'prompt', 'voice', 'voice_id', 'model_id', 'generations_count'];

function listed(task: TaskRecord, { settings, urls }: Context): JsonObject {
	const asked: JsonObject = { ...task.params, ...task.body };
	const repeated = REPEATED.filter((name) => asked[name] !== undefined);
	return {
		...taskPayload(asRead(task), settings, urls.files),
		...Object.fromEntries(repeated.map((name) => [name, asked[name]])),
		...timeOf(task.createdAt + settings.clockOffsetMs, settings.lists.times),
	};
}

/** How a listed task says when it was made; where it is local, five hours west of Greenwich. */
export function timeOf(ms: number, times: Context['settings']['lists']['times']): JsonObject {
	const time = new Date(ms).toISOString();
	const local = new Date(ms - 5 * 3_600_000).toISOString().slice(0, 19);
	const created_at = { ISO: time, local, none: undefined, 'another name': undefined }[times];
	return { created_at, ...(times === 'another name' ? { made: time } : {}) };
}

/** Newest first. */
function tasksOf(context: Context, query: Query): Answer {
	const { lists, taskTypes } = context.settings;
	const size = Math.min(Number(query.limit ?? 20), 100);
	const found = context.store.tasks.filter(
		({ kind, createdAt, deleted }) =>
			!deleted &&
			createdAt + lists.tasksLagMs <= now() &&
			(query.type ?? taskTypes[kind]) === taskTypes[kind],
	);
	const page = pageOf(found.reverse(), Number(query.page ?? 1), { size, overlap: 0 });
	const data = page.entries.map((task) => listed(task, context));
	return json(200, { success: true, data, pagination: page.pagination });
}

/** By provider; IDs carry its name, and a page begins with the end of the one before it. */
function voicesV3({ settings }: Context, query: Query): Answer {
	const { provider = '' } = query;
	const known: readonly string[] = settings.speechRoute === 'v3' ? PROVIDERS : ['elevenlabs'];
	if (!known.includes(provider)) return refusal(settings, 400, 'unsupported_voice_provider');
	const size = Math.min(Number(query.page_size ?? 30), 100);
	// The other providers have few voices, and nobody has cloned one.
	const most = { elevenlabs: VOICE_COUNT, clone: 0 }[provider] ?? 5;
	const page = pageOf(matching(most, query.search), Number(query.page ?? 1), { size, overlap: 3 });
	const data = page.entries.map((voice) => ({
		...voice,
		voice_id: `${provider}_${voice.voice_id}`,
	}));
	return json(200, { success: true, data, pagination: page.pagination });
}
