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

describe('tasks', () => {
	test('404 for an unknown id, a path unknown, and a route of another kind', async () => {
		expect((await get('/v1/task/nobody')).status).toBe(404);
		expect((await get('/v2/anything')).status).toBe(404);
		service.settings.pollRoutes = { v1: ['image'], v1e: ['sound_effect'] };
		const id = await create();
		expect((await get(`/v1/task/${id}`)).status).toBe(404);
		expect((await get(`/v1e/task/${id}`)).status).toBe(200);
	});
});

describe('faults', () => {
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
		service.faults.add({ kind: 'image', path: /^\/v1\/task\//, action });
		expect([...(await statuses(first, 1)), ...(await statuses(second, 1))]).toEqual([200, 503]);
		service.faults.clear();
		service.faults.add({ path: 'v1/task/', probability: 0.33, action });
		const busy = (await statuses(first, 200)).filter((status) => status === 503).length;
		expect(busy).toBeGreaterThan(40);
		expect(busy).toBeLessThan(95);
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

	test('settings, faults, finish, ledgers, reset', async () => {
		await control('PATCH', 'settings', { activeTaskLimit: 7, callbacks: { copies: 2 } });
		expect(service.settings).toMatchObject({
			activeTaskLimit: 7,
			callbacks: { copies: 2, retryOn5xx: 0 },
		});
		expect(await control('PATCH', 'settings', { activeTasksLimit: 7 })).toMatchObject({
			status: 400,
		});

		await control('POST', 'faults', { route: 'poll', action: { type: 'html' } });
		const id = await create();
		expect(await (await get(`/v1/task/${id}`)).text()).toMatch(/^<!DOCTYPE/);
		await control('DELETE', 'faults');

		await control('POST', `tasks/${id}/finish`, { as: 'error', error_message: 'Enough' });
		expect((await control('GET', 'tasks?status=error')).body).toMatchObject([
			{ id, refunded: true },
		]);
		expect((await control('GET', 'requests?route=poll')).body).toHaveLength(1);
		expect((await control('GET', 'summary')).body).toMatchObject({
			creations: 1,
			failed: 1,
			charged: 0,
			maxActive: 1,
			polls: 1,
		});
		await control('POST', 'reset');
		expect((await control('GET', 'summary')).body).toMatchObject({ creations: 0, requests: 0 });
		expect(service.settings.activeTaskLimit).toBeNull();
	});
});
