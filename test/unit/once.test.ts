import { EventEmitter } from 'node:events';
import type { IDataObject } from 'n8n-workflow';
import { claim, isDuplicate, type Memory } from '../../nodes/MediaGeneration/callback/once';
import { onMachine } from '../model/machine';

/** A response as the sender's connection and n8n drive it, independently of each other. */
class Response extends EventEmitter {
	statusCode = 200;
	writableEnded = false;

	answer(statusCode: number): this {
		this.statusCode = statusCode;
		this.writableEnded = true;
		return this;
	}

	disconnect(): void {
		this.emit('close');
	}
}

const answered = () => new Response().answer(200);
let count = 0;
const memory = (staticData: IDataObject = {}, patienceMs = 60_000): Memory => ({
	trigger: `workflow:node-${(count += 1)}`,
	staticData,
	answerBy: Date.now() + patienceMs,
});
const saved = ({ staticData }: Memory) =>
	memory(JSON.parse(JSON.stringify(staticData)) as IDataObject);

describe('an event', () => {
	test('is let through once', async () => {
		const mine = memory();
		const claims = ['t1 done', 't1 done', 't1 error', 't2 done'];
		const got: boolean[] = [];
		for (const event of claims) got.push(await claim(mine, event, answered()));
		expect(got).toEqual([true, false, true, true]);
	});

	test('is let through once for two calls at the same moment, each with static data of its own', async () => {
		const first = memory();
		const second = { ...first, staticData: {} };
		const both = [claim(first, 't', answered()), claim(second, 't', answered())];
		expect(await Promise.all(both)).toEqual([true, false]);
	});

	test('is known to another process from the saved static data', async () => {
		const mine = memory();
		await claim(mine, 't1', answered());
		expect(await isDuplicate(saved(mine), 't1')).toBe(true);
		expect(await claim(saved(mine), 't1', answered())).toBe(false);
		expect(await isDuplicate(saved(mine), 't2')).toBe(false);
	});

	test('is remembered within bounds: more in the process than in what n8n saves', async () => {
		const mine = memory();
		for (let index = 0; index < 2_000; index += 1) await claim(mine, `t${index}`, answered());
		expect(await claim(mine, 't0', answered())).toBe(false);
		for (let index = 2_000; index < 5_500; index += 1) await claim(mine, `t${index}`, answered());
		expect(mine.staticData.seen).toHaveLength(1_000);
		expect(JSON.stringify(mine.staticData).length).toBeLessThan(15_000);
		expect(await claim(mine, 't5499', answered())).toBe(false);
		expect(await claim(mine, 't1', answered())).toBe(true);
	});
});

describe('while the call that has the event is not answered', () => {
	async function held(patienceMs?: number) {
		const mine = memory({}, patienceMs);
		const response = new Response();
		await claim(mine, 't', response);
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
				await expect(isDuplicate(mine, 't')).rejects.toMatchObject({ status: 503 });
				expect(machine.elapsed).toBe(waitsMs);
			});
		},
	);

	test.each([
		[200, [false, false, false]],
		[500, [true, false, false]],
	])(
		'answered with %d: of three copies that wait one counts where it failed',
		async (status, got) => {
			await onMachine(async () => {
				const { mine, response } = await held();
				const copies = [1, 2, 3].map(async () => await claim(mine, 't', answered()));
				response.answer(status).disconnect();
				expect((await Promise.all(copies)).sort((a, b) => Number(b) - Number(a))).toEqual(got);
				expect(mine.staticData.seen).toHaveLength(1);
			});
		},
	);

	test('an event that failed is given back in the saved data at once, and the others stay', async () => {
		const mine = memory();
		await claim(mine, 'earlier', answered());
		const response = new Response();
		await claim(mine, 't', response);
		response.answer(503).disconnect();
		await new Promise(setImmediate);
		expect(await isDuplicate(saved(mine), 't')).toBe(false);
		expect(await isDuplicate(saved(mine), 'earlier')).toBe(true);
	});

	test('a failed call whose connection stays open holds nobody up, and when it closes takes nothing from the call that has its event by then', async () => {
		await onMachine(async (machine) => {
			const { mine, response } = await held();
			response.answer(500);
			const next = new Response();
			expect(await claim(mine, 't', next)).toBe(true);
			response.disconnect();
			await machine.pause(1);
			next.answer(200);
			expect(await isDuplicate(mine, 't')).toBe(true);
			expect(await isDuplicate(saved(mine), 't')).toBe(true);
			expect(machine.elapsed).toBe(1);
		});
	});

	test('a sender that gives up settles nothing', async () => {
		await onMachine(async () => {
			const { mine, response } = await held();
			response.disconnect();
			await expect(isDuplicate(mine, 't')).rejects.toThrow('is being handled already');
		});
	});

	test.each([
		[399, true],
		[400, false],
	])('an answer %i counts that its sender no longer saw', async (status, duplicate) => {
		const { mine, response } = await held();
		response.disconnect();
		await Promise.resolve();
		response.answer(status);
		expect(await isDuplicate(mine, 't')).toBe(duplicate);
	});
});
