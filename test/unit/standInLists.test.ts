/** The stand-in's lists, its music, and where it names costs: what the pickers, "Task: Create" and Max Credits are tested with. */
import { startService, type JsonObject, type StandIn } from '../service';

let service: StandIn;
beforeAll(async () => {
	service = await startService();
});
afterEach(() => service.reset());
afterAll(async () => await service.close());

async function call(path: string, body?: unknown): Promise<{ status: number; body: JsonObject }> {
	const response = await fetch(`${service.baseUrl}${path}`, {
		method: body === undefined ? 'GET' : 'POST',
		headers: {
			authorization: `Bearer ${service.apiKey}`,
			...(body === undefined ? {} : { 'content-type': 'application/json' }),
		},
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
	});
	return { status: response.status, body: (await response.json()) as JsonObject };
}

const ids = (voices: unknown) =>
	(voices as Array<{ voice_id: string }>).map(({ voice_id }) => voice_id);

test('v3: by provider, paged, with the end of a page on the next one again', async () => {
	expect((await call('/v3/voices')).status).toBe(400);
	const all: string[] = [];
	let pages = 0;
	for (let more = true; more;) {
		pages += 1;
		const { body } = await call(`/v3/voices?provider=elevenlabs&page=${pages}&page_size=100`);
		all.push(...ids(body.data));
		more = (body.pagination as JsonObject).has_more as boolean;
	}
	expect(pages).toBe(3);
	expect(all).toHaveLength(256);
	expect(new Set(all).size).toBe(250);
	expect(all[0]).toBe('elevenlabs_voice-00001');
});

test('costs are named where the settings say', async () => {
	const create = async () => (await call('/v1/task/sound-effect', { text: 'Rain' })).body;
	const { body: image } = await call('/v1i/task/generate-image', { prompt: 'x', model_id: 'm' });
	expect(image).toMatchObject({ estimated_credits: 30 });
	expect(await create()).not.toHaveProperty('credit_cost');
	service.settings.costNamed = { answer: 'all', task: false, balance: false };
	const answer = await create();
	expect(answer).toMatchObject({ credit_cost: 10 });
	expect(answer).not.toHaveProperty('ec_remain_credits');
	expect((await call(`/v1/task/${String(answer.task_id)}`)).body).not.toHaveProperty('credit_cost');
});

describe('the list of tasks', () => {
	const RAIN = '/v1/task/sound-effect';
	const listed = async (query = '') => {
		const { body } = await call(`/v1/tasks${query}`);
		return body.data as JsonObject[];
	};

	test('pages, newest first, late, with what it repeats of the creation', async () => {
		Object.assign(service.settings.lists, { tasks: true });
		for (const text of ['one', 'two', 'three']) await call(RAIN, { text });
		await call('/v1e/task/text-to-speech', { text: 'four', voice: 'v' });
		const texts = (tasks: JsonObject[]) => tasks.map(({ text }) => text);
		expect(texts(await listed())).toEqual(['four', 'three', 'two', 'one']);
		expect(texts(await listed('?page=2&limit=3'))).toEqual(['one']);
		expect(texts(await listed('?type=sound_effect'))).toEqual(['three', 'two', 'one']);
		const { taskList } = service.settings;
		taskList.overlap = 1;
		expect(texts(await listed('?page=2&limit=3'))).toEqual(['two', 'one']);
		Object.assign(taskList, { order: 'oldest', repeats: ['voice'] });
		expect((await listed()).map(({ text, voice }) => [text, voice])).toEqual(
			[undefined, undefined, undefined, 'v'].map((voice) => [undefined, voice]),
		);
		taskList.lagMs = 60_000;
		expect(await listed()).toEqual([]);
	});

	test('its clock is its own, and the Date header shows it', async () => {
		service.settings.lists.tasks = true;
		service.settings.clockOffsetMs = -3_600_000;
		await call(RAIN, { text: 'rain' });
		const [task] = await listed();
		const hourAgo = Date.now() - 3_600_000;
		expect(Math.abs(Date.parse(String(task?.created_at)) - hourAgo)).toBeLessThan(60_000);
		const { headers } = await fetch(`${service.baseUrl}/v1/tasks`);
		expect(Math.abs(Date.parse(headers.get('date') ?? '') - hourAgo)).toBeLessThan(60_000);
	});
});
