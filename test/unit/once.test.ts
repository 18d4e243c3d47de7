import type { IDataObject } from 'n8n-workflow';
import {
	claim,
	isDuplicate,
	remember,
	savedEvents,
	type Memory,
	type OnceEvent,
} from '../../nodes/MediaGeneration/trigger/once';
import { now } from '../../nodes/MediaGeneration/base/clock';
import { onMachine } from '../model/machine';
import { WebhookResponse } from '../support/webhookResponse';

/** Answered by n8n, whatever becomes of the sender's connection. */
const answered = (statusCode = 200, response = new WebhookResponse()) =>
	Object.assign(response, { statusCode, writableEnded: true });
let count = 0;
const memory = (saved: readonly string[] = [], patienceMs = 60_000): Memory => ({
	owner: `workflow:node-${(count += 1)}`,
	saved,
	answerBy: now() + patienceMs,
});
/** Lets an event through in a process of its own, and saves it as the execution does which it starts. */
async function remembered(staticData: IDataObject, event: OnceEvent, mine = memory()) {
	const claimed = await claim(mine, event, answered());
	if (claimed.kind === 'claimed') remember(mine.owner, claimed.key, staticData);
	return claimed.kind;
}
/** Another process, which reads what n8n has saved. */
const afterRestart = (staticData: IDataObject) =>
	memory(savedEvents(JSON.parse(JSON.stringify(staticData)) as IDataObject));
const got = async (mine: Memory, name: string, response = answered()) =>
	(await claim(mine, { name }, response)).kind === 'claimed';

describe('an event', () => {
	test('is let through once', async () => {
		const mine = memory();
		const through: boolean[] = [];
		for (const event of ['t1 done', 't1 done', 't1 error', 't2 done'])
			through.push(await got(mine, event));
		expect(through).toEqual([true, false, true, true]);
	});

	test('is let through once for two calls at the same moment', async () => {
		const mine = memory();
		expect(await Promise.all([got(mine, 't'), got({ ...mine }, 't')])).toEqual([true, false]);
	});

	test('is known to another process from what the execution has saved', async () => {
		const staticData = {};
		await remembered(staticData, { name: 't1' });
		expect(await isDuplicate(afterRestart(staticData), { name: 't1' })).toBe(true);
		expect(await got(afterRestart(staticData), 't1')).toBe(false);
		expect(await isDuplicate(afterRestart(staticData), { name: 't2' })).toBe(false);
	});

	test('of forty that overlap each is saved, though all began with the same static data, and what was saved before stays', async () => {
		const before = {};
		await remembered(before, { name: 'earlier' });
		const mine = memory(savedEvents(before));
		const each = Array.from({ length: 40 }, () => structuredClone(before) as IDataObject);
		for (const [index, staticData] of each.entries())
			await remembered(staticData, { name: `t${index}` }, mine);
		// n8n writes each of them when its execution ends: whichever is the last, it has all events.
		for (const staticData of each) {
			const later = afterRestart(staticData);
			const events = ['earlier', ...each.map((_, index) => `t${index}`)];
			for (const name of events) expect(await isDuplicate(later, { name })).toBe(true);
		}
	});

	test('is remembered within bounds: more in the process than in what n8n saves', async () => {
		const mine = memory();
		const staticData: IDataObject = {};
		for (let index = 0; index < 5_500; index += 1)
			await remembered(staticData, { name: `t${index}` }, mine);
		expect(savedEvents(staticData)).toHaveLength(1_000);
		expect(JSON.stringify(staticData).length).toBeLessThan(15_000);
		expect(await got(mine, 't5499')).toBe(false);
		expect(await got(mine, 't600')).toBe(false);
		expect(await got(mine, 't1')).toBe(true);
		const later = afterRestart(staticData);
		expect(await isDuplicate(later, { name: 't4600' })).toBe(true);
		expect(await isDuplicate(later, { name: 't4000' })).toBe(false);
	});

	test.each([{ seen: 'odd' }, { seen: [7, null] }, {}])('%j holds none', (staticData) => {
		expect(savedEvents(staticData as IDataObject)).toEqual([]);
	});
});

test('three events of a crowd are let through, over a restart too; what belongs to none always is', async () => {
	const staticData: IDataObject = {};
	const claims = ['a', 'b', 'c', 'd'].map((name) => ({ name, crowd: 't1' }));
	const mine = memory();
	const kinds: string[] = [];
	for (const event of claims) kinds.push(await remembered(staticData, event, mine));
	expect(kinds).toEqual(['claimed', 'claimed', 'claimed', 'crowded']);
	const later = afterRestart(staticData);
	expect((await claim(later, { name: 'e', crowd: 't1' }, answered())).kind).toBe('crowded');
	expect((await claim(later, { name: 'a', crowd: 't1' }, answered())).kind).toBe('duplicate');
	expect((await claim(later, { name: 'e', crowd: 't2' }, answered())).kind).toBe('claimed');
	expect((await claim(later, { name: 'd' }, answered())).kind).toBe('claimed');
	// The same event, whether or not somebody vouches for it.
	expect((await claim(later, { name: 'a' }, answered())).kind).toBe('duplicate');
});

const T = { name: 't' };

describe('while the call that has the event is not answered', () => {
	async function held(patienceMs?: number) {
		const mine = memory([], patienceMs);
		const response = new WebhookResponse();
		await got(mine, 't', response);
		return { mine, response };
	}

	test.each([
		[60_000, 3_000],
		[1_000, 1_000],
	])(
		'a copy that is to be answered in %d ms waits for %d ms, and is sent away',
		async (leftMs, waitsMs) => {
			await onMachine(async (machine) => {
				const { mine } = await held(leftMs);
				await expect(isDuplicate(mine, T)).rejects.toMatchObject({ status: 503 });
				expect(machine.elapsed).toBe(waitsMs);
			});
		},
	);

	test.each([
		[200, [false, false, false]],
		[500, [true, false, false]],
	])(
		'answered with %d: of three copies that wait one counts where it failed',
		async (status, through) => {
			await onMachine(async () => {
				const { mine, response } = await held();
				const copies = [1, 2, 3].map(async () => await got(mine, 't'));
				answered(status, response).destroy();
				expect((await Promise.all(copies)).sort((a, b) => Number(b) - Number(a))).toEqual(through);
			});
		},
	);

	test('a failed call whose connection stays open holds nobody up, and when it closes takes nothing from the call that has its event by then', async () => {
		await onMachine(async (machine) => {
			const { mine, response } = await held();
			answered(500, response);
			const next = new WebhookResponse();
			expect(await got(mine, 't', next)).toBe(true);
			response.destroy();
			await machine.pause(1);
			answered(200, next);
			expect(await isDuplicate(mine, T)).toBe(true);
			expect(machine.elapsed).toBe(1);
		});
	});

	test('a sender that gives up settles nothing', async () => {
		await onMachine(async () => {
			const { mine, response } = await held();
			response.destroy();
			await expect(isDuplicate(mine, T)).rejects.toThrow('is being handled already');
		});
	});

	test.each([
		[399, true],
		[400, false],
	])('an answer %i counts that its sender no longer saw', async (status, duplicate) => {
		const { mine, response } = await held();
		response.destroy();
		await Promise.resolve();
		answered(status, response);
		expect(await isDuplicate(mine, T)).toBe(duplicate);
	});
});
