/** The stand-in itself, over real HTTP: if it lies, every other suite does. */
import { startService, type FaultAction, type JsonObject, type StandIn } from '../service';

const PATHS = {
	sound_effect: '/v1/task/sound-effect',
	speech_by_id: '/v1/text-to-speech/voice-1?output_format=mp3_44100_128',
	speech_by_name: '/v1e/task/text-to-speech',
	image: '/v1i/task/generate-image',
} as const;
const BODIES: Record<keyof typeof PATHS, JsonObject> = {
	sound_effect: { text: 'rain on a tin roof' },
	speech_by_id: { text: 'Hello there', model_id: 'eleven_v3' },
	speech_by_name: {
		text: 'One two three four five six seven',
		voice: 'en-US-AriaNeural',
		with_transcript: true,
	},
	image: {
		prompt: 'a lighthouse',
		model_id: 'painter',
		generations_count: 2,
		model_parameters: { aspect_ratio: '16:9', resolution: '1K' },
	},
};
type Kind = keyof typeof PATHS;

let service: StandIn;
const auth = () => ({ authorization: `Bearer ${service.apiKey}` });
const get = async (path: string, headers: Record<string, string> = auth()) =>
	await fetch(`${service.baseUrl}${path}`, { headers });
const post = async (path: string, body: unknown, headers: Record<string, string> = auth()) =>
	await fetch(`${service.baseUrl}${path}`, {
		method: 'POST',
		headers: { 'content-type': 'application/json', ...headers },
		body: typeof body === 'string' ? body : JSON.stringify(body),
	});
const read = async (response: Response) => (await response.json()) as JsonObject;
const create = async (kind: Kind = 'sound_effect', extra: JsonObject = {}) => {
	const answer = await read(await post(PATHS[kind], { ...BODIES[kind], ...extra }));
	return answer.task_id as string;
};
const look = async (id: string) => await read(await get(`/v1/task/${id}`));
const done = async (kind: Kind, steering: JsonObject = {}) => {
	const task = await look(await create(kind, { stand_in: { ms: 0, ...steering } }));
	return task.metadata as JsonObject;
};
const sleep = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

/** Looks again and again until it is so; what never happens ends by the test's own time limit. */
const until = async (isSo: () => boolean) => {
	while (!isSo()) await sleep(5);
};

beforeAll(async () => {
	service = await startService({ settings: { taskMs: 60_000 } });
});
afterEach(() => service.reset());
afterAll(async () => await service.close());

describe('keys and credits', () => {
	test.each([
		['none', {}],
		['unknown', { authorization: 'Bearer sk_nobody' }],
		['not a bearer', { authorization: 'Basic abc' }],
	])('401 with success false for a key that is %s', async (_, headers) => {
		const response = await get('/v1/credits', headers);
		expect(response.status).toBe(401);
		expect(await read(response)).toEqual({ success: false, error: expect.any(String) as string });
	});

	test('credits go down at creation and come back when a task fails', async () => {
		service.settings.credits = 100;
		const id = await create();
		expect(service.settings.credits).toBe(90);
		await service.finish(id, 'error', { error_message: 'No luck' });
		expect(service.settings.credits).toBe(100);
		expect(await look(id)).toMatchObject({ status: 'error', error_message: 'No luck' });
	});

	test('refuses without credits, over a daily cap, and over the active limit, and creates nothing', async () => {
		service.settings.credits = 5;
		expect((await post(PATHS.sound_effect, BODIES.sound_effect)).status).toBe(402);
		Object.assign(service.settings, {
			credits: 500,
			dailyCap: 15,
			activeTaskLimit: 1,
			retryAfterS: 3,
		});
		await create();
		const capped = await post(PATHS.sound_effect, BODIES.sound_effect);
		expect([capped.status, (await read(capped)).error]).toEqual([
			429,
			expect.stringContaining('daily spend limit'),
		]);
		service.settings.dailyCap = null;
		const busy = await post(PATHS.sound_effect, BODIES.sound_effect);
		expect([busy.status, busy.headers.get('retry-after')]).toEqual([429, '3']);
		expect(await read(busy)).toMatchObject({ success: false, code: 'active_task_limit' });
		expect(service.creations()).toHaveLength(1);
		expect(service.maxActive).toBe(1);
	});
});

