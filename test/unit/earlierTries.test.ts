/** What a run knows of the tasks of earlier tries before it creates anything. */
import type { CreationRequest } from '../../nodes/MediaGeneration/answers/request';
import { expectEarlier } from '../../nodes/MediaGeneration/run/earlierTries';
import type { PartToCreate, Item } from '../../nodes/MediaGeneration/run/item';
import type { Run } from '../../nodes/MediaGeneration/run/run';
import { Ledger } from '../../nodes/MediaGeneration/task/ledger';
import { findLost } from '../../nodes/MediaGeneration/task/lost';
import { answer, RAIN, scriptedClient } from '../support/replies';
import { atOnce } from '../support/work';
import { VirtualClock } from '../support/virtualClock';

const request = (): CreationRequest => structuredClone(RAIN);
const RUN = { executionId: '7', runIndex: 0 };

/** A try after one that left something of its only item; the service lists one task with that text. */
function laterTry(leave: (ledger: Ledger, part: PartToCreate) => void, killed = false) {
	const clock = new VirtualClock(1_700_000_000_000);
	const sentAt = clock.now();
	const created_at = new Date(clock.now() + 500).toISOString();
	const task = { id: 'a', ...RAIN.body, type: 'sound_effect', created_at };
	const client = scriptedClient(() =>
		answer(200, { data: [task], has_more: false }, { date: new Date(clock.now()).toUTCString() }),
	);
	const part: PartToCreate = {
		...{ kind: 'creates', hash: 'h' },
		slot: { item: 0, part: 0 },
		request: request(),
	};
	const ledger = new Ledger(
		{},
		RUN,
		killed ? { killed: { beganAt: clock.now(), endedBefore: clock.now() + 1 } } : {},
	);
	leave(ledger, part);
	const counted: string[] = [];
	const spending = { addCost: ({ taskId }: { taskId: string }) => counted.push(taskId) };
	const run = { client, ledger, spending } as unknown as Run;
	const stop = atOnce(expectEarlier(run, [{ parts: [part] } as unknown as Item]));
	/** The search of another, equal request. */
	const search = async () => {
		const runEnded = new AbortController().signal;
		const deps = { client, ledger, now: clock.now, sleep: clock.sleep, runEnded };
		const asked = { request: request(), sentAt, isEarlier: true };
		return await clock.run(findLost(deps, asked));
	};
	return { client, counted, search, stop };
}

const unclear = { outcome: 'unknown', message: 'm', description: 'd' } as const;
test.each<[string, Parameters<typeof laterTry>]>([
	[
		'whose answer never came',
		[
			(ledger, asked) => {
				ledger.sending(asked, 1);
				ledger.unclear(asked, { failure: unclear, sentAt: 1 });
			},
		],
	],
	['that n8n may have sent before it was killed', [() => {}, true]],
])('no other item takes a task that a request could have made %s', async (_, given) => {
	const { search, stop } = laterTry(...given);
	expect(await search()).toMatchObject({ kind: 'unfound', candidates: [{ taskId: 'a' }] });
	stop();
	expect(await search()).toMatchObject({ kind: 'created', taskId: 'a' });
});

test('a task of an earlier try counts as one of this account, and to what was spent', () => {
	const { client, counted } = laterTry((ledger, asked) => {
		ledger.sending(asked, 1);
		const created = { taskId: 'b', createdAt: 1, answer: { task_id: 'b' } };
		ledger.created(asked, { kind: 'created', ...created });
	});
	expect(client.account.made.has('b')).toBe(true);
	expect(counted).toEqual(['b']);
});
