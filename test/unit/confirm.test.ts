/** What callbacks may cost: few requests at a time, and calls that wait for a turn are answered in time. */
import { confirm } from '../../nodes/MediaGeneration/callback/confirm';
import type { Reply } from '../../nodes/MediaGeneration/service/client';
import { hurry } from '../engine/hurry';
import { answer, scriptedClient } from './replies';

const TOO_MANY = { kind: 'unavailable', reason: 'too many callbacks at once' };
const BUDGET_MS = 12_000;
const found = answer(200, {
	id: 't',
	status: 'done',
	metadata: { output_uri: 'https://f.example/a' },
});

/** A service that answers when it is told to. */
function held() {
	let letGo = () => {};
	const gate = new Promise<Reply>((resolve) => (letGo = () => resolve(found)));
	const client = scriptedClient(async () => await gate);
	const ask = async (taskId: string) =>
		await confirm(client, { taskId, type: undefined, over: true }, BUDGET_MS);
	return { client, ask, letGo: () => letGo() };
}

test('ten are asked about at a time; who gets no turn hears so within its time', async () => {
	const { client, ask, letGo } = held();
	const { value, tookMs } = await hurry(
		async () => {
			const first = Array.from({ length: 10 }, async (_, index) => await ask(`t${index}`));
			const late = await ask('t10');
			expect(client.requests).toHaveLength(10);
			letGo();
			await Promise.all(first);
			return late;
		},
		60_000,
		0,
	);
	expect(value).toEqual(TOO_MANY);
	expect(tookMs).toBeLessThanOrEqual(BUDGET_MS);
	// Whoever has given up takes no turn later.
	expect(client.requests).toHaveLength(10);
});

test('beyond 500 none waits for a turn', async () => {
	const { client, ask, letGo } = held();
	const { value } = await hurry(
		async () => {
			const waiting = Array.from({ length: 500 }, async (_, index) => await ask(`t${index}`));
			const before = Date.now();
			const refused = await ask('one too many');
			expect(Date.now()).toBe(before);
			letGo();
			await Promise.all(waiting);
			return refused;
		},
		60_000,
		0,
	);
	expect(value).toEqual(TOO_MANY);
	expect(client.requests).toHaveLength(500);
});