describe('creation', () => {
	test.each<[Kind, unknown, number]>([
		['sound_effect', {}, 400],
		['sound_effect', '{"text":', 400],
		['sound_effect', { text: 'x', receive_url: 'nowhere' }, 400],
		['speech_by_name', { text: 'x' }, 400],
		['image', { prompt: 'x' }, 400],
		['image', { prompt: 'x', model_id: 'm', model_parameters: { aspect_ratio: 'wide' } }, 422],
		['image', { prompt: 'x', model_id: 'invalid-model' }, 500],
	])('%s refuses %j with %d', async (kind, body, status) => {
		const response = await post(PATHS[kind], body);
		expect(response.status).toBe(status);
		expect(await read(response)).toMatchObject({
			success: false,
			error: expect.any(String) as string,
		});
		expect(service.tasks).toHaveLength(0);
	});
});

describe('tasks', () => {
	test('move through their states with time', async () => {
		service.settings.statusNames = ['queued', 'doing'];
		const id = await create('sound_effect', { stand_in: { ms: 500 } });
		const seen = [await look(id)];
		while (seen.at(-1)?.status !== 'done') {
			await sleep(20);
			seen.push(await look(id));
		}
		expect(seen[0]).toMatchObject({ id, status: 'queued', type: 'sound_effect' });
		expect(seen.at(-1)).toMatchObject({ status: 'done', progress: 100 });
		const statuses = seen.map(({ status }) => status);
		expect([...new Set(statuses)]).toEqual(['queued', 'doing', 'done']);
		const progress = seen.map((task) => Number(task.progress));
		expect(progress).toEqual([...progress].sort((x, y) => x - y));
		expect(service.task(id).polls).toBe(seen.length);
		expect(service.polls(id)).toHaveLength(seen.length);
	});

	test('404 for an unknown id, a path unknown, and a route of another kind', async () => {
		expect((await get('/v1/task/nobody')).status).toBe(404);
		expect((await get('/v2/anything')).status).toBe(404);
		service.settings.pollRoutes = { v1: ['image'], v1e: ['sound_effect'] };
		const id = await create();
		expect((await get(`/v1/task/${id}`)).status).toBe(404);
		expect((await get(`/v1e/task/${id}`)).status).toBe(200);
	});
});

describe('files', () => {
	const fetchUrl = async (url: unknown, headers: Record<string, string> = {}) =>
		await fetch(url as string, { headers });
	const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer());

	test('any size is made while it is sent, and in ranges', async () => {
		const { audio_url: url } = await done('sound_effect', { bytes: 5_000_000 });
		const whole = await bytes(await fetchUrl(url));
		expect(whole).toHaveLength(5_000_000);
		expect(whole.toString('latin1', 0, 4)).toBe('RIFF');
		const part = await fetchUrl(url, { range: 'bytes=70000-' });
		expect(part.status).toBe(206);
		expect(part.headers.get('content-range')).toBe('bytes 70000-4999999/5000000');
		expect((await bytes(part)).equals(whole.subarray(70_000))).toBe(true);
		expect((await fetchUrl(url, { range: 'bytes=5000000-' })).status).toBe(416);
	});
});

