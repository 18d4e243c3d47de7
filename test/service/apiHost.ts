import type { FastifyInstance } from 'fastify';
import { json, type Answer } from './answer';
import { now } from './clock';
import type { Context } from './context';
import { create } from './creation';
import { door, type Call, type Route } from './door';
import { listRoutes } from './lists';
import { asRead, taskPayload } from './payload';
import type { ApiKeyRecord, JsonObject, RouteName, Settings, TaskKind, TaskRecord } from './types';

/** The routes of docs/service.md, "Endpoints". */
export function apiRoutes(app: FastifyInstance, context: Context): void {
	app.addHook('onSend', async (_request, reply) => {
		const { clockOffsetMs } = context.settings;
		if (clockOffsetMs !== 0) reply.header('date', new Date(now() + clockOffsetMs).toUTCString());
	});
	const open = (name: RouteName, route: Route, kind?: TaskKind) =>
		door(context, 'api', name, route, kind);
	const creation = (kind: TaskKind) =>
		open(
			'create',
			withKey(
				context,
				async (call, key) => await create(context, kind, key, call.record, paramsOf(call)),
			),
			kind,
		);

	app.get(
		'/v1/credits',
		open(
			'credits',
			withKey(context, () => credits(context)),
		),
	);
	app.get(
		'/v1/api-keys',
		open(
			'keys',
			withKey(context, () => listKeys(context)),
		),
	);
	app.post('/v1/task/sound-effect', creation('sound_effect'));
	app.post('/v1/text-to-speech/:voice_id', creation('speech_by_id'));
	app.post('/v1e/task/text-to-speech', creation('speech_by_name'));
	app.post('/v1i/task/generate-image', creation('image'));
	app.post('/v1m/task/music-generation', creation('music'));
	for (const [path, list] of listRoutes(context))
		app.get(
			path,
			open(
				'list',
				withKey(context, ({ request }) => list(request.query as Record<string, string>)),
			),
		);
	for (const prefix of ['v1', 'v1e'] as const) {
		app.get(
			`/${prefix}/task/:task_id`,
			open(
				'poll',
				withKey(context, ({ params }) => look(context, prefix, params.task_id ?? '')),
			),
		);
	}
	app.setNotFoundHandler(open('unknown', () => json(404, { success: false, error: 'Not found' })));
}

/** docs/service.md, "Authentication". An invalid key is 401 whatever the refusal style is. */
function withKey(
	context: Context,
	route: (call: Call, key: ApiKeyRecord) => Answer | Promise<Answer>,
): Route {
	return (call) => {
		const verdict = context.keys.check(call.request.headers.authorization);
		if (verdict.ok) return route(call, verdict.record);
		const error = verdict.reason === 'expired' ? 'This API key has expired' : 'Invalid API key';
		return json(401, { success: false, error });
	};
}

function paramsOf({ params, request }: Call): TaskRecord['params'] {
	const { output_format: format } = request.query as Record<string, string | undefined>;
	return {
		...(params.voice_id === undefined ? {} : { voice_id: params.voice_id }),
		...(format === undefined ? {} : { output_format: format }),
	};
}

function credits({ settings }: Context): Answer {
	switch (settings.creditsShape) {
		case 'data':
			return json(200, { success: true, data: { credits: settings.credits } });
		case 'string':
			return json(200, { success: true, credits: String(settings.credits) });
		case 'root':
			return json(200, { success: true, credits: settings.credits });
	}
}

/** The secrets are listed whole, so that it shows whether a client masks them. */
function listKeys({ keys, settings }: Context): Answer {
	const list = keys.keys.map(
		({ id, name, key, created_at, expires_at, daily_limit, is_active }) => ({
			id,
			name,
			key,
			created_at,
			expires_at,
			daily_limit,
			is_active,
		}),
	);
	if (settings.keysShape === 'array') return json(200, list);
	return json(200, { success: true, [settings.keysShape]: list });
}

function look(context: Context, prefix: 'v1' | 'v1e', id: string): Answer {
	const { settings, store, urls } = context;
	const task = store.get(id);
	if (!task || !settings.pollRoutes[prefix].includes(task.kind))
		return json(404, { success: false, error: 'Task not found' });
	const seen = asRead(task, settings);
	if (seen.status === 'done') task.doneLooks += 1;
	const withUrls = task.doneLooks > settings.noUrlLooks;
	return json(200, shaped(settings, taskPayload(seen, settings, urls.files, withUrls)));
}

function shaped({ taskShape }: Settings, task: JsonObject): JsonObject {
	switch (taskShape) {
		case 'root':
			return task;
		case 'wrapped':
			return { success: true, data: task };
		case 'jsend':
			return { status: 'success', data: task };
		case 'jsendNested':
			return { status: 'success', data: { task } };
	}
}
