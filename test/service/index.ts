/**
 * A stand-in for the service of docs/service.md: three hosts on 127.0.0.1 (API, files, and a third one for redirects), with
 * real media, callbacks, faults on demand, and a record of every request. README.md lists all that can be set.
 */
import { apiRoutes } from './apiHost';
import { newContext } from './context';
import { fileRoutes, otherRoutes } from './fileHost';
import { taskPayload } from './payload';
import { loadMp3Encoder } from './media/mp3';
import { listen, newServer } from './server';
import { applySettings, defaultSettings, profiles } from './settings';
import { known } from './tasks';
import type * as Types from './types';

export * from './types';
export { PortTakenError } from './server';
export { applySettings, defaultSettings, profiles } from './settings';

export type StandIn = Awaited<ReturnType<typeof startService>>;

export async function startService(options: Types.ServiceOptions = {}) {
	await loadMp3Encoder();
	const settings = defaultSettings();
	applySettings(settings, structuredClone(profiles[options.profile ?? 'specification']));
	applySettings(settings, structuredClone(options.settings ?? {}));
	const context = newContext(settings, options);
	const { store, faults, callbacks, recorder, timers, urls } = context;
	const startSettings = structuredClone(settings);

	const reset = () => {
		timers.clear();
		for (const part of [store, recorder, callbacks]) part.reset();
		faults.clear();
		Object.assign(settings, structuredClone(startSettings));
	};

	const servers = { api: newServer(), files: newServer(), other: newServer() };
	apiRoutes(servers.api, context);
	// For processes that only know the address.
	servers.api.get('/_control/tasks', () => store.tasks);
	servers.api.post('/_control/reset', () => {
		reset();
		return {};
	});
	fileRoutes(servers.files, context);
	otherRoutes(servers.other, context);
	const close = async () => {
		timers.clear();
		await Promise.all([
			...Object.values(servers).map(async (server) => await server.close()),
			callbacks.close(),
		]);
	};
	try {
		urls.api = await listen(servers.api, options.port ?? 0);
		urls.files = await listen(servers.files, 0);
		urls.other = await listen(servers.other, 0);
	} catch (error) {
		await close();
		throw error;
	}
	const { apiKey } = context;

	return {
		baseUrl: urls.api,
		fileUrl: urls.files,
		otherUrl: urls.other,
		apiKey,
		settings,
		faults,
		/** Has requests wait for their answers, which are made at once, until they are let go. */
		hold(rule: Omit<Types.FaultRule, 'action'>) {
			let open = () => {};
			const until = new Promise<void>((resolve) => (open = resolve));
			const held = faults.add({ ...rule, action: { type: 'hold', until } });
			return {
				/** Gives the answers out; later requests are not held. */
				letGo() {
					faults.remove(held);
					open();
				},
			};
		},
		tasks: store.tasks,
		task: (taskId: string) => known(store, taskId),
		requests: recorder.requests,
		callbacks: callbacks.records,
		get active() {
			return store.active;
		},
		get maxActive() {
			return store.maxActive;
		},
		/** Tasks that were created, by kind or by a function. */
		creations: (filter: Types.TaskKind | ((task: Types.TaskRecord) => boolean) = () => true) =>
			store.tasks.filter((task) =>
				typeof filter === 'string' ? task.kind === filter : filter(task),
			),
		/** Requests to a poll route. */
		polls: () => recorder.requests.filter(({ route }) => route === 'poll'),
		/** Requests to the file or the third host that carried an Authorization header: must be 0. */
		foreignAuthorization: () =>
			recorder.requests.filter(
				({ host, headers }) => host !== 'api' && headers.authorization !== undefined,
			).length,
		/** The task as a GET would show it now. */
		payload: (taskId: string) => taskPayload(known(store, taskId), settings, urls.files),
		/** Ends a task now; resolves when its callbacks are through. */
		async finish(taskId: string, as: 'done' | 'error' = 'done', extra: Types.Steering = {}) {
			store.finish(known(store, taskId), { ...extra, end: as });
			await callbacks.settled(taskId);
		},
		sendCallback: async (taskId: string) => await callbacks.send(known(store, taskId)),
		/** Makes a sound effect as somebody else's client would. Its task's ID. */
		async order(body: Types.JsonObject = {}) {
			const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
			const sent = JSON.stringify({ text: 'Rain', ...body });
			const response = await fetch(`${urls.api}/v1/task/sound-effect`, {
				method: 'POST',
				headers,
				body: sent,
			});
			return ((await response.json()) as { task_id: string }).task_id;
		},
		/** Resolves when the task's callbacks are through. */
		callbacksSettled: async (taskId: string) => await callbacks.settled(taskId),
		reset,
		close,
	};
}
