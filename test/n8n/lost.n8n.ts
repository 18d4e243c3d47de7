import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { SettingsPatch } from '../service';
import { inQueueMode, ownContext, type TestContext } from './harness/context';
import type { Execution } from './harness/execution';
import { action, base, called, listed, type Link, type Node, speechByName } from './harness/nodes';
import { waitUntil } from './harness/wait';

type Lists = SettingsPatch['lists'];
const TWO = ['First', 'Second'];

/** Creations whose answers got lost, in services whose lists show them badly, or not at all: each is paid for once, n8n's Retry included. */
describe('a creation whose answer never came', () => {
	let context: TestContext;
	let count = 0;
	ownContext((own) => (context = own));

	/** Starts an execution of two items, one after the other. Its ID. @param before nodes in front */
	async function start(settings: object = {}, before: Node[] = []): Promise<string> {
		const path = `lost-${(count += 1)}`;
		const speak = action(
			{
				...speechByName,
				text: '={{ $json.list }}',
				options: { maxActiveTasks: 1 },
			},
			{ retryOnFail: true, maxTries: 2, waitBetweenTries: 0 },
		);
		const each = listed([`First ${path}`, `Second ${path}`], 'Each');
		const nodes = [called(path), ...before, ...each, speak];
		const saved = await context.save(nodes, undefined, settings);
		return await context.rest.startByWebhook(saved, path);
	}

	/** An execution in which the first answer is lost. */
	async function run(): Promise<Execution> {
		const { rest, service } = context;
		service.faults.add({ kind: 'speech_by_name', times: 1, action: { type: 'processThenReset' } });
		return await rest.waitForExecution(await start());
	}

	async function retry({ id }: Execution, withCurrentWorkflow = false): Promise<Execution> {
		const { rest } = context;
		return await rest.waitForExecution(await rest.retryExecution(id, withCurrentWorkflow));
	}

	/** The execution that is killed while the answer to the creation with this number is due. */
	async function killedAt(
		count: number,
		begin: () => Promise<string>,
		whileDown: () => void = () => undefined,
	): Promise<Execution> {
		const { n8n, rest, service } = context;
		const held = service.hold({ route: 'create', skip: count - 1 - service.creations().length });
		const id = await begin();
		await waitUntil(() => service.creations().length === count, { what: `Creation ${count}` });
		await n8n.kill('SIGKILL');
		held.letGo();
		whileDown();
		await context.startAgain();
		const crashed = await rest.waitForExecution(id);
		assert.equal(crashed.status, 'crashed');
		return crashed;
	}

	/** Presses Retry, whose answer comes only when that execution has ended. Its ID. */
	async function beginRetry({ id, workflowId }: Execution): Promise<string> {
		const { rest } = context;
		void rest.retryExecution(id).catch(() => undefined);
		const found = async () =>
			(await rest.listExecutions(workflowId, 1)).find(({ retryOf }) => retryOf === id)?.id;
		return await waitUntil(found, { what: 'The Retry' });
	}

	const texts = () =>
		context.service.creations().map(({ body }) => String(body.text).split(' ')[0]);

	const rows: Array<[string, Lists, RegExp]> = [
		['a list that lacks it', { tasks: true, tasksLagMs: 3_600_000 }, /the task may exist$/],
		['a list without times', { tasks: true, times: 'none' }, /lists a task that could be it/],
	];
	for (const [name, lists, message] of rows)
		it(`${name}: unknown, and paid once by two tries and two Retries`, async () => {
			Object.assign(context.service.settings.lists, lists);
			const first = await run();
			const second = await retry(first);
			const third = await retry(second);
			for (const execution of [first, second, third]) {
				assert.equal(execution.status, 'error');
				assert.match(execution.resultData.error?.message ?? '', message);
				assert.match(
					execution.resultData.error?.description ?? '',
					/look at the tasks and credits.*"Task: Wait" and its ID; if not, start a new execution/,
				);
			}
			assert.deepEqual(
				texts().filter((text) => text === 'First'),
				['First'],
			);
			assert.ok(texts().filter((text) => text === 'Second').length <= 1);
		});

	/** What was made is all that was wanted, in this order, and the last Retry has it. */
	function paidOnce({ status, resultData }: Execution, wanted: string[] = TWO): void {
		assert.equal(status, 'success', resultData.error?.message);
		assert.deepEqual(texts(), wanted);
	}

	const listing = () => void Object.assign(context.service.settings.lists, { tasks: true });
	for (const saveExecutionProgress of [true, false])
		it(`killed before it came, ${saveExecutionProgress ? 'with' : 'without'} saved progress: paid once by it and a Retry`, async () => {
			listing();
			paidOnce(await retry(await killedAt(1, async () => await start({ saveExecutionProgress }))));
		});

	/** A loop over these texts, one after another. */
	async function startLoop(list: string[], parameters: object, after: Node[]): Promise<string> {
		const { rest } = context;
		const path = `loop-${(count += 1)}`;
		const loop = base('Loop', ['splitInBatches', 3], { options: {} });
		const speak = action({ ...speechByName, text: '={{ $json.list }}', ...parameters });
		const front = [called(path), ...listed(list, 'Each'), loop];
		const round = [loop, speak, ...after, loop];
		const links = (nodes: Node[]) =>
			nodes
				.slice(1)
				.map((node, at): Link => [
					...([nodes[at]?.name ?? '', node.name] as const),
					nodes[at] === loop ? 1 : 0,
				]);
		const all = [...links(front), ...links(round)];
		const saved = await context.save([...front, speak, ...after], all);
		return await rest.startByWebhook(saved, path);
	}
	const pause = base('Pause', ['wait', 1.1], { amount: 66, unit: 'seconds' });
	const suspended = { waitMode: 'callback', options: { gracePeriod: 0 } };

	it('killed in the second round of a loop, where it sleeps in each: the Retry, and a Retry of that, pay nothing again', async () => {
		listing();
		const three = [...TWO, 'Third'];
		const crashed = await killedAt(2, async () => await startLoop(three, suspended, []));
		const again = await killedAt(3, async () => await beginRetry(crashed));
		paidOnce(await context.rest.waitForExecution(await beginRetry(again)), three);
	});

	it("killed in the second round of a loop, where n8n's Wait node sleeps in each: the Retry pays nothing again", async () => {
		listing();
		const crashed = await killedAt(2, async () => await startLoop(TWO, {}, [pause]));
		paidOnce(await context.rest.waitForExecution(await beginRetry(crashed)));
	});

	it('killed behind a node of ours that woke: the Retry with the workflow as it is saved now passes its items on', async () => {
		const { rest, service } = context;
		Object.assign(service.settings.lists, { tasks: true });
		const path = 'woken';
		const text = '=Slept {{ $json.list }}';
		const sleeper = { ...action({ ...speechByName, text, ...suspended }), name: 'Sleeper' };
		const behind = action({ ...speechByName, text: 'Behind' });
		const nodes = [called(path), ...listed(['well'], 'Each'), sleeper, behind];
		const saved = await context.save(nodes);
		const begin = async () => await rest.startByWebhook(saved, path);
		const retried = await retry(await killedAt(2, begin), true);
		assert.equal(retried.status, 'success', retried.resultData.error?.message);
		assert.deepEqual(texts(), ['Slept', 'Behind']);
	});

	const noLog = { skip: inQueueMode && 'n8n has no event log of a worker' };
	it(
		'killed behind a node that slept, and the event log is lost: the Retry pays nothing again',
		noLog,
		async () => {
			listing();
			const folder = join(context.n8n.userFolder, '.n8n');
			const logs = () => readdirSync(folder).filter((file) => /^n8nEventLog.*\.log$/.test(file));
			const loseLog = () => {
				assert.notDeepEqual(logs(), []);
				for (const file of logs()) rmSync(join(folder, file));
			};
			paidOnce(await retry(await killedAt(1, async () => await start({}, [pause]), loseLog)));
		},
	);

	it("stopped before it came, and repeated by n8n's API: the same process pays nothing again", async () => {
		const { rest, service } = context;
		listing();
		const held = service.hold({ route: 'create' });
		const id = await start();
		await waitUntil(() => service.creations().length === 1, { what: 'The creation' });
		await rest.stopExecution(id);
		held.letGo();
		// n8n leaves the words of the stop in place of ours.
		const retried = await retry(await rest.waitForExecution(id));
		assert.equal(retried.status, 'error');
		assert.deepEqual(texts(), TWO);
	});

	const refusal = { type: 'status' as const, status: 402, body: {} };
	it('killed in a Retry, before it came: the next Retry comes without the notes of that one, and pays nothing again', async () => {
		listing();
		context.service.faults.add({ route: 'create', skip: 1, times: 2, action: refusal });
		const failed = await context.rest.waitForExecution(await start());
		paidOnce(await retry(await killedAt(2, async () => await beginRetry(failed))));
	});

	it('killed in a Retry that began with another node: the next Retry pays nothing again', async () => {
		listing();
		context.service.faults.add({ route: 'credits', times: 1, action: refusal });
		const balance = { ...action({ resource: 'credits', operation: 'get' }), name: 'Balance' };
		const failed = await context.rest.waitForExecution(await start({}, [balance]));
		assert.equal(failed.resultData.error?.node?.name, 'Balance');
		paidOnce(await retry(await killedAt(1, async () => await beginRetry(failed))));
	});
});
