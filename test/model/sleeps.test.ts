/** Runs of the whole node that sleep: what wakes them and with what, the last poll before, and what is refused. */
import { PLAIN_STORE } from './history';
import {
	good,
	goOn,
	ID,
	idOf,
	long,
	notWaiting,
	refused,
	runNode,
	sound,
	taskWith,
	unclear,
	wait,
	warnings,
	type Given,
} from './node';
import { TOKEN } from './n8n';
import { START } from '../support/machine';

const asleep = { ...sound, waitMode: 'callback', options: { gracePeriod: 0 } };
/** What the notes of a sleeping execution say of the tasks of its first item. */
function notedIn(saved = '{}') {
	const { kept } = JSON.parse(saved) as { kept: { suspension: string } };
	const notes = JSON.parse(kept.suspension) as { items: Array<{ tasks: object[] }> };
	return notes.items[0]?.tasks;
}
const asleepFor = (...seconds: number[]) => seconds.map((each) => taskWith({ seconds: each }));

describe('sleeping', () => {
	test('who polls is waited for before the others sleep, which are polled meanwhile', async () => {
		const { execution } = await runNode({
			parameters: [sound, asleep, { ...sound, ...notWaiting }, asleep],
			tasks: asleepFor(20, 400, 400, 15),
		});
		const { items } = JSON.parse(execution.saved ?? '{}') as { items: unknown[] };
		expect(items).toMatchObject([
			{ json: { status: 'done' } },
			{ json: { unfinished: true, task_id: idOf(1) } },
			{ json: { task_id: idOf(2) } },
			{ json: { status: 'done', task_id: idOf(3) } },
		]);
	});

	test.each<[string, Partial<Given>, RegExp, string]>([
		[
			'is refused',
			{ creations: [good, refused], tasks: asleepFor(400) },
			/text is too long/,
			'rejected',
		],
		[
			'fails in the last poll',
			{ tasks: [...asleepFor(400), taskWith({ seconds: 0, end: 'error' })] },
			new RegExp(`^Task ${idOf(1)} failed: too loud$`),
			'failed',
		],
	])(
		'an item that %s before ends the run, or sleeps along where it may go on',
		async (_, of, words, outcome) => {
			const given = { parameters: [asleep, asleep], ...of };
			const { error, execution } = await runNode(given);
			expect(error?.message).toMatch(words);
			expect(execution.saved).toBeUndefined();
			const went = await runNode({ ...given, node: goOn });
			expect(went.execution.woken).toBe(true);
			const failure = { outcome, error: expect.stringMatching(words) as string };
			expect(went.json).toMatchObject([{ status: 'done', task_id: ID }, failure]);
		},
	);

	test('it notes which tasks call it, and what was done before: a service can forget that', async () => {
		const { execution } = await runNode({
			parameters: {
				...long('join'),
				waitMode: 'callback',
				options: { gracePeriod: 0, maxCharacters: 60 },
			},
			tasks: asleepFor(0, 400),
		});
		expect(notedIn(execution.saved)).toMatchObject([
			{ taskId: idOf(0), known: { state: 'done' } },
			{ taskId: idOf(1), callsBack: true },
		]);
		// Its service shows a task with its receive URL.
		expect(execution.saved).toContain('webhook-waiting');
		expect(execution.saved).not.toContain(TOKEN);
	});

	test("what n8n's store refuses on waking goes out with the IDs of all tasks; it wakes once", async () => {
		const { json, execution, answers, sent } = await runNode({
			parameters: {
				...long('join'),
				waitMode: 'callback',
				options: { gracePeriod: 0, maxCharacters: 60 },
			},
			tasks: [taskWith({ seconds: 40 }), taskWith({ seconds: 40 })],
			// One part fits into it, and two of them don't.
			store: { ...PLAIN_STORE, limit: 1_000 },
			node: goOn,
		});
		expect(execution.woken).toBe(true);
		const whole = { task_ids: [idOf(0), idOf(1)], long_text: { mode: 'join' } };
		expect(json).toMatchObject([{ outcome: 'undelivered', task_id: idOf(0), ...whole }]);
		expect(json[0]?.outputs).toHaveLength(4);
		expect(sent).toHaveLength(2);
		expect(answers.filter((answer) => answer.includes('"received":true}'))).toHaveLength(1);
	});

	test('where nobody can reach this n8n, it polls by itself and sends no callback URL', async () => {
		const { bodies, json, execution } = await runNode({
			parameters: { ...asleep, options: { gracePeriod: 0, extraFields: '{"receive_url": 7}' } },
			tasks: [taskWith({ seconds: 400 })],
			node: { reachable: false },
		});
		expect(bodies).toEqual([{ text: 'Rain', receive_url: 7 }]);
		expect(notedIn(execution.saved)).toMatchObject([{ callsBack: false }]);
		expect(execution.woken).toBe(true);
		expect(json).toMatchObject([{ status: 'done' }]);
	});
});

