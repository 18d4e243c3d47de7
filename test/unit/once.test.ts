/** One event starts one execution: in a process, over its restart, for all triggers of a workflow (docs/trigger.md, "Once"). */
import { Workflow, type IDataObject, type IWebhookFunctions } from 'n8n-workflow';
import { Events } from '../../nodes/MediaGeneration/trigger/once';
import type { CallRefusal } from '../../nodes/MediaGeneration/n8n/webhookCall';
import { onMachine } from '../support/machine';
import { fakeN8n } from '../support/n8n';
import { WebhookResponse } from '../support/webhookResponse';

type Response = ReturnType<IWebhookFunctions['getResponseObject']>;

let workflows = 0;
/** A workflow with its triggers: what n8n has saved, and how it handles a call. */
function workflow() {
	const id = `workflow ${(workflows += 1)}`;
	let process = 0;
	let saved = '{}';
	/** A call has the static data that was saved when it came in. */
	const call = (node = 'trigger') => {
		const staticData = JSON.parse(saved) as Record<string, IDataObject>;
		const response = new WebhookResponse();
		const events = new Events(
			fakeN8n<IWebhookFunctions>({
				node: { id: node },
				workflow: `${id} in process ${process}`,
				staticData,
			}).context,
		);
		return {
			response,
			bind: (nonce: string, taskId: string) => attempt(() => events.bind(nonce, taskId)),
			check: (event: string) => attempt(() => events.check(event)),
			claim: (event: string) => attempt(() => events.claim(event, response as unknown as Response)),
			/** Once the execution is stored. */
			save: () => (saved = JSON.stringify(staticData)),
			answer: (status = 200) => response.status(status).json({}),
		};
	};
	return { call, restart: () => (process += 1) };
}

/** The status of the refusal, if there is one. */
function attempt(act: () => void): number | undefined {
	try {
		act();
		return undefined;
	} catch (error) {
		return (error as CallRefusal).status;
	}
}

test('an event is let through once, and not before its execution is stored is a copy told so', () => {
	const { call } = workflow();
	const first = call();
	expect(first.claim('t1 done')).toBeUndefined();
	expect([call().claim('t1 done'), call().check('t1 done')]).toEqual([503, 503]);
	first.answer();
	expect([call().claim('t1 done'), call().check('t1 done')]).toEqual([200, 200]);
	expect(call().claim('t1 error')).toBeUndefined();
	expect(call('another trigger').claim('t1 done')).toBeUndefined();
});

test.each([
	[399, 200],
	[400, undefined],
])('after the answer %i a copy gets %p, though the sender hung up before it', (status, copy) => {
	const { call } = workflow();
	const first = call();
	first.claim('t');
	first.response.destroy();
	expect(call().claim('t')).toBe(503);
	first.answer(status);
	expect(call().claim('t')).toBe(copy);
});

test('a failed call takes nothing from the one that has its event by then', () => {
	const { call } = workflow();
	const [first, second] = [call(), call()];
	first.claim('t');
	first.response.status(500).writableEnded = true;
	expect(second.claim('t')).toBeUndefined();
	first.response.destroy();
	expect(call().claim('t')).toBe(503);
	second.answer();
	expect(call().claim('t')).toBe(200);
});

test('after a restart all events are known whose executions were stored, whichever trigger they came to, and no other', async () => {
	await onMachine(async (machine) => {
		const { call, restart } = workflow();
		const names = Array.from({ length: 12 }, (_, index) => `t${index}`);
		const nodeOf = (name: string) => (names.indexOf(name) % 2 === 0 ? 'one' : 'two');
		// All of them begin with the same static data.
		const calls = names.map((name) => ({ name, ...call(nodeOf(name)) }));
		const failing = call('one');
		for (const { name, claim } of calls) claim(name);
		failing.claim('not stored');
		await machine.pause(1);
		for (const { save, answer } of calls) {
			save();
			answer();
		}
		restart();
		const next = call('one');
		next.claim('next');
		await machine.pause(1);
		next.save();
		restart();
		for (const name of names) expect(call(nodeOf(name)).check(name)).toBe(200);
		expect(call('one').claim('not stored')).toBeUndefined();
	});
});

test('a signed URL belongs to its first task, also after a restart', async () => {
	await onMachine(async (machine) => {
		const { call, restart } = workflow();
		const first = call();
		expect([first.bind('n', 't1'), first.bind('n', 't1'), first.bind('n', 't2')]).toEqual([
			...[undefined, undefined, 403],
		]);
		await machine.pause(1);
		first.save();
		restart();
		expect([call().bind('n', 't2'), call().bind('n', 't1')]).toEqual([403, undefined]);
		expect([call().bind('m', 't2'), call('another').bind('n', 't2')]).toEqual([
			undefined,
			undefined,
		]);
	});
});

test('it is written after n8n has begun the execution, as what was written before does not count as changed', async () => {
	await onMachine(async (machine) => {
		const stored = { global: {} };
		const parameters = { nodes: [], connections: {}, active: true, staticData: stored };
		const types = {} as ConstructorParameters<typeof Workflow>[0]['nodeTypes'];
		const called = new Workflow({ ...parameters, nodeTypes: types });
		const { context } = fakeN8n<IWebhookFunctions>({
			workflow: 'as n8n has it',
			own: { getWorkflowStaticData: (type: string) => called.getStaticData(type) },
		});
		new Events(context).claim('t', new WebhookResponse() as unknown as Response);
		// Older versions save at once.
		expect(called.staticData.__dataChanged).toBe(true);
		// n8n 2.41 makes another one for the execution.
		new Workflow({ ...parameters, nodeTypes: types });
		expect(called.staticData.__dataChanged).toBe(false);
		await machine.pause(1);
		expect(called.staticData.__dataChanged).toBe(true);
		expect(JSON.parse(JSON.stringify(called.staticData))).toEqual({
			global: { mediaGenerationEvents: [expect.stringMatching(/^[\w-]{11}$/)] },
		});
	});
});

test('more is remembered in the process than n8n saves with each call', async () => {
	await onMachine(async (machine) => {
		const { call, restart } = workflow();
		for (let index = 0; index < 5_500; index += 1) {
			const each = call();
			each.claim(`t${index}`);
			each.answer();
		}
		expect(call().check('t600')).toBe(200);
		expect(call().check('t1')).toBeUndefined();
		const last = call();
		last.claim('last');
		await machine.pause(1);
		expect(last.save().length).toBeLessThan(15_000);
		restart();
		expect([call().check('t4600'), call().check('t4000')]).toEqual([200, undefined]);
	});
});
