import { EventEmitter } from 'node:events';
import { hold, isSettled } from '../../nodes/MediaGeneration/callback/holders';

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

let count = 0;
let event = '';
let response = new Response();
const giveBack = jest.fn();
const noPatience = async () => await Promise.resolve();
const never = async () => await new Promise<void>(() => {});

beforeEach(() => {
	event = `trigger:task-${(count += 1)}:done`;
	response = new Response();
	giveBack.mockClear();
});

it('is settled where nobody holds the event', async () => {
	expect(await isSettled(event, never)).toBe(true);
});

it('is not settled while the call before is not answered', async () => {
	hold(event, response, giveBack);
	expect(await isSettled(event, noPatience)).toBe(false);
	expect(giveBack).not.toHaveBeenCalled();
});

it('waits for the answer to the call before', async () => {
	hold(event, response, giveBack);
	const settled = isSettled(event, never);
	response.answer(200);
	response.disconnect();
	expect(await settled).toBe(true);
	expect(giveBack).not.toHaveBeenCalled();
});

it('gives the event back when n8n answers a failure', async () => {
	hold(event, response, giveBack);
	const settled = isSettled(event, never);
	response.answer(500);
	response.disconnect();
	expect(await settled).toBe(true);
	expect(giveBack).toHaveBeenCalledTimes(1);
});

it('stays unsettled when the sender gives up before n8n has answered', async () => {
	hold(event, response, giveBack);
	response.disconnect();
	expect(await isSettled(event, never)).toBe(false);
});

it.each([
	[200, 0],
	[500, 1],
])('counts an answer %i that the sender no longer saw', async (status, givenBack) => {
	hold(event, response, giveBack);
	response.disconnect();
	await Promise.resolve();
	response.answer(status);
	expect(await isSettled(event, never)).toBe(true);
	expect(giveBack).toHaveBeenCalledTimes(givenBack);
});