test('it does not sleep again before a deadline that it woke shortly before: n8n would wake it then', async () => {
	const short = { ...asleep, options: { gracePeriod: 0, timeout: 100 } };
	const after = await runNode({ parameters: short, tasks: asleepFor(50) });
	expect(after.execution.woken).toBe(true);
	for (const [seconds, sleeps] of [
		[40, false],
		[50, true],
	] as const) {
		const given = { parameters: asleep, after, runIndex: 1, minutesLater: 1 };
		const { execution, json } = await runNode({ ...given, tasks: asleepFor(seconds) });
		expect([execution.saved !== undefined, json]).toMatchObject([sleeps, [{ status: 'done' }]]);
	}
});

test('"Task: Wait" has seen a task before the sleep: its ID is not mistyped, so half a minute of 404 ends nothing', async () => {
	const { json, execution } = await runNode({
		parameters: { ...wait, waitMode: 'callback' },
		answer({ url }) {
			const seconds = (Date.now() - START) / 1_000;
			if (seconds > 1.5 && seconds < 30) return { status: 404 };
			const metadata = { audio_url: `${new URL(url).origin.replace('api', 'files')}/t.wav` };
			return { body: { id: 't', status: seconds < 30 ? 'doing' : 'done', metadata } };
		},
	});
	expect([execution.woken, json]).toMatchObject([true, [{ task_id: 't', status: 'done' }]]);
});

test('a refusal for less than a minute as it wakes makes no task unreachable, which the loop has seen done', async () => {
	const { json, execution } = await runNode({
		parameters: [asleep, asleep],
		tasks: asleepFor(20, 100),
		node: { reachable: false },
		answer({ method, url }) {
			const seconds = (Date.now() - START) / 1_000;
			const isRefused = method === 'GET' && url.endsWith(ID) && seconds > 60 && seconds < 140;
			return isRefused ? { status: 401, body: { success: false, error: 'slow down' } } : undefined;
		},
	});
	expect(execution.woken).toBe(true);
	expect(json).toMatchObject([{ status: 'done' }, { status: 'done' }]);
});

test('what is unclear is in the log before the sleep, out of which nothing may come', async () => {
	const { logs } = await runNode({
		parameters: [sound, asleep],
		creations: [unclear],
		tasks: asleepFor(400, 400),
		events: [{ at: 11, kind: 'stop' }],
		node: goOn,
	});
	expect(warnings(logs)[0]).toMatch(/went to sleep\. Tasks of item 0 may exist/);
});

test('an execution that n8n does not let sleep has failed, and its log names what is paid for', async () => {
	const breaks = [{ what: 'putExecutionToWait' as const, from: 0, times: 1 }];
	const { error, logs } = await runNode({
		parameters: { ...asleep, options: { gracePeriod: 0 } },
		tasks: asleepFor(20),
		breaks,
	});
	expect(error?.message).toMatch(/exists, but waiting for it was interrupted/);
	expect(logs.join()).toMatch(/the run failed\. Paid tasks of this run/);
});

test('tasks that wait for a place keep the execution awake, which a hint says before anything is paid for', async () => {
	const of = (count: number) => ({
		parameters: Array<object>(count).fill({
			...asleep,
			options: { gracePeriod: 0, maxActiveTasks: 2 },
		}),
		tasks: asleepFor(20, 20, 20),
	});
	const { hints } = await runNode(of(3));
	expect(hints).toContain(
		"3 tasks, 2 at a time ('Max Active Tasks'): the execution stays awake until 1 have finished",
	);
	expect((await runNode(of(2))).hints.join()).not.toMatch(/stays awake/);
});

test('at most 50 tasks of an execution carry its address, spread over all of them', async () => {
	const options = { gracePeriod: 0, maxActiveTasks: 100 };
	const { bodies } = await runNode({ parameters: Array<object>(75).fill({ ...asleep, options }) });
	const called = bodies.map((body) => body.receive_url !== undefined);
	expect(called.filter(Boolean)).toHaveLength(50);
	expect(called.slice(0, 3).filter(Boolean)).toHaveLength(2);
});

test('an execution that is stopped while a file is fetched does not fall asleep', async () => {
	const { execution } = await runNode({
		parameters: [asleep, asleep].map((each) => ({ ...each, options: { gracePeriod: 5 } })),
		tasks: asleepFor(1, 400),
		files: ['HTTP 404', 'HTTP 404', 'HTTP 404', 'HTTP 404'],
		events: [{ at: 6, kind: 'stop' }],
		node: goOn,
	});
	expect([execution.status, execution.waits]).toEqual(['canceled', []]);
	expect(execution.logs.join()).toMatch(new RegExp(`stopped.*${ID}`));
});
