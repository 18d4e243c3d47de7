/** One event runs the workflow once (docs/trigger.md, "Once"). */
import { until } from './until';
import { hurry } from './hurry';
import { ignored, RECEIVED, refused, triggerSetting } from './triggerSetting';
import type { HttpAnswer } from './webhook';

const setting = triggerSetting();
const post = async (url: string, body: unknown) => await setting.host.post(url, body);
const done = (id: string) => ({ id, status: 'done' });
const DUPLICATE = ignored('this task and status was received before');

/** Holds the answers that n8n would give to callbacks that start a workflow, until they are let go. */
function held() {
	let letGo = () => {};
	const open = new Promise<void>((resolve) => (letGo = resolve));
	const held = { count: 0, letGo: () => letGo() };
	setting.host.beforeStoring = async () => {
		held.count += 1;
		await open;
	};
	return held;
}

afterEach(() => {
	setting.host.beforeStoring = async () => await Promise.resolve();
	setting.host.storing = 'works';
});

it('runs once for copies that arrive at the same moment, and for later ones without asking the service', async () => {
	const trigger = setting.trigger();
	const id = await setting.task();
	const answers = await Promise.all(
		Array.from({ length: 8 }, async () => await post(trigger.url, done(id))),
	);
	expect(answers.filter(({ body }) => 'ignored' in (body as object))).toEqual(
		Array<HttpAnswer>(7).fill(DUPLICATE),
	);
	await setting.item(trigger);
	const asked = setting.service.polls().length;
	expect(await post(trigger.url, done(id))).toEqual(DUPLICATE);
	expect(setting.service.polls()).toHaveLength(asked);
	expect(trigger.executions()).toHaveLength(1);
});

it('runs for each trigger, and every time with Deduplicate off', async () => {
	const id = await setting.task();
	const first = setting.trigger();
	const second = setting.trigger({ options: { deduplicate: false } });
	for (const url of [first.url, second.url, second.url])
		expect(await post(url, done(id))).toEqual(RECEIVED);
	expect(first.executions()).toHaveLength(1);
	expect(second.executions()).toHaveLength(2);
	expect(second.staticData()).toEqual({});
});

it('runs for every call while the editor listens, and takes none of them for a duplicate', async () => {
	const trigger = setting.trigger();
	const id = await setting.task();
	for (let round = 0; round < 2; round += 1) {
		trigger.listen();
		expect(await post(trigger.testUrl, done(id))).toEqual(RECEIVED);
	}
	expect(await post(trigger.url, done(id))).toEqual(RECEIVED);
	expect(trigger.executions()).toHaveLength(3);
});

it('takes nothing from the true callback when somebody forges its reference', async () => {
	const trigger = setting.trigger();
	const id = await setting.task();
	expect(await post(`${trigger.url}?reference=forged`, done(id))).toEqual(RECEIVED);
	expect(await post(`${trigger.url}?reference=true`, done(id))).toEqual(RECEIVED);
	expect(await post(`${trigger.url}?reference=true`, done(id))).toEqual(DUPLICATE);
	const references = await Promise.all(
		trigger.executions().map(async (run) => (await run.settled()).output[0]?.json.reference),
	);
	expect(references).toEqual(['forged', 'true']);
});

it('compares ids as the service spells them', async () => {
	const trigger = setting.trigger();
	const id = await setting.task();
	const spellings = [id.toUpperCase(), `${id.slice(0, 4).toUpperCase()}${id.slice(4)}`];
	setting.service.faults.add({
		route: 'poll',
		path: new RegExp(spellings.join('|')),
		action: { type: 'status', status: 200, body: setting.service.payload(id) },
	});
	expect(await post(trigger.url, done(spellings[0] ?? ''))).toEqual(RECEIVED);
	expect(await post(trigger.url, done(spellings[1] ?? ''))).toEqual(DUPLICATE);
	expect(await post(trigger.url, done(id))).toEqual(DUPLICATE);
	expect((await setting.item(trigger)).json.task_id).toBe(id);
});

it('counts the next try where n8n could not store the execution', async () => {
	const trigger = setting.trigger();
	const id = await setting.task();
	setting.host.storing = 'fails';
	expect((await post(trigger.url, done(id))).status).toBe(500);
	expect(trigger.staticData()).toEqual({});
	setting.host.storing = 'works';
	expect(await post(trigger.url, done(id))).toEqual(RECEIVED);
	await setting.item(trigger);
});

it('does not tell a copy that all is well before the call that came first is answered', async () => {
	const trigger = setting.trigger();
	const id = await setting.task();
	const first = held();
	const slow = post(trigger.url, done(id));
	await until('n8n stores the execution', () => first.count === 1);
	const { value, tookMs } = await hurry(async () => await post(trigger.url, done(id)));
	expect(value).toEqual(refused(503, 'this callback is being handled already, try again'));
	expect(tookMs).toBeLessThan(15_000);
	first.letGo();
	expect(await slow).toEqual(RECEIVED);
	expect(await post(trigger.url, done(id))).toEqual(DUPLICATE);
	expect(trigger.executions()).toHaveLength(1);
});

it('lets a copy run that waited for a call which n8n then failed', async () => {
	const trigger = setting.trigger();
	const id = await setting.task();
	const first = held();
	setting.host.storing = 'fails';
	const failing = post(trigger.url, done(id));
	await until('n8n stores the execution', () => first.count === 1);
	const copy = post(trigger.url, done(id));
	first.letGo();
	expect((await failing).status).toBe(500);
	setting.host.storing = 'works';
	expect(await copy).toEqual(RECEIVED);
	await setting.item(trigger);
});

it('knows after a restart what it let through before', async () => {
	const id = await setting.task();
	const before = setting.trigger();
	expect(await post(before.url, done(id))).toEqual(RECEIVED);
	// Another trigger with the static data of the first one: this process has let nothing through for it.
	const after = setting.trigger();
	after.restore(before.staticData());
	expect(await post(after.url, done(id))).toEqual(DUPLICATE);
	expect(after.executions()).toHaveLength(0);
});
