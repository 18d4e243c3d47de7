/** What a run knows of the tasks of earlier tries before it creates anything. */
import type { CreationRequest } from '../../nodes/MediaGeneration/answers/request';
import { expectEarlier, settleEarlier } from '../../nodes/MediaGeneration/run/earlierTries';
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
function laterTry(
	leave: (ledger: Ledger, part: PartToCreate) => void,
	killed = false,
	list?: object,
) {
	const clock = new VirtualClock(1_700_000_000_000);
	const sentAt = clock.now();
	const created_at = new Date(clock.now() + 500).toISOString();
	const task = { id: 'a', ...RAIN.body, type: 'sound_effect', created_at };
	const client = scriptedClient(() =>
		answer(200, list ?? { data: [task], has_more: false }, {
			date: new Date(clock.now()).toUTCString(),
		}),
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
	const settle = async (sendUnclearAgain: boolean) => {
		const { now, sleep } = clock;
		const deps = { ...run, now, sleep, runEnded: new AbortController().signal };
		await clock.run(clock.sleep(60_000));
		return await clock.run(settleEarlier(deps, part, { sendUnclearAgain }));
	};
	return { client, counted, search, settle, stop };
}

const unclear = { outcome: 'unknown', message: 'm', description: 'd' } as const;
const answerLost = (ledger: Ledger, asked: PartToCreate) => {
	ledger.sending(asked, 1);
	ledger.unclear(asked, { failure: unclear, sentAt: 1 });
};
const candidateNoted = (ledger: Ledger, asked: PartToCreate) => {
	const candidates = [{ task_id: 'a', created_at: '2026-01-01T00:00:00Z' }];
	ledger.sending(asked, 1);
	ledger.unclear(asked, { failure: { ...unclear, candidates }, sentAt: 1 });
};
test.each<[string, Parameters<typeof laterTry>]>([
	['whose answer never came', [answerLost]],
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

const EMPTY = { data: [], has_more: false };
const UNDATED = { data: [{ id: 'a', ...RAIN.body }], has_more: false };
const UNREADABLE = { error: 'no list today' };
const nothing = () => {};
const SENT = { kind: 'sendable', doubt: undefined };
const REFUSED = { kind: 'failed', failure: { outcome: 'unknown' } };
test.each<[string, Parameters<typeof laterTry>, sendUnclearAgain: boolean, object]>([
	['nothing is known of it', [nothing, false, UNREADABLE], false, SENT],
	['n8n was killed, and no task is listed', [nothing, true, EMPTY], false, SENT],
	['n8n was killed, and the list can not be read', [nothing, true, UNREADABLE], false, REFUSED],
	['n8n was killed, and its task is listed', [nothing, true], false, { kind: 'created' }],
	[
		'n8n was killed, and a task that could be its own is listed',
		[nothing, true, UNDATED],
		false,
		REFUSED,
	],
	['its answer never came', [answerLost, false, EMPTY], false, REFUSED],
	[
		'its answer never came, and the user accepts to pay twice',
		[answerLost, false, EMPTY],
		true,
		{ kind: 'sendable', doubt: REFUSED },
	],
	[
		'an earlier search found a candidate, and the list can not be read now',
		[candidateNoted, false, UNREADABLE],
		true,
		REFUSED,
	],
	[
		'its task is a candidate, whatever the user accepts',
		[answerLost, false, UNDATED],
		true,
		REFUSED,
	],
])('what may be done about a request if %s', async (_, given, sendUnclearAgain, expected) => {
	const { settle, stop } = laterTry(...given);
	stop();
	expect(await settle(sendUnclearAgain)).toMatchObject(expected);
});
