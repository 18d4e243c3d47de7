import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from './context';
import { applySettings } from './settings';
import type { FaultRule, Steering, TaskRecord } from './types';

type Params = Record<string, string | undefined>;

/** `/_control/` on the API host: what tests in other processes use. Needs no key; is neither recorded nor faulted. */
export function controlRoutes(app: FastifyInstance, context: Context, reset: () => void): void {
	const route = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, work: Work) =>
		app.route({ method, url: `/_control/${path}`, handler: guarded(work) });
	const { settings, store, faults, callbacks, recorder } = context;

	route('GET', 'settings', () => settings);
	route('PATCH', 'settings', ({ body }) => {
		applySettings(settings, body ?? {});
		return settings;
	});
	route('POST', 'faults', ({ body }) => faults.add(body as FaultRule));
	route('DELETE', 'faults', () => faults.clear());
	route('GET', 'tasks', ({ query }) => select(store.tasks, query));
	route('GET', 'requests', ({ query }) => select(recorder.requests, query));
	route('GET', 'callbacks', ({ query }) => select(callbacks.records, query));
	route('POST', 'tasks/:id/finish', async ({ params, body }) => {
		const { as, ...extra } = (body ?? {}) as Steering & { as?: 'done' | 'error' };
		const task = known(context, params.id);
		store.finish(task, as === undefined ? extra : { ...extra, end: as });
		await callbacks.settled(task.id);
		return task;
	});
	route('POST', 'reset', reset);
}

interface Asked {
	params: Params;
	query: Params;
	body: unknown;
}
type Work = (asked: Asked) => unknown;

/** Mistakes of the caller come back as 400 with words. */
function guarded(work: Work) {
	return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
		try {
			const asked = {
				params: request.params as Params,
				query: request.query as Params,
				body: request.body,
			};
			return await reply.type('application/json').send(JSON.stringify((await work(asked)) ?? {}));
		} catch (error) {
			return await reply
				.code(400)
				.send({ error: error instanceof Error ? error.message : String(error) });
		}
	};
}

export function known({ store }: Pick<Context, 'store'>, id: string | undefined): TaskRecord {
	const task = store.get(id ?? '');
	if (!task) throw new Error(`No such task: ${id}`);
	return task;
}

/** `?host=files&status=200&limit=10`: fields that must be equal, then the last `limit`. */
function select<T extends object>(records: T[], { limit, ...fields }: Params): T[] {
	const wanted = Object.entries(fields);
	const found = records.filter((record) =>
		wanted.every(([name, value]) => String(Reflect.get(record, name)) === value),
	);
	return limit === undefined ? found : found.slice(-Number(limit));
}
