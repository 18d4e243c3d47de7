import type { RunDeps } from '../../nodes/MediaGeneration/run/item';
import { Run } from '../../nodes/MediaGeneration/run/part';
import { noAnswer, scriptedClient } from '../support/replies';
import { VirtualClock } from '../support/virtualClock';

test('a look that is under way when the execution is stopped is hung up', async () => {
	const clock = new VirtualClock();
	const { now, sleep } = clock;
	const stop = new AbortController();
	const client = scriptedClient(() => {
		stop.abort();
		return noAnswer();
	});
	const deps = { client, stop: stop.signal, now, sleep, random: () => 0.5 };
	const { loop } = new Run(deps as unknown as RunDeps, { maxActiveTasks: 1, haltOnFailure: true });
	const task = { taskId: 't1', kind: 'task', createdAt: now(), echoes: [], pace: 'poll' } as const;
	const waited = await clock.run(loop.wait({ ...task, deadline: now() + 60_000 }));
	expect(waited).toMatchObject({ kind: 'failed', failure: { outcome: 'cancelled' } });
	expect(client.requests.map(({ signal }) => signal?.aborted)).toEqual([true]);
});
