/** Two accounts in one n8n: whatever files, answers and posts one of them has to put up with, the other one works as if it were alone. What it is refused, and how it is polled, is in test/model/neighbours. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FaultRule, type StandIn, startService } from '../service';
import { checkDone, ended, endless, type Flow, type Job, publishFlow } from './asleep/workbench';
import { ownContext, type TestContext } from './harness/context';
import type { SavedCredential } from './harness/rest';
import { post, Workbench } from './trigger/workbench';

/** More than n8n is handed at once, and more than a process has turns of any other kind. */
const SLEEPERS = 12;
const POSTS = 60;

/** What goes wrong with all requests of the bad account from the moment when its tasks are over, and whether its executions sleep on. */
const troubles: Array<[name: string, fault: FaultRule, sleepsOn: boolean]> = [
	['its files come a byte at a time', { route: 'file', action: { type: 'drip' } }, true],
	['its files never begin', { route: 'file', action: { type: 'stall' } }, true],
	[
		'its answers have just less than 32 MB, and no task',
		{
			route: 'poll',
			action: { type: 'status', status: 200, body: JSON.stringify('x'.repeat(31_999_000)) },
		},
		true,
	],
	[
		'its answers have more than 32 MB, which are never read',
		{ route: 'poll', action: { type: 'status', status: 200, body: 'x'.repeat(2 ** 25) } },
		false,
	],
];

describe('neighbours', () => {
	let context: TestContext;
	let bad: StandIn;
	let badCredential: SavedCredential;
	let badFlow: Flow;
	let badTrigger: string;
	let goodFlow: Flow;
	let bench: Workbench;
	let good: Awaited<ReturnType<Workbench['receiver']>>;
	let runs = 0;

	ownContext((own) => (context = own));
	before(async () => {
		bad = await startService();
		const { apiKey, baseUrl } = bad;
		badCredential = await context.addCredential('Bad', { apiKey, baseUrl });
		badFlow = await publishFlow({ ...context, service: bad, credential: badCredential });
		goodFlow = await publishFlow(context);
		bench = new Workbench(context);
		good = await bench.receiver('neighbour-good', context.credential);
		badTrigger = (await bench.receiver('neighbour-bad', badCredential)).url;
	});
	after(async () => await bad.close());

	/** Puts executions of the bad account to sleep, whose tasks end once its trouble has begun. @returns their IDs */
	async function trouble(fault: FaultRule): Promise<string[]> {
		const ids: string[] = [];
		for (let at = 0; at < SLEEPERS; at += 1)
			ids.push(await badFlow.start([endless(`Bad ${(runs += 1)}`)]));
		for (const id of ids) await context.rest.waitForSleep(id);
		bad.faults.add(fault);
		const open = bad.tasks.filter(({ status }) => status === 'doing');
		for (const { id } of open) void bad.finish(id).catch(() => undefined);
		for (let at = 0; at < POSTS; at += 1)
			void post(badTrigger, { id: `unknown-${at}`, status: 'done' }).catch(() => undefined);
		return ids;
	}

	/** A polled item with a file, a sleeper, and a trigger. */
	async function worksAsAlone(): Promise<void> {
		const { service } = context;
		const name = `Good ${(runs += 1)}`;
		const asleep = await goodFlow.asleep([endless(`${name} asleep`)]);
		const polled: Job = { text: `${name} polled`, mode: 'poll', standIn: { ms: 1_000 } };
		const awake = await goodFlow.start([polled]);
		for (const { id, status } of service.creations())
			if (status === 'doing') void service.finish(id).catch(() => undefined);
		checkDone(context, [await ended(context, asleep), await ended(context, awake)]);
		const before = (await good.runs()).length;
		const called = await post(good.url, { id: await bench.task(), status: 'done' });
		assert.equal(called.status, 200, JSON.stringify(called.body));
		await good.ran(before + 1);
	}

	for (const [name, fault, sleepsOn] of troubles)
		it(`one account works while that of others has trouble: ${name}`, async () => {
			const asleep = await trouble(fault);
			await worksAsAlone();
			// The other one's executions still sleep: nothing waited for them.
			for (const id of sleepsOn ? asleep : [])
				assert.equal((await context.rest.execution(id)).status, 'waiting');
			bad.faults.clear();
		});
});
