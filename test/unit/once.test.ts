import { EventEmitter } from 'node:events';
import type { IDataObject } from 'n8n-workflow';
import { claim, stateOf, type Memory } from '../../nodes/MediaGeneration/callback/once';

/** A response as the sender's connection and n8n drive it, independently of each other. */
class Response extends EventEmitter {
	statusCode = 200;
	writableEnded = false;

	answer(statusCode: number): void {
		this.statusCode = statusCode;
		this.writableEnded = true;
	}

	disconnect(): void {
		this.emit('close');
	}
}

function answered(statusCode = 200): Response {
	const response = new Response();
	response.answer(statusCode);
	return response;
}

let count = 0;
const memory = (staticData: IDataObject = {}): Memory => ({
	trigger: `workflow:node-${(count += 1)}`,
	staticData,
});
const noPatience = async () => await Promise.resolve();
const never = async () => await new Promise<void>(() => {});
const take = async (of: Memory, event: string, response = answered()) =>
	await claim(of, event, response, noPatience);

describe('an event', () => {
	test('is let through once', async () => {
		const mine = memory();
		expect(await take(mine, 't1 done')).toBe('mine');
		expect(await take(mine, 't1 done')).toBe('duplicate');
		expect(await take(mine, 't1 error')).toBe('mine');
		expect(await take(mine, 't2 done')).toBe('mine');
	});

	test('is let through once for two calls at the same moment, each with static data of its own', async () => {
		const first = memory();
		const second = { ...first, staticData: {} };
		expect(await Promise.all([take(first, 't'), take(second, 't')])).toEqual(['mine', 'duplicate']);
	});

	test('is known to another process from the saved static data', async () => {
		const data: IDataObject = {};
		await take(memory(data), 't1 done');
		const saved = JSON.parse(JSON.stringify(data)) as IDataObject;
		expect(await stateOf(memory(saved), 't1 done', never)).toBe('duplicate');
		expect(await take(memory(saved), 't1 done')).toBe('duplicate');
		expect(await stateOf(memory(saved), 't2 done', never)).toBe('new');
	});

	test('is remembered within bounds, the newest ones', async () => {
		const mine = memory();
		for (let index = 0; index < 5_500; index += 1) await take(mine, `t${index}`);
		expect(mine.staticData.seen).toHaveLength(1_000);
		// n8n reads and writes all of it with each call.
		expect(JSON.stringify(mine.staticData).length).toBeLessThan(15_000);
		expect(await take(mine, 't5499')).toBe('duplicate');
		expect(await take(mine, 't0')).toBe('mine');
	});

	test('is known for more calls than static data holds, while the process lives', async () => {
		const mine = memory();
		for (let index = 0; index < 2_000; index += 1) await take(mine, `t${index}`);
		expect(await take(mine, 't0')).toBe('duplicate');
	});

	test('can be claimed where static data holds something else', async () => {
		expect(await take(memory({ seen: 'nonsense' }), 't1 done')).toBe('mine');
	});
});

describe('while the call that has the event is not answered', () => {
	test('a copy gets an answer that says so', async () => {
		const mine = memory();
		await take(mine, 't', new Response());
		expect(await stateOf(mine, 't', noPatience)).toBe('busy');
		expect(await take(mine, 't')).toBe('busy');
	});

	test('a copy waits, and is a duplicate when the answer is good', async () => {
		const mine = memory();
		const response = new Response();
		await take(mine, 't', response);
		const copy = claim(mine, 't', answered(), never);
		response.answer(200);
		response.disconnect();
		expect(await copy).toBe('duplicate');
	});

	test('a copy waits, and takes the event when n8n answers a failure', async () => {
		const mine = memory();
		const response = new Response();
		await take(mine, 't', response);
		const copy = claim(mine, 't', answered(), never);
		response.answer(500);
		response.disconnect();
		expect(await copy).toBe('mine');
		expect(mine.staticData.seen).toHaveLength(1);
	});

	test('of several copies that waited for a failure, one takes the event', async () => {
		const mine = memory();
		const response = new Response();
		await take(mine, 't', response);
		const copies = [1, 2, 3].map(async () => await claim(mine, 't', answered(), never));
		response.answer(500);
		response.disconnect();
		expect((await Promise.all(copies)).sort()).toEqual(['duplicate', 'duplicate', 'mine']);
	});

	test('an event that failed is given back in the saved data at once, and the others stay', async () => {
		const mine = memory();
		await take(mine, 'earlier');
		const response = new Response();
		await take(mine, 't', response);
		response.answer(503);
		response.disconnect();
		await new Promise(setImmediate);
		// Another process, such as the same n8n after a restart, knows no more than that.
		const saved = JSON.parse(JSON.stringify(mine.staticData)) as IDataObject;
		expect(await stateOf(memory(saved), 't', never)).toBe('new');
		expect(await stateOf(memory(saved), 'earlier', never)).toBe('duplicate');
	});

	test.each([
		[200, 'duplicate'],
		[500, 'new'],
	])('an answer %i that n8n gives while a copy waits counts', async (status, state) => {
		const mine = memory();
		const response = new Response();
		await take(mine, 't', response);
		const untilAnswered = async () => await Promise.resolve(response.answer(status));
		expect(await stateOf(mine, 't', untilAnswered)).toBe(state);
	});

	test('a sender that gives up settles nothing', async () => {
		const mine = memory();
		const response = new Response();
		await take(mine, 't', response);
		response.disconnect();
		expect(await stateOf(mine, 't', never)).toBe('busy');
	});

	test.each([
		[200, 'duplicate'],
		[399, 'duplicate'],
		[400, 'new'],
		[500, 'new'],
	])('an answer %i counts that its sender no longer saw', async (status, state) => {
		const mine = memory();
		const response = new Response();
		await take(mine, 't', response);
		response.disconnect();
		await Promise.resolve();
		response.answer(status);
		expect(await stateOf(mine, 't', never)).toBe(state);
	});
});
