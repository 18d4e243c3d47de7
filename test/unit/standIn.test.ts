/** The stand-in itself, over real HTTP: if it lies, every other suite does. */
import {
	profiles,
	startService,
	type FaultAction,
	type JsonObject,
	type StandIn,
} from '../service';
import { applySettings } from '../service/settings';

const PATHS = { sound_effect: '/v1/task/sound-effect', image: '/v1i/task/generate-image' } as const;
const BODIES = { sound_effect: { text: 'rain' }, image: { prompt: 'a lighthouse', model_id: 'm' } };
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

describe('the profile of today', () => {
	const PROFILE = profiles.today;
	const form = async (path: string, fields: Record<string, string | Blob>) => {
		const body = new FormData();
		for (const [name, value] of Object.entries(fields)) body.append(name, value);
		const response = await fetch(service.baseUrl + path, { method: 'POST', headers: auth(), body });
		return await read(response);
	};
	const V3 = '/v3/text-to-speech';
	const speak = async (text: string, more: Record<string, string> = {}) =>
		await form(V3, { text, voice_id: 'elevenlabs_a', ...more });
	beforeEach(() => applySettings(service.settings, PROFILE));

	test('speech is a form at v3, with a provider in front of the voice; v1 says so', async () => {
		const moved = { success: false, message: 'please use api v3 for this endpoint' };
		expect(await read(await post('/v1/text-to-speech/a', { text: 'Hello' }))).toEqual(moved);
		expect(await speak('Hello', { voice_id: 'a' })).toMatchObject({
			errors: [{ field: 'voice_id', message: 'voice_id must begin with its provider' }],
		});
		const format = { output_format: 'wav_24000', with_transcript: 'true' };
		const { task_id: id } = await speak('Hello', format);
		await service.finish(String(id));
		expect(await look(String(id))).toMatchObject({
			type: 'tts',
			metadata: {
				audio_url: expect.stringMatching(/\.wav$/) as string,
				srt_url: expect.any(String) as string,
			},
		});
		service.settings.speechRoute = 'v1';
		expect((await post(V3, { text: 'Hello' })).status).toBe(404);
	});

	test('images take reference files, each of which the prompt names', async () => {
		const picture = new File(['pixels'], 'a.png', { type: 'image/png' });
		const image = { prompt: 'Like @img1', model_id: 'm', generations_count: '2' };
		const sent = await form(PATHS.image, { ...image, assets: picture });
		expect(sent).toMatchObject({ estimated_credits: 63 });
		const [file] = service.tasks[0]?.body.assets as JsonObject[];
		expect(file).toMatchObject({ fileName: 'a.png', type: 'image/png', bytes: 6 });
		for (const refused of [
			await form(PATHS.image, image),
			await form(PATHS.image, { ...image, prompt: 'No name', assets: picture }),
			await form(PATHS.image, { ...image, assets: new Blob([Buffer.alloc(5_000_001)]) }),
		])
			expect(refused).toMatchObject({ success: false, errors: [{}] });
		const asked = { model_id: 'm', generations_count: 2, assets: 1 };
		const price = await read(await post('/v1i/task/price', asked));
		expect(price).toEqual({ success: true, credits: 63 });
	});

	test('a list cuts texts; the whole one has a route of its own', async () => {
		const text = 'x'.repeat(1_001);
		const { task_id: id } = await speak(text);
		const { data, ...page } = await read(await get('/v1/tasks'));
		expect(page).toEqual({ success: true, page: 1, limit: 20, total: 1 });
		const cut = { text: text.slice(1), text_length: 1_001, text_truncated: true };
		expect(data).toMatchObject([cut]);
		const full = { id, text, text_length: 1_001, text_truncated: false };
		expect(await read(await get(`/v1/task/${String(id)}/full`))).toEqual(full);
	});

	test('deletion ends what runs, gives its credits back, and takes the rest off the list', async () => {
		const ids = [await create(), await create()];
		await service.finish(ids[1] ?? '');
		const answer = await read(await post('/v1/task/delete', { task_ids: ids }));
		expect(answer).toEqual({ success: true, refund_credits: 10 });
		expect(service.active).toBe(0);
		for (const id of ids) expect((await get(`/v1/task/${id}`)).status).toBe(404);
		expect(await read(await get('/v1/tasks'))).toMatchObject({ data: [] });
	});

	test('dubbing needs a file, a language and a receive_url; sounds have at most 450 characters', async () => {
		const file = new File(['sound'], 'a.mp3', { type: 'audio/mpeg' });
		const whole = { file, target_lang: 'de', receive_url: 'https://a.example/' };
		expect(await form('/v1/task/dubbing', whole)).toMatchObject({ success: true });
		for (const name of Object.keys(whole))
			expect(await form('/v1/task/dubbing', { ...whole, [name]: '' })).toMatchObject({
				errors: [{ field: name }],
			});
		const long = await read(await post(PATHS.sound_effect, { text: 'x'.repeat(451) }));
		expect(long).toMatchObject({ errors: [{ field: 'text' }] });
	});

	test('the specification has none of it', async () => {
		service.reset();
		for (const path of [V3, '/v1/task/dubbing', '/v1/task/delete', '/v1i/task/price'])
			expect((await post(path, {})).status).toBe(404);
		expect((await get('/v1/health-check')).status).toBe(404);
		expect(await form(PATHS.image, { prompt: 'A dot' })).toMatchObject({
			error: 'The request body must be a JSON object',
		});
	});
});

test.each([
	['mp3_22050_32', 'audio/mpeg', 'mp3'],
	['wav', 'audio/wav', 'wav'],
])('output_format %s is what comes', async (format, type, ending) => {
	const path = `/v1/text-to-speech/a?output_format=${format}`;
	const { task_id: id } = await read(await post(path, { text: 'Hello' }));
	await service.finish(String(id));
	const { metadata } = await look(String(id));
	const url = String((metadata as JsonObject).audio_url);
	expect(url).toMatch(new RegExp(`\\.${ending}$`));
	expect((await fetch(url)).headers.get('content-type')).toBe(type);
});
