import type { FastifyInstance } from 'fastify';
import { json, type Answer } from './answer';
import { now } from './clock';
import type { Context } from './context';
import { create } from './creation';
import { door, type Call, type Route } from './door';
import { listRoutes } from './lists';
import { asRead, taskPayload } from './payload';
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
	const { keys, settings } = context;
	app.get(
		'/v1/credits',
		open('credits', () => json(200, { success: true, credits: settings.credits })),
	);
	// The secrets are listed whole, so that it shows whether a client masks them.
	app.get(
		'/v1/api-keys',
		open('keys', () => json(200, { success: true, data: keys.keys })),
	);
	app.post('/v1/task/sound-effect', creation('sound_effect'));
	app.post('/v1/text-to-speech/:voice_id', creation('speech_by_id'));
	app.post('/v1e/task/text-to-speech', creation('speech_by_name'));
	app.post('/v1i/task/generate-image', creation('image'));
	app.post('/v1m/task/music-generation', creation('music'));
	for (const [path, list] of listRoutes(context))
		app.get(
			path,
			open('list', ({ request }) => list(request.query as Record<string, string>)),
		);
	for (const prefix of ['v1', 'v1e'] as const)
		app.get(
			`/${prefix}/task/:task_id`,
			open('poll', ({ params }) => look(context, prefix, params.task_id ?? '')),
		);
	const nowhere = () => json(404, { success: false, error: 'Not found' });
	app.setNotFoundHandler(door(context, 'api', 'unknown', nowhere));
}

/** docs/service.md, "Authentication". An invalid key is 401 whatever the refusal style is. */
function withKey(context: Context, route: Route): Route {
	return (call) =>
		context.keys.knows(call.request.headers.authorization)
			? route(call)
			: json(401, { success: false, error: 'Invalid API key' });
}

function paramsOf({ params, request }: Call): TaskRecord['params'] {
	const { output_format: format } = request.query as Record<string, string | undefined>;
	return {
		...(params.voice_id === undefined ? {} : { voice_id: params.voice_id }),
		...(format === undefined ? {} : { output_format: format }),
	};
}

function look(context: Context, prefix: 'v1' | 'v1e', id: string): Answer {
	const { settings, store, urls } = context;
	const task = store.get(id);
	if (!task || !settings.pollRoutes[prefix].includes(task.kind))
		return json(404, { success: false, error: 'Task not found' });
	const seen = asRead(task);
	if (seen.status === 'done') task.doneLooks += 1;
	const withUrls = task.doneLooks > settings.noUrlLooks;
	const shown = taskPayload(seen, settings, urls.files, withUrls);
	return json(200, settings.taskShape === 'root' ? shown : { success: true, data: shown });
}
