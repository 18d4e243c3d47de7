/** Reading what costs nothing: when it is asked again, and when not. */
import { askOptional, readReply } from '../../nodes/MediaGeneration/transport/reading';
import type { Reply } from '../../nodes/MediaGeneration/answers/reply';
import { readTaskList } from '../../nodes/MediaGeneration/transport/taskList';
import { answer, scriptedClient } from '../support/replies';
import { VirtualClock } from '../support/virtualClock';

function reading(reply: () => Reply) {
	const clock = new VirtualClock();
	const client = scriptedClient(reply, clock.now);
	return { clock, client, path: '/v1/credits' };
}

test.each([0, 300])('nothing is asked after a Stop, %d ms after the first answer', async (ms) => {
	const stop = new AbortController();
	const asked = reading(() => {
		if (ms === 0) stop.abort();
		return answer(503, { code: 'server_busy' });
	});
	asked.clock.at(asked.clock.now() + ms, () => stop.abort());
	const read = readReply({ ...asked, signal: stop.signal });
	await expect(asked.clock.run(read)).rejects.toThrow(/could not be read/);
	expect(asked.client.requests).toHaveLength(1);
});

test('a POST can succeed without a word', async () => {
	const asked = reading(() => answer(204));
	expect(await askOptional({ ...asked, body: {} }, 'delete tasks')).toEqual({});
});

test.each<[object, object | undefined, boolean]>([
	[{ status: 'error', error: 'it can not be deleted' }, { task_ids: ['a'] }, false],
	[{ errors: [{ task_id: 'a' }] }, { task_ids: ['a'] }, false],
	[{ success: true, errors: [{ task_id: 'a' }] }, { task_ids: ['a'] }, true],
	[{ success: true, error: 'the index is not ready', tasks: [] }, undefined, false],
	[{ status: 'error', error: 'the account is locked' }, undefined, false],
])('what an answer says inside 200: %j', async (said, body, isRead) => {
	const { clock, ...asked } = reading(() => answer(200, said));
	const read = readReply({ ...asked, clock, ...(body && { body: { ...body } }) });
	const ended = await clock.run(read.then(() => true).catch(() => false));
	expect(ended).toBe(isRead);
});

test.each<[Reply, RegExp]>([
	[answer(403, '<html>Just a moment'), /in front of the service/],
	[answer(403, { error: 'Ask whoever is in front of the service' }), /Check the API key/],
	[answer(401, { detail: { message: 'missing the permission user_read' } }), /lacks a right/],
	[answer(401, { error: 'Insufficient credits' }), /out of credits/],
])('a refusal says what to do: %j', async (reply, advice) => {
	const failed: unknown = await readReply(reading(() => reply)).catch((error: unknown) => error);
	expect(failed).toMatchObject({
		failure: { description: expect.stringMatching(advice) as string },
	});
});

test('a list of more than 100 MB is not read to its end', async () => {
	const text = 'x'.repeat(26_000_000);
	const asked = reading(() => ({ ...answer(200, { data: [{ id: crypto.randomUUID() }] }), text }));
	const read = readTaskList({ ...asked, limit: Infinity });
	await expect(asked.clock.run(read)).rejects.toThrow(/more than 100 MB together/);
	expect(asked.client.requests).toHaveLength(4);
});