describe('faults', () => {
	const strike = (action: FaultAction) => service.faults.add({ route: 'create', action });
	const attempt = async () => await post(PATHS.sound_effect, BODIES.sound_effect);

	test.each<[FaultAction, number]>([
		[{ type: 'reset' }, 0],
		[{ type: 'processThenReset' }, 1],
	])('%j loses the connection', async (action, creations) => {
		strike(action);
		await expect(attempt()).rejects.toThrow();
		expect(service.creations()).toHaveLength(creations);
		expect(service.requests[0]).toMatchObject({ status: -1, fault: action.type });
	});

	test.each<[FaultAction, number, string | RegExp, number]>([
		[
			{ type: 'status', status: 503, body: { success: false, code: 'server_busy' } },
			503,
			/server_busy/,
			0,
		],
		[{ type: 'processThenStatus', status: 504 }, 504, /success/, 1],
		[{ type: 'stall', ms: 20 }, 504, /timeout/, 0],
		[{ type: 'processThenStall', ms: 20 }, 200, /task_id/, 1],
		[{ type: 'drip', everyMs: 5, ms: 20 }, 200, /^ {2,}\{"success":true,"task_id"/, 1],
		[{ type: 'emptyBody' }, 200, '', 1],
		[{ type: 'html' }, 200, /^<!DOCTYPE/, 1],
		[{ type: 'malformedJson' }, 200, /^\{"success":true,"task_id":"$/, 1],
		[{ type: 'notObject', body: [1] }, 200, '[1]', 1],
	])('%j answers %d', async (action, status, text, creations) => {
		strike(action);
		const response = await attempt();
		expect(response.status).toBe(status);
		const body = await response.text();
		if (typeof text === 'string') expect(body).toBe(text);
		else expect(body).toMatch(text);
		expect(service.creations()).toHaveLength(creations);
	});

	test('held answers are as they were when their requests came', async () => {
		const held = service.hold({ route: 'poll' });
		const id = await create('sound_effect', { stand_in: { never_ends: true } });
		const looks = [look(id), look(id)];
		await until(() => held.count === 2);
		await service.finish(id);
		expect(service.requests.filter(({ status }) => status === 0)).toHaveLength(2);
		held.letGo();
		for (const seen of await Promise.all(looks)) expect(seen).toMatchObject({ status: 'doing' });
		expect(await look(id)).toMatchObject({ status: 'done' });
		expect(held.count).toBe(2);
	});

	test('skip, times, perTask, kind, path and probability choose the requests', async () => {
		const [first, second] = [await create(), await create('image')];
		const statuses = async (id: string, count = 4) => {
			const seen: number[] = [];
			for (let index = 0; index < count; index++) seen.push((await get(`/v1/task/${id}`)).status);
			return seen;
		};
		const action: FaultAction = { type: 'status', status: 503 };
		const rule = service.faults.add({ route: 'poll', skip: 1, times: 2, perTask: true, action });
		expect(await statuses(first)).toEqual([200, 503, 503, 200]);
		expect(await statuses(second)).toEqual([200, 503, 503, 200]);
		expect(rule.hits).toBe(4);
		service.faults.clear();
		service.faults.add({ kind: 'image', path: '/^\\/v1\\/task\\//', action });
		expect([...(await statuses(first, 1)), ...(await statuses(second, 1))]).toEqual([200, 503]);
		service.faults.clear();
		service.faults.add({ path: 'v1/task/', probability: 0.33, action });
		const busy = (await statuses(first, 200)).filter((status) => status === 503).length;
		expect(busy).toBeGreaterThan(40);
		expect(busy).toBeLessThan(95);
	});
});

describe('callbacks', () => {
	const hook = () => `${service.otherUrl}/hook?signature=abc`;
	const received = () =>
		service.requests.filter(({ host, method }) => host === 'other' && method === 'POST');

	test('post the final task once, and only with receive_url', async () => {
		const id = await create('speech_by_id', { receive_url: hook(), stand_in: { ms: 30 } });
		await create('sound_effect', { stand_in: { ms: 0 } });
		await until(() => service.callbacks.some(({ status }) => status === 200));
		expect(received()).toHaveLength(1);
		expect(received()[0]?.body).toEqual(await look(id));
		expect(received()[0]?.url).toBe('/hook?signature=abc');
		expect(service.callbacks).toMatchObject([
			{ taskId: id, status: 200, body: '{"received":true}', attempt: 1 },
		]);
	});
});

describe('control interface', () => {
	const control = async (method: string, path: string, body?: unknown) => {
		const response = await fetch(`${service.baseUrl}/_control/${path}`, {
			method,
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});
		return { status: response.status, body: (await response.json()) as JsonObject & JsonObject[] };
	};

	test('settings, faults, finish, keys, ledgers, reset', async () => {
		await control('PATCH', 'settings', { activeTaskLimit: 7, callbacks: { copies: 2 } });
		expect(service.settings).toMatchObject({
			activeTaskLimit: 7,
			callbacks: { copies: 2, retryOn5xx: 0 },
		});
		expect(await control('PATCH', 'settings', { activeTasksLimit: 7 })).toMatchObject({
			status: 400,
		});

		const { body: rule } = await control('POST', 'faults', {
			route: 'poll',
			times: 1,
			action: { type: 'html' },
		});
		const id = await create();
		expect(await (await get(`/v1/task/${id}`)).text()).toMatch(/^<!DOCTYPE/);
		expect((await control('GET', 'faults')).body).toMatchObject([{ id: rule.id, hits: 1 }]);
		expect((await control('DELETE', `faults/${String(rule.id)}`)).body).toEqual({ removed: true });

		await control('POST', `tasks/${id}/finish`, { as: 'error', error_message: 'Enough' });
		expect((await control('GET', 'tasks?status=error')).body).toMatchObject([
			{ id, refunded: true },
		]);
		expect((await control('GET', 'requests?route=poll')).body).toHaveLength(1);
		expect((await control('POST', 'keys', { name: 'Short' })).body).toMatchObject({
			name: 'Short',
		});
		expect((await control('GET', 'summary')).body).toMatchObject({
			creations: 1,
			failed: 1,
			charged: 0,
			maxActive: 1,
			polls: 1,
			pollsByTask: { [id]: 1 },
		});
		await control('POST', 'reset');
		expect((await control('GET', 'summary')).body).toMatchObject({ creations: 0, requests: 0 });
		expect(service.settings.activeTaskLimit).toBeNull();
	});
});
