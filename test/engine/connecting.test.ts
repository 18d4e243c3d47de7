/** A service that is not up yet, and redirects of the API, which are never followed. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { startService } from '../service';
import { engineSetting, goOn, sound } from './setting';
import { until } from './until';

const setting = engineSetting();
const parameters = { ...sound(), downloadOutput: false };

/** Counts the connections of this process that are refused. */
function refusals() {
	const refused = { count: 0, forget: () => unsubscribe('net.client.socket', listen) };
	const listen = (message: unknown) =>
		(message as { socket: Socket }).socket.once('error', ({ code }: NodeJS.ErrnoException) => {
			if (code === 'ECONNREFUSED') refused.count += 1;
		});
	subscribe('net.client.socket', listen);
	return refused;
}

test('refused connections are tried again until the service is up; one task is created', async () => {
	const first = await startService();
	const { baseUrl, apiKey } = first;
	await first.close();
	const refused = refusals();
	const running = setting.run({ items: [{}, {}], parameters, credentials: { baseUrl, apiKey } });
	await until('both were refused, and refused again', () => refused.count >= 4);
	refused.forget();
	const port = Number(new URL(baseUrl).port);
	const service = await startService({ port, apiKey, settings: { taskMs: 100 } });
	try {
		const { output, error } = await running;
		expect(error).toBeUndefined();
		expect(output.map(({ json }) => json.status)).toEqual(['done', 'done']);
		expect(service.creations()).toHaveLength(2);
		expect(service.requests.filter(({ route }) => route === 'create')).toHaveLength(2);
	} finally {
		await service.close();
	}
});

describe('a redirect of the API to another host is not followed', () => {
	const redirect = { type: 'redirect', to: '{other}{path}' } as const;
	const others = () => setting.service.requests.filter(({ host }) => host !== 'api');

	test('reading the credits says so', async () => {
		setting.service.faults.add({ route: 'credits', action: redirect });
		const { output } = await setting.run({
			parameters: { resource: 'credits', operation: 'get' },
			settings: goOn,
		});
		expect(output[0]?.json).toMatchObject({ outcome: 'unreachable', http_status: 302 });
		expect(output[0]?.json.error).toMatch(/\/v1\/credits could not be read: HTTP 302/);
		expect(others()).toEqual([]);
	});

	test('a look that is redirected is a failed look, and the next one counts', async () => {
		setting.service.faults.add({ route: 'poll', times: 1, action: redirect });
		const { output } = await setting.run({ parameters });
		expect(output[0]?.json.status).toBe('done');
		expect(setting.service.polls().map(({ status }) => status)).toEqual([302, 200]);
		expect(others()).toEqual([]);
	});
});

test('a key that is revoked between creation and look: unreachable, the task is named', async () => {
	const { service } = setting;
	const running = setting.run({
		items: [{}, {}],
		parameters: { ...parameters, options: { extraFields: '{"stand_in":{"never_ends":true}}' } },
		settings: goOn,
	});
	await until('both were created', () => service.creations().length === 2);
	service.revokeKey();
	const { output } = await running;
	for (const [index, { json }] of output.entries()) {
		expect(json).toMatchObject({ outcome: 'unreachable', http_status: 401 });
		expect(service.task(json.task_id as string)).toBeDefined();
		expect(json.error).toContain(json.task_id);
		expect(output[index]?.pairedItem).toEqual({ item: index });
	}
	expect(service.creations()).toHaveLength(2);
});
