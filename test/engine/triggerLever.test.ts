/** Whatever is posted to a trigger by whoever it is: the service gets few requests, and nobody else is slowed down. */
import type { Account } from '../../nodes/MediaGeneration/service/account';
import type { FaultAction, RecordedRequest } from '../service';
import { built } from './built';
import { hurry } from './hurry';
import { sound } from './setting';
import { RECEIVED, refused, triggerSetting } from './triggerSetting';

const setting = triggerSetting();
const post = async (url: string, body: unknown) => await setting.host.post(url, body);
const done = (id: string) => ({ id, status: 'done' });
const UNKNOWN = refused(404, 'the service does not know this task');
const UNASKED = refused(503, 'the service could not be asked about this task, try again');

/** A key of its own for a test: what a process remembers, it remembers for an account. */
const freshKey = () => setting.service.addKey().key;

/** What the built node knows of an account. */
function accountOf(apiKey: string): Account {
	const { accountOf: of } = built<{
		accountOf: (baseUrl: string, key: string) => Account;
	}>('nodes/MediaGeneration/service/account.js');
	return of(setting.service.baseUrl, apiKey);
}

function pollsFail(action: FaultAction) {
	return setting.service.faults.add({ route: 'poll', action });
}

it('spends two requests at most on an id that the service does not know', async () => {
	const trigger = setting.trigger({}, '', freshKey());
	expect(await post(trigger.url, done('made-up'))).toEqual(UNKNOWN);
	expect(setting.service.polls('made-up').length).toBeLessThanOrEqual(2);
	// Both routes had their chance.
	expect(setting.service.polls('made-up').map(({ url }) => url)).toEqual([
		'/v1/task/made-up',
		'/v1e/task/made-up',
	]);
});

it('spends them once for copies of one id, at the same moment and shortly after', async () => {
	const trigger = setting.trigger({}, '', freshKey());
	const copies = Array.from({ length: 50 }, async () => await post(trigger.url, done('made-up')));
	for (const answer of await Promise.all(copies)) expect(answer).toEqual(UNKNOWN);
	expect(await post(trigger.url, done('made-up'))).toEqual(UNKNOWN);
	expect(setting.service.polls()).toHaveLength(2);
});

it('finds a task that becomes known a moment later, and remembers the route of its type', async () => {
	const trigger = setting.trigger({}, '', freshKey());
	expect(await post(trigger.url, setting.service.payload(await setting.task()))).toEqual(RECEIVED);
	const young = await setting.task({ visible_after_ms: 800 });
	expect(await post(trigger.url, setting.service.payload(young))).toEqual(RECEIVED);
	expect(setting.service.polls(young).map(({ url }) => url)).toEqual(
		Array<string>(2).fill(`/v1/task/${young}`),
	);
});

it('spends two requests each on 100 made-up ids that are posted at once', async () => {
	const trigger = setting.trigger({}, '', freshKey());
	const ids = Array.from({ length: 100 }, (_, index) => `made-up-${index}`);
	const posts = ids.map(async (id) => await post(trigger.url, done(id)));
	for (const answer of await Promise.all(posts)) expect(answer).toEqual(UNKNOWN);
	expect(setting.service.polls()).toHaveLength(200);
});

it('asks the service ten times at a time at most, for all triggers', async () => {
	const triggers = [setting.trigger({}, '', freshKey()), setting.trigger({}, '', freshKey())];
	pollsFail({ type: 'stall', ms: 40 });
	let over = false;
	let most = 0;
	const unanswered = ({ route, status }: RecordedRequest) => route === 'poll' && status === 0;
	const watch = async () => {
		for (; !over; await new Promise((resolve) => setImmediate(resolve)))
			most = Math.max(most, setting.service.requests.filter(unanswered).length);
	};
	const { value } = await hurry(async () => {
		const posts = Array.from({ length: 60 }, async (_, index) => {
			const url = triggers[index % 2]?.url ?? '';
			return await post(url, done(`made-up-${index}`));
		});
		void watch();
		return await Promise.all(posts).finally(() => (over = true));
	});
	expect(most).toBe(10);
	for (const answer of value) expect(answer).toEqual(UNASKED);
});

it('answers 503 while the account is paused, and asks nothing', async () => {
	const apiKey = freshKey();
	const trigger = setting.trigger({}, '', apiKey);
	const id = await setting.task();
	accountOf(apiKey).pause('look', Date.now(), 60_000);
	expect(await post(trigger.url, done(id))).toEqual(UNASKED);
	expect(setting.service.polls()).toHaveLength(0);
	const unpaused = setting.trigger({}, '', freshKey());
	expect(await post(unpaused.url, done(id))).toEqual(RECEIVED);
});

it('pauses nobody else when its looks are throttled, and asks no more for a while', async () => {
	const apiKey = freshKey();
	const trigger = setting.trigger({}, '', apiKey);
	const id = await setting.task();
	const headers = { 'retry-after': '300' };
	const fault = pollsFail({ type: 'status', status: 429, headers });
	expect(await post(trigger.url, done(id))).toEqual(UNASKED);
	expect(await post(trigger.url, done(id))).toEqual(UNASKED);
	expect(setting.service.polls()).toHaveLength(1);
	for (const purpose of ['create', 'look', 'read'] as const)
		expect(accountOf(apiKey).pausedUntil(purpose)).toBe(0);
	setting.service.faults.remove(fault);
	const { output } = await setting.run({ parameters: sound(), credentials: { apiKey } });
	expect(output[0]?.json.status).toBe('done');
});

it.each<[string, FaultAction]>([
	['busy', { type: 'status', status: 503, body: { success: false, code: 'server_busy' } }],
	['silent', { type: 'emptyBody' }],
	['a web page', { type: 'html' }],
	['refusing the key', { type: 'status', status: 401, body: { success: false, error: 'no' } }],
])('answers 503 within the time of a sender while the service is %s', async (_name, action) => {
	const trigger = setting.trigger({}, '', freshKey());
	const id = await setting.task();
	const fault = pollsFail(action);
	const { value, tookMs } = await hurry(async () => await post(trigger.url, done(id)));
	expect(value).toEqual(UNASKED);
	expect(tookMs).toBeLessThan(15_000);
	expect(trigger.executions()).toHaveLength(0);
	setting.service.faults.remove(fault);
	expect(await post(trigger.url, done(id))).toEqual(RECEIVED);
});

it('gets over a single 401, which an edge can answer', async () => {
	const trigger = setting.trigger({}, '', freshKey());
	const id = await setting.task();
	setting.service.faults.add({ route: 'poll', times: 1, action: { type: 'status', status: 401 } });
	expect(await post(trigger.url, done(id))).toEqual(RECEIVED);
});
