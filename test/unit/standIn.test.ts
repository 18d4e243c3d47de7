/** The stand-in itself, over real HTTP: if it lies, every other suite does. */
import { startService, type FaultAction, type JsonObject, type StandIn } from '../service';

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
