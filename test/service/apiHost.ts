import type { FastifyInstance } from 'fastify';
import { json, refusal, type Answer } from './answer';
import { now } from './clock';
import type { Context } from './context';
import { create, costOf } from './creation';
import { door, type Call, type Route } from './door';
import { listRoutes } from './lists';
import { asRead, taskPayload } from './payload';
import { played } from './played';
import { isObject } from './validation';
import type { RouteName, TaskKind, TaskRecord } from './types';

/** The routes of docs/service.md, "Endpoints". */
export function apiRoutes(app: FastifyInstance, context: Context): void {
	app.addHook('onSend', async (_request, reply) => {
		const { clockOffsetMs } = context.settings;
		if (clockOffsetMs !== 0) reply.header('date', new Date(now() + clockOffsetMs).toUTCString());
	});
	const open = (name: RouteName, route: Route, kind?: TaskKind) =>
		door(context, 'api', name, withKey(context, route), kind);
	const creation = (kind: TaskKind) =>
		open('create', async (call) => await create(context, kind, call.record, paramsOf(call)), kind);
	const { apiKey, settings } = context;
	app.get(
		'/v1/credits',
		open('credits', () => json(200, { success: true, credits: settings.credits })),
	);
	// The secret is listed whole, so that it shows whether a client masks them.
	app.get(
		'/v1/api-keys',
		open('keys', () =>
			json(200, { success: true, data: [{ name: 'Key 1', key: apiKey, is_active: true }] }),
		),
	);
	app.post('/v1/task/sound-effect', creation('sound_effect'));
	const v1 = creation('speech_by_id');
	const moved = open('create', () => refusal(settings, 200, MOVED), 'speech_by_id');
	const nowhere = door(context, 'api', 'unknown', () => NOT_FOUND);
	const byRoute =
		(on: 'v1' | 'v3', there: typeof v1, elsewhere: typeof v1): typeof v1 =>
		async (request, reply) =>
			await (settings.speechRoute === on ? there : elsewhere)(request, reply);
	app.post('/v1/text-to-speech/:voice_id', byRoute('v1', v1, moved));
	app.post('/v3/text-to-speech', byRoute('v3', v1, nowhere));
	app.post('/v1e/task/text-to-speech', creation('speech_by_name'));
	app.post('/v1i/task/generate-image', creation('image'));
	app.post('/v1m/task/music-generation', creation('music'));
	/** Those that only newer services have. */
	const more = (name: RouteName, route: Route, kind?: TaskKind) =>
		open(name, (call) => (settings.moreRoutes ? route(call) : NOT_FOUND), kind);
	for (const [path, kind] of NEWER)
		app.post(
			path,
			more('create', async (call) => await create(context, kind, call.record, {}), kind),
		);
	app.post(
		'/v1/task/delete',
		more('delete', ({ request }) => deleted(context, request.body)),
	);
	app.post(
		'/v1i/task/price',
		more('price', ({ request }) => priceOf(context, request.body)),
	);
	for (const [path, list] of listRoutes(context))
		app.get(
			path,
			open('list', ({ request }) => list(request.query as Record<string, string>)),
		);
	for (const prefix of ['v1', 'v1e'] as const)
		app.get(
			`/${prefix}/task/:task_id`,
			open('poll', ({ params }) => look(context, params.task_id ?? '')),
		);
	app.setNotFoundHandler(nowhere);
}

const NEWER = [
	['/v1/task/dubbing', 'dubbing'],
	['/v1/task/speech-to-text', 'transcription'],
	['/v1/task/voice-changer', 'voice_changer'],
	['/v1/task/voice-isolate', 'voice_isolate'],
	['/v1s/task/music-generation', 'music'],
	['/v3/text-to-speech/dialogue', 'dialogue'],
] as const;

/** docs/service.md, "Authentication". An invalid key is 401 whatever the refusal style is. */
function withKey(context: Context, route: Route): Route {
	const { apiKey, settings } = context;
	return (call) => {
		const { authorization, 'xi-api-key': bare } = call.request.headers;
		const isKnown = settings.moreRoutes && bare === apiKey;
		return isKnown || authorization === `Bearer ${apiKey}`
			? route(call)
			: json(401, { success: false, error: 'Invalid API key' });
	};
}

const NOT_FOUND = json(404, { success: false, error: 'Not found' });
const MOVED = 'please use api v3 for this endpoint';

/** What still runs ends, and its credits come back; what is over is gone from the list. */
function deleted({ store, settings }: Context, body: unknown): Answer {
	const ids: unknown = isObject(body) ? body.task_ids : undefined;
	if (!Array.isArray(ids)) return refusal(settings, 400, 'task_ids is required');
	const tasks = ids.flatMap((id) => store.get(String(id)) ?? []);
	const refund_credits = tasks.reduce((sum, task) => sum + store.delete(task), 0);
	return json(200, { success: true, refund_credits });
}

/** A reference image costs a tenth of a picture. */
function priceOf(context: Context, body: unknown): Answer {
	const { settings } = context;
	if (!isObject(body) || typeof body.model_id !== 'string')
		return refusal(settings, 400, 'model_id is required');
	const assets = (Number(body.assets ?? 0) * settings.costs.image) / 10;
	return json(200, { success: true, credits: costOf(context, 'image', body) + assets });
}

function paramsOf({ params, request }: Call): TaskRecord['params'] {
	const { output_format: format } = request.query as Record<string, string | undefined>;
	return {
		...(params.voice_id === undefined ? {} : { voice_id: params.voice_id }),
		...(format === undefined ? {} : { output_format: format }),
	};
}

function look(context: Context, id: string): Answer {
	const { settings, store, urls } = context;
	const task = store.get(id);
	if (task === undefined) return json(404, { success: false, error: 'Task not found' });
	const example = played(task.steering.answer, 'task', id);
	if (example) return example;
	const seen = asRead(task);
	if (seen.status === 'done') task.doneLooks += 1;
	const withUrls = task.doneLooks > settings.noUrlLooks;
	const shown = taskPayload(seen, settings, urls.files, withUrls);
	return json(200, settings.taskShape === 'root' ? shown : { success: true, data: shown });
}
