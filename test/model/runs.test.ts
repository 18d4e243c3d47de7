/** Runs of the whole node: what goes out for which item, what is paid, and what is said where something goes wrong (README). */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { PLAIN_STORE, PLAIN_TASK } from './history';
import { PLAIN_CREATION } from './service';
import { NO_LIST } from './list';
import {
	creations,
	good,
	goOn,
	ID,
	idOf,
	long,
	named,
	notWaiting,
	PARTS,
	refused,
	runNode,
	sound,
	sounds,
	speech,
	taskWith,
	unclear,
	wait,
	warnings,
	type Answer,
	type Given,
} from './node';

const toBranch = { onError: 'continueErrorOutput' } as const;

describe('a finished task', () => {
	test('goes out as the service has it, with task_id, outputs and its files', async () => {
		const ran = await runNode({ parameters: sound });
		const { output, requests, hints, logs } = ran;
		const files = ran.hosts.filesUrl;
		expect(output).toMatchObject([
			{
				json: {
					id: ID,
					status: 'done',
					task_id: ID,
					outputs: [
						{ url: `${files}/${ID}.wav`, kind: 'audio', binaryProperty: 'data' },
						{ url: `${files}/${ID}.srt`, kind: 'transcript', binaryProperty: 'data_1' },
					],
				},
				pairedItem: { item: 0 },
			},
		]);
		expect(Object.keys(output[0]?.binary ?? {})).toEqual(['data', 'data_1']);
		expect(requests[0]).toBe('POST /v1/task/sound-effect');
		expect(new Set(requests.slice(1))).toEqual(new Set([`GET /v1/task/${ID}`]));
		expect(hints).toEqual(['1 task created, 10 credits according to the service']);
		const found = { media_task_ids: ID, media_credits: '10', media_outcome: 'done' };
		expect(ran.execution.found).toEqual(found);
		expect(logs).toEqual([`Media Generation: task ${ID} for item 0 of execution 1`]);
	});

	test('an address that the request carried is no result of its task', async () => {
		const [given, made] = ['in', 'out'].map((name) => `https://files.example/${name}.png`);
		let polls = 0;
		const { json } = await runNode({
			parameters: {
				...{ resource: 'image', operation: 'generate', prompt: 'A boat', modelId: 'm' },
				options: { downloadOutput: false, extraFields: `{"start_image": "${given}"}` },
			},
			answer: ({ method }) => {
				if (method !== 'GET') return undefined;
				const urls = (polls += 1) < 2 ? [given] : [given, made];
				return { body: { id: ID, status: 'done', type: 'image', metadata: { image_urls: urls } } };
			},
		});
		expect(json).toMatchObject([{ task_id: ID, outputs: [{ url: made }] }]);
	});

	test('items stand in the order of the input, whichever ends first', async () => {
		const tasks = [40, 1, 8].map((seconds) => taskWith({ seconds }));
		const { pairs, json } = await runNode({ parameters: sounds('a', 'b', 'c'), tasks });
		expect(json.map(({ task_id }) => task_id)).toEqual([idOf(0), idOf(1), idOf(2)]);
		expect(pairs).toEqual([0, 1, 2]);
	});

	test('no items, no requests', async () => {
		const { output, requests, error } = await runNode({ parameters: sound, input: [] });
		expect([output, requests, error]).toEqual([[], [], undefined]);
	});

	test('Max Active Tasks is that of the first item', async () => {
		const tasks = Array(3).fill(taskWith({ seconds: 8 })) as Array<typeof PLAIN_TASK>;
		const first = { ...sound, options: { maxActiveTasks: 1 } };
		const { sent } = await runNode({ parameters: [first, sound, sound], tasks });
		const [a = 0, b = 0, c = 0] = sent.map(({ atMs }) => atMs);
		expect(b - a).toBeGreaterThanOrEqual(8_000);
		expect(c - b).toBeGreaterThanOrEqual(8_000);
		const together = await runNode({ parameters: [sound, first, sound], tasks });
		expect(new Set(together.sent.map(({ atMs }) => atMs)).size).toBe(1);
	});

	test('a refused creation ends the run before its slot goes to the next one', async () => {
		const first = { ...sound, options: { maxActiveTasks: 1 } };
		const { sent } = await runNode({ parameters: [first, sound], creations: [refused] });
		expect(sent).toHaveLength(1);
	});
});

describe('not waiting', () => {
	test('the answer of the creation goes out, and nothing is looked at', async () => {
		const { json, output, requests } = await runNode({ parameters: { ...sound, ...notWaiting } });
		expect(json).toEqual([{ task_id: ID, credit_cost: 10 }]);
		expect(output[0]?.pairedItem).toEqual({ item: 0 });
		expect(requests).toEqual(['POST /v1/task/sound-effect']);
		const parts = await runNode({ parameters: { ...long('parts'), ...notWaiting } });
		expect(parts.json).toMatchObject([
			{ part: 1, parts: 2 },
			{ task_id: idOf(1), part: 2 },
		]);
	});

	test('where the item waits there is no callback URL', async () => {
		const callbackUrl = 'https://n8n.example/webhook/x/callback';
		const { bodies } = await runNode({ parameters: { ...sound, callbackUrl } });
		expect(bodies).toEqual([{ text: 'Rain' }]);
		const options = { callbackReference: 'order 7' };
		const not = await runNode({ parameters: { ...sound, ...notWaiting, callbackUrl, options } });
		const { searchParams } = new URL(not.bodies[0]?.receive_url as string);
		expect(searchParams.get('reference')).toBe('order 7');
	});
});

const rejected = {
	error: 'The service refused the task (HTTP 400: text is too long)',
	http_status: 400,
};
const failed = { error: `Task ${ID} failed: too loud`, task_id: ID, status: 'error' };
const unfinished = `Task ${ID} was not finished after 10 minutes; its last status was "doing"`;
const late = { error: unfinished, task_id: ID, status: 'doing' };
const lost = { task_id: ID, status: 'done' };
const [broken, endless] = [taskWith({ end: 'error' }), taskWith({ end: 'never' })];
/** The failures of a run of two items, of which the first one fails. */
const failing: Array<[string, Partial<Given>, IDataObject, RegExp]> = [
	['rejected', { creations: [refused] }, rejected, /No task was created and nothing was paid/],
	['unknown', { creations: [unclear] }, { http_status: 500 }, /check at the service/i],
	['failed', { tasks: [broken] }, failed, /^The service ended this task with an error/],
	['timed_out', { tasks: [endless] }, late, /"Task: Wait" with this task ID/],
	['undelivered', { files: ['HTTP 403', 'ok'] }, lost, /outputs|Task: Wait/],
];

describe('On Error', () => {
	test.each(failing)(
		'%s: stops the run and says what to do',
		async (outcome, given, fields, next) => {
			const { error, output, json } = await runNode({ parameters: sound, ...given });
			expect([output, json]).toEqual([[], []]);
			if (fields.error !== undefined) expect(error?.message).toBe(fields.error);
			expect(error?.description).toMatch(next);
			expect(error?.name).toBe('NodeApiError');
			expect(error?.context).toMatchObject({ itemIndex: 0 });
			const went = await runNode({ parameters: sounds('a', 'b'), node: goOn, ...given });
			expect(went.error).toBeUndefined();
			expect(went.json).toMatchObject([
				{ ...fields, outcome, error: went.json[0]?.error },
				{ status: 'done' },
			]);
			expect(went.json[0]?.error).toBe(error?.message);
			expect(went.pairs).toEqual([0, 1]);
			expect(went.execution.found.media_outcome).toBe(outcome);
			expect(went.hints[0]).toBe(
				"1 of 2 items failed, see the field 'outcome'; the option 'Include Input' shows which",
			);
			expect(went.execution.found.media_outcome).toBe(outcome);
		},
	);

	test('an undelivered item has its outputs, and the files that came', async () => {
		const { output } = await runNode({ parameters: sound, node: goOn, files: ['HTTP 403', 'ok'] });
		expect(output).toHaveLength(1);
		const [item] = output;
		const { json, binary }: INodeExecutionData = item ?? { json: {} };
		expect(json.outputs).toMatchObject([{ kind: 'audio' }, { kind: 'transcript' }]);
		expect(Object.keys(binary ?? {})).toHaveLength(1);
		const parameters = { ...sound, options: { splitFiles: true } };
		const split = await runNode({ parameters, node: goOn, files: ['HTTP 403', 'ok'] });
		expect(split.json).toMatchObject([{ outcome: 'undelivered' }, { status: 'done' }]);
		expect(split.output.map((each) => each.binary !== undefined)).toEqual([false, true]);
		// A part without its sound is no result, although it has its captions.
		const files: Given['files'] = ['HTTP 403', 'ok', 'ok', 'ok'];
		const { json: parts } = await runNode({ parameters: long('parts'), node: goOn, files });
		expect(parts).toMatchObject([{ outcome: 'undelivered', part: 1 }, { part: 2 }]);
		// n8n repeats a node whose first item failed.
		const node = { ...goOn, tries: 2 };
		const again = await runNode({ parameters: long('parts'), node, files });
		expect(again.json).toMatchObject([{ part: 1 }, { part: 2 }]);
		expect(again.sent).toHaveLength(2);
	});

	test('the first failed item in the order of the input is the one that is thrown', async () => {
		const { error } = await runNode({
			parameters: sounds('a', 'b'),
			tasks: [taskWith({ end: 'error' }), taskWith({ end: 'error' })],
		});
		expect(error?.context).toMatchObject({ itemIndex: 0 });
		const bad = await runNode({ parameters: sounds('a', '', '') });
		expect(bad.error?.message).toBe("The field 'Text' is empty");
		expect(bad.error?.context).toMatchObject({ itemIndex: 1 });
		expect(bad.error?.name).toBe('NodeOperationError');
		expect(bad.requests).toEqual([]);
	});

	test('a field whose expression fails is refused in words', async () => {
		const broken = {
			...sound,
			get text(): string {
				throw new Error('no such node');
			},
		};
		const { json, requests } = await runNode({ parameters: broken, node: goOn });
		expect(json).toEqual([
			{
				error: 'A field of this item could not be read: no such node',
				description: expect.stringMatching(/Check the expressions/) as unknown,
				outcome: 'invalid',
			},
		]);
		expect(requests).toEqual([]);
	});
});

describe('what a failed run leaves', () => {
	const mayExist = (items: string) =>
		`Tasks of ${items} may exist and be paid for, because the answer to their creation never came: check at the service.`;

	const running = taskWith({ seconds: 400 });
	const PAID = `Paid tasks of this run that you can still fetch with "Task: Wait", or end with "Task: Delete" while they run: `;
	test.each<[string, Partial<Given>, message: RegExp, description: RegExp, log: string[]]>([
		[
			'the tasks of use, without those that failed',
			{ tasks: [running, taskWith({ end: 'error' }), running] },
			new RegExp(`^Task ${idOf(1)} failed: too loud$`),
			/Other items: 2 with a paid task, held back by this error\. A new execution creates/,
			[`the run failed. ${PAID}${idOf(0)}, ${idOf(2)}.`],
		],
		[
			'the items whose creation is unclear, wherever the first failure is',
			{ creations: [refused, unclear, unclear] },
			/^The service refused the task/,
			/(?<!still fetch.*)Tasks of items 1 and 2 may exist and be paid for(?!.*It named)/,
			[`the run failed. ${mayExist('items 1 and 2')}`],
		],
		[
			'the task that the refusal of a creation has named',
			{ creations: [refused, named, refused] },
			/^The service refused the task/,
			new RegExp(`It named: ${ID}\\.`),
			[
				`task ${ID} for item 1 of execution 1 may exist`,
				`the run failed. ${mayExist('item 1')} It named: ${ID}.`,
			],
		],
		[
			'the items of all tries, in order',
			{ creations: [refused, unclear, unclear, unclear], node: { tries: 2 } },
			/./,
			/Tasks of items 0, 1, and 2 may exist/,
			[],
		],
	])('the error and the log name %s', async (_, given, message, description, lines) => {
		const { error, logs, json } = await runNode({ parameters: sounds('a', 'b', 'c'), ...given });
		expect(json).toEqual([]);
		expect(error?.message).toMatch(message);
		expect(error?.description).toMatch(description);
		if (lines.length > 0)
			expect(warnings(logs)).toEqual(lines.map((line) => `warn: Media Generation: ${line}`));
	});

	test('where failed items go on, the log still says which creation is unclear, and nothing else', async () => {
		const { json, logs } = await runNode({
			parameters: sounds('a', 'b', 'c'),
			creations: [good, unclear, refused],
			node: goOn,
		});
		expect(json.map(({ outcome }) => outcome)).toEqual([undefined, 'unknown', 'rejected']);
		expect(warnings(logs)).toEqual([
			`warn: Media Generation: the run ended. ${mayExist('item 1')}`,
		]);
	});
});

describe('after the first failure', () => {
	const running = taskWith({ seconds: 4_000 });
	const files: Given['files'] = ['HTTP 403', 'HTTP 403'];
	test.each<[string, object, Partial<Given>]>([
		['a time-out', { options: { timeout: 5 } }, { tasks: [taskWith({ end: 'never' })] }],
		[
			'a task that failed, though a time-out may go on',
			{ options: { onTimeout: 'returnTask' } },
			{ tasks: [taskWith({ end: 'error' })] },
		],
		['a missing file', {}, { tasks: [PLAIN_TASK], files }],
		['a missing file of a part', long('join'), { tasks: [PLAIN_TASK, running], files }],
	])('nothing more is waited for: %s', async (_, fields, { tasks = [], files }) => {
		const parameters = [
			{ ...sound, ...fields },
			{ ...sound, ...fields, longText: 'off', options: { timeout: 8_000 } },
		];
		const { endedMs, error, json } = await runNode({
			parameters,
			tasks: [...tasks, running],
			files,
		});
		expect(error?.context).toMatchObject({ itemIndex: 0 });
		expect(json).toEqual([]);
		expect(endedMs).toBeLessThan(60_000);
		const went = await runNode({ parameters, tasks: [...tasks, running], files, node: goOn });
		expect(went.json[1]).toMatchObject({ status: 'done' });
	});
});

test('what can not be joined ends the run: nothing more is created or waited for', async () => {
	const { options, ...text } = long('join');
	const setting = {
		parameters: [{ ...text, options: { ...options, maxActiveTasks: 1 } }, speech, speech],
		tasks: [PLAIN_TASK, PLAIN_TASK, taskWith({ seconds: 400 })],
		// One part fits into it, and two of them don't.
		store: { ...PLAIN_STORE, limit: 1_000 },
	};
	const { error, sent, endedMs } = await runNode(setting);
	expect(error?.message).toMatch(/too large for the store/);
	expect(sent).toHaveLength(3);
	expect(endedMs).toBeLessThan(60_000);
	const { json } = await runNode({ ...setting, node: goOn });
	expect(json[0]).toMatchObject({
		error: expect.stringMatching(/^Task .* could not be handed over/) as unknown,
		outcome: 'undelivered',
		task_ids: [idOf(0), idOf(1)],
		outputs: [{ kind: 'audio' }, { kind: 'transcript' }, {}, {}],
	});
});

describe('On Timeout: Return Task', () => {
	const late = { options: { timeout: 5, onTimeout: 'returnTask' } };

	test('the item goes on as the task that was seen last', async () => {
		const { json, output, hints } = await runNode({
			parameters: [{ ...sound, ...late }, sound],
			tasks: [taskWith({ end: 'never' })],
		});
		expect(json[0]).toMatchObject({ id: ID, status: 'doing', task_id: ID, unfinished: true });
		expect(json[0]).not.toHaveProperty('task_ids');
		expect(json[1]).toMatchObject({ status: 'done' });
		expect(output[0]?.pairedItem).toEqual({ item: 0 });
		expect(hints.join()).not.toMatch(/failed/);
	});

	test.each(['join', 'parts'])('a long text says what to make of its parts: %s', async (mode) => {
		const text = long(mode);
		const options = { ...text.options, ...late.options, pauseBetweenParts: 250 };
		const tasks = [PLAIN_TASK, taskWith({ end: 'never' })];
		const { json } = await runNode({ parameters: { ...text, options }, tasks });
		const pause_between_parts = mode === 'join' ? 250 : 0;
		const long_text = { mode, pause_between_parts };
		const parts = [{ part: 1, task_id: ID, characters: PARTS[0]?.length }, { part: 2 }];
		expect(json).toMatchObject([{ unfinished: true, task_ids: [ID, idOf(1)], parts, long_text }]);
	});

	test('a part that goes on as a task does not hide that another one was refused', async () => {
		const text = long('join');
		const { json } = await runNode({
			parameters: { ...text, options: { ...text.options, ...late.options } },
			creations: [good, refused],
			tasks: [taskWith({ end: 'never' })],
			node: goOn,
		});
		expect(json).toMatchObject([{ outcome: 'rejected', part: 2, task_ids: [ID] }]);
	});

	test('a task that nobody has seen goes on by its ID', async () => {
		const { json } = await runNode({
			parameters: { ...sound, ...late },
			answer: ({ method }) => (method === 'GET' ? { status: 500, body: {} } : undefined),
		});
		expect(json).toEqual([{ task_id: ID, unfinished: true }]);
	});
});

describe('long texts', () => {
	test('a part that fails names itself and the tasks of all', async () => {
		const given = {
			parameters: long('join'),
			tasks: [PLAIN_TASK, taskWith({ end: 'error' as const })],
		};
		const { json } = await runNode({ ...given, node: goOn });
		expect(json).toEqual([
			{
				error: `Part 2 of 2 ("${PARTS[1]}"): Task ${idOf(1)} failed: too loud`,
				description: expect.stringMatching(/^The service ended this task with an error/) as unknown,
				outcome: 'failed',
				task_id: idOf(1),
				task_ids: [idOf(0), idOf(1)],
				status: 'error',
				part: 2,
				parts: 2,
			},
		]);
		const { error } = await runNode(given);
		expect(error?.message).toMatch(/^Part 2 of 2/);
		expect(error?.description).toMatch(
			/pay only for what failed\. To fetch the others without it, use Task: Wait/,
		);
		const parameters = { ...wait, taskId: [idOf(0)], downloadOutput: false };
		const input = json.map((each) => ({ json: each }));
		const metadata = { audio_url: 'https://files.example/0.wav' };
		const body = { id: idOf(0), status: 'done', metadata };
		const other = await runNode({ parameters, input, answer: () => ({ body }) });
		expect(other.json).toMatchObject([{ status: 'done', task_id: idOf(0) }]);
		const doubt = { parameters: long('join'), creations: [refused, unclear], node: goOn };
		expect((await runNode(doubt)).json).toMatchObject([{ outcome: 'unknown', part: 2 }]);
	});
});

describe('paid once', () => {
	const lostAnswer: Partial<Given> = {
		creations: [good, unclear],
		retries: [{ changed: false }],
		list: NO_LIST,
	};

	test('Retry creates a task anew only if it failed', async () => {
		const { json, sent } = await runNode({
			parameters: [sound, { ...sound, text: 'b' }],
			tasks: [taskWith({}), broken, taskWith({})],
			retries: [{ changed: false }],
		});
		expect(json).toMatchObject([{ task_id: idOf(0) }, { task_id: idOf(2), status: 'done' }]);
		expect(sent).toHaveLength(3);
	});

	test('the option has it sent again, which is said', async () => {
		const parameters = [
			{ ...sound, text: 'a' },
			{ ...sound, options: { sendUnclearAgain: true } },
		];
		const { executions, json, hints, logs, sent } = await runNode({ parameters, ...lostAnswer });
		expect(executions[0]?.error).toMatchObject({
			description: expect.stringMatching(
				/^Press Retry on .* It may be paid for. The next try sends it again/,
			) as string,
		});
		expect(json).toMatchObject([{ status: 'done' }, { status: 'done' }]);
		expect(sent).toHaveLength(3);
		expect(hints[0]).toMatch(/^May be paid for twice: item 1; no answer came the first time/);
		expect(warnings(logs)[0]).toMatch(
			/May be paid for twice: item 1; .* sent again unless it is found/,
		);
		const known = await runNode({ parameters, ...lostAnswer, creations: [good, named] });
		expect(known.sent).toHaveLength(2);
	});

	test('nor does the option send it again while the list shows what could be its task', async () => {
		const { json, sent } = await runNode({
			parameters: { ...sound, options: { sendUnclearAgain: true } },
			creations: [unclear],
			list: { ...NO_LIST, kind: 'data', times: 'none' },
			node: { ...goOn, tries: 2 },
		});
		expect(json).toMatchObject([{ outcome: 'unknown' }]);
		expect(sent).toHaveLength(1);
	});

	const late = { error: 'late', outcome: 'timed_out', task_id: 't1' };
	test.each<[IDataObject, string | undefined]>([
		[late, 't1'],
		[{ error: 'late', details: { ...late, task_ids: ['t1', 't2'] }, task_id: 't0' }, 't1, t2'],
		[{ status: 'doing', unfinished: true, task_id: 't1' }, 't1'],
		...['unreachable', 'undelivered', 'cancelled'].map((outcome): [IDataObject, string] => [
			{ ...late, outcome },
			't1',
		]),
		[{ ...late, outcome: 'failed' }, undefined],
		[{ status: 'done', task_id: 't1' }, undefined],
	])('an item that brings a paid task is created as asked, with a hint: %j', async (json, ids) => {
		const { hints, logs, sent } = await runNode({ parameters: sound, input: [{ json }] });
		expect(sent).toHaveLength(1);
		const hint = `Paid for again, though "Task: Wait" can fetch the tasks of the input: ${ids}`;
		expect(hints.slice(0, -1)).toEqual(ids === undefined ? [] : [hint]);
		expect(warnings(logs).join()).toMatch(
			ids === undefined ? /^$/ : new RegExp(`tasks of the input: ${ids}`),
		);
	});

	test('the hint also tells of a further try that creates only some of its parts', async () => {
		const { hints } = await runNode({
			parameters: long('parts'),
			input: [{ json: late }],
			creations: [PLAIN_CREATION, refused],
			node: { tries: 2 },
		});
		expect(hints.filter((hint) => hint.startsWith('Paid for again'))).toHaveLength(2);
	});

	test('a task that is taken up gets its whole time again', async () => {
		const { json, sent } = await runNode({
			parameters: { ...sound, options: { timeout: 10 } },
			tasks: [taskWith({ seconds: 18 })],
			node: { tries: 2 },
		});
		expect(json).toMatchObject([{ status: 'done', task_id: ID }]);
		expect(sent).toHaveLength(1);
	});

	test('as a tool: what a call could hand out is its own, and what it could not is the next one’s', async () => {
		const call = { parameters: { ...sound, options: { timeout: 5 } }, asTool: true };
		const first = await runNode(call);
		const again = await runNode({ ...call, after: first, runIndex: 1 });
		expect(creations(again.requests)).toHaveLength(1);
		for (const node of [{}, goOn]) {
			const late = await runNode({ ...call, node, tasks: [taskWith({ end: 'never' })] });
			const next = await runNode({ ...call, after: late, runIndex: 1 });
			expect(creations(next.requests)).toEqual([]);
		}
	});
});

describe('Minimum Credits', () => {
	const guarded = (minimumCredits: unknown) => ({ ...sound, options: { minimumCredits } });

	test('fewer credits: nothing is created for this item', async () => {
		const { json, ends, sent, requests } = await runNode({
			parameters: [guarded(101), sound, guarded(100), guarded('250.5')],
			node: goOn,
		});
		expect(ends).toEqual(['invalid', 'done', 'done', 'invalid']);
		expect(json[0]?.error).toBe(
			"The account has 100 credits, fewer than the 101 that 'Minimum Credits' asks for",
		);
		expect(json[0]?.description).toBe(
			"Add credits at the service or lower the option 'Minimum Credits'. Nothing was created for this item.",
		);
		expect(json[3]?.error).toMatch(/fewer than the 250.5 that/);
		expect(sent).toHaveLength(2);
		expect(requests.filter((line) => line === 'GET /v1/credits')).toHaveLength(1);
	});

	test.each<[string, Answer, RegExp]>([
		['is refused', { status: 401, body: { error: 'expired' } }, /HTTP 401: expired$/],
		['is no balance', { body: { plan: 'x' } }, /: the answer holds no balance$/],
	])('a balance that %s creates nothing', async (_, answered, reason) => {
		const { error, sent } = await runNode({
			parameters: guarded(5),
			answer: ({ method }) => (method === 'GET' ? answered : undefined),
		});
		expect(error?.message).toMatch(
			/^The credit balance could not be read, so nothing was created: /,
		);
		expect(error?.message).toMatch(reason);
		expect(error?.description).toBe("Run again later, or remove the option 'Minimum Credits'.");
		expect(sent).toEqual([]);
	});

	test('what is paid for already needs no balance, and what is not found is not sent again without one', async () => {
		let balance = 100;
		const again = { ...sound, options: { minimumCredits: 50, sendUnclearAgain: true } };
		const { json, sent } = await runNode({
			parameters: [guarded(50), guarded(50), again],
			creations: [good, unclear, unclear],
			files: ['HTTP 403', 'HTTP 403'],
			node: { ...goOn, tries: 2 },
			answer({ url, method }) {
				if (method === 'POST') balance = 0;
				return url.endsWith('/v1/credits') ? { body: { credits: balance } } : undefined;
			},
		});
		expect(json).toMatchObject([
			{ status: 'done' },
			{ outcome: 'unknown' },
			{ outcome: 'unknown' },
		]);
		expect(json[2]?.error).toMatch(/the task may exist; this try: The account has 0 credits/);
		expect(sent).toHaveLength(3);
	});
});

describe('Stop After Credits', () => {
	const limited = (maximumCredits: number) => ({ ...sound, options: { maximumCredits } });

	test('that of the first item counts, also where another field of it is wrong', async () => {
		const wrong = { ...limited(15), text: '' };
		const { sent } = await runNode({
			parameters: [wrong, limited(1_000), sound, sound],
			node: goOn,
		});
		expect(sent).toHaveLength(2);
	});

	test('once a failure has ended the run, nobody asks for the balance any more', async () => {
		const { requests } = await runNode({
			parameters: Array<object>(6).fill(limited(1_000)),
			creations: [good, refused],
		});
		// Two creations, and the one that had its turn as the second one failed.
		expect(requests.filter((line) => line === 'GET /v1/credits')).toHaveLength(3);
	});

	test('that of the next item counts where the first one can not be read', async () => {
		const unreadable = {
			...sound,
			get options(): object {
				throw new Error('no such node');
			},
		};
		const { sent, json } = await runNode({
			parameters: [unreadable, limited(15), limited(1_000), limited(1_000)],
			node: goOn,
		});
		expect(json[0]?.error).toMatch(/no such node/);
		expect(sent).toHaveLength(2);
	});
});

const none = new Error('no credential is set');
const unread = 'The credential could not be read: no credential is set';
const select = /^Select a Media Generation API credential in this node\. Nothing was sent\./;
test.each<[string, object, IDataObject | Error, string | RegExp, RegExp]>([
	['none is selected for a creation', sound, none, unread, select],
	['none is selected for a read', { resource: 'credits', operation: 'get' }, none, unread, select],
	[
		'its key is none',
		sound,
		{ apiKey: 'key' },
		/^The API key of the credential does not start/,
		/Nothing was sent/,
	],
])(
	'a credential that can not be used fails; with Continue On Fail its items do: %s',
	async (_, fields, credential, words, advice) => {
		const given = { parameters: [fields, fields], credential };
		const { error } = await runNode(given);
		expect(error?.name).toBe('NodeOperationError');
		expect(error?.message).toMatch(words);
		expect(error?.description).toMatch(advice);
		const goneOn = await runNode({ ...given, node: goOn });
		const item = { error: error?.message, outcome: 'invalid' };
		expect([goneOn.error, goneOn.json]).toMatchObject([undefined, [item, item]]);
		expect(goneOn.pairs).toEqual([0, 1]);
		expect(goneOn.requests).toEqual([]);
	},
);

test('an operation that does not exist is refused in words', async () => {
	const { error } = await runNode({ parameters: { resource: 'song', operation: 'sing' } });
	expect(error?.message).toBe('The resource "song" has no operation "sing"');
	expect(error?.name).toBe('NodeOperationError');
	const broken = {
		get resource(): string {
			throw new Error('no such node');
		},
	};
	expect((await runNode({ parameters: broken })).error?.message).toBe('no such node');
});

test('where n8n gives no signal of a stop, tasks are made and waited for', async () => {
	const { json } = await runNode({ parameters: sounds('a', 'b'), withoutSignal: true });
	expect(json.map(({ status }) => status)).toEqual(['done', 'done']);
});

test('a field that is wrong is named before anything is read for the others', async () => {
	const { error, requests } = await runNode({
		parameters: [
			{ ...sound, options: { minimumCredits: 5 } },
			{ ...sound, text: '' },
		],
		credential: new Error('no credential is set'),
	});
	expect(error?.message).toBe("The field 'Text' is empty");
	expect(requests).toEqual([]);
});

test.each<[string, Partial<Given>, boolean]>([
	['a long text, for Retry On Fail', { parameters: long('join'), node: { tries: 2 } }, true],
	['a long text without Retry On Fail', { parameters: long('join') }, false],
	[
		'a text that is not cut',
		{ parameters: { ...speech, text: PARTS[1] }, node: { tries: 2 } },
		false,
	],
])('what n8n saves with the execution: %s', async (_, given, kept) => {
	const { execution, json } = await runNode({ parameters: {}, ...given });
	expect(json).toMatchObject([{ status: 'done' }]);
	expect(JSON.stringify(execution.kept).includes(String(PARTS[1]))).toBe(kept);
});

describe('Include Input', () => {
	const row = { row: 7, nested: { of: 'mine' } };
	const ran = async (fields: object, given: Partial<Given> = {}, options: object = {}) =>
		await runNode({
			parameters: { ...fields, options: { includeInput: true, gracePeriod: 0, ...options } },
			input: [{ json: row, binary: { data: { data: '', mimeType: 'text/plain' } } }],
			...given,
		});
	const asleep = { ...sound, waitMode: 'callback' };
	const [slow, broken] = [taskWith({ seconds: 40 }), taskWith({ seconds: 40, end: 'error' })];
	const never = { tasks: [taskWith({ end: 'never' })] };
	const toWait = { answer: () => ({ body: { id: 't', status: 'error' } }), node: goOn };

	test.each<[string, number, Parameters<typeof ran>]>([
		['a finished task', 1, [sound]],
		[
			'one without waiting',
			1,
			[{ ...sound, waitForCompletion: false }, {}, { includeInput: 'TRUE' }],
		],
		['each of its files', 2, [sound, {}, { splitFiles: true }]],
		['each part of a long text', 2, [long('parts'), {}, { maxCharacters: 60 }]],
		['a joined text', 1, [long('join'), {}, { maxCharacters: 60 }]],
		['what was refused', 1, [{ ...sound, text: '' }, { node: goOn }]],
		['what failed', 1, [sound, { tasks: [broken], node: goOn }]],
		['what failed, on the error branch', 1, [sound, { tasks: [broken], node: toBranch }]],
		[
			'files that did not come',
			2,
			[sound, { files: ['HTTP 403', 'ok'], node: goOn }, { splitFiles: true }],
		],
		['what ran out of time', 1, [sound, never, { timeout: 5, onTimeout: 'returnTask' }]],
		['what woke', 1, [asleep, { tasks: [slow] }]],
		['what failed asleep', 1, [asleep, { tasks: [broken], node: goOn }]],
		['what did not wake by the deadline', 1, [asleep, never, { timeout: 60 }]],
		['what is waited for', 1, [wait, toWait]],
	])('%s carries the JSON that came in, without its files', async (_, count, given) => {
		const { json, output, hints } = await ran(...given);
		expect(json.map(({ input }) => input)).toEqual(Array(count).fill(row));
		expect(hints.filter((hint) => hint.includes('Include Input'))).toEqual([]);
		for (const { binary } of output) expect(JSON.stringify(binary ?? {})).not.toMatch(/text.plain/);
	});

	test('a value that is neither true nor false is refused before anything is sent', async () => {
		const { error, requests } = await ran(sound, {}, { includeInput: 'yes' });
		expect(error?.message).toBe("'Include Input' must be true or false");
		expect(requests).toEqual([]);
	});

	test('on the error branch of a node that slept it lies in `details`', async () => {
		const { json } = await ran(asleep, { tasks: [broken], node: toBranch });
		expect(json).toMatchObject([{ details: { outcome: 'failed', input: row } }]);
	});

	test("a task's own field of this name makes room, and stays where nothing is carried", async () => {
		const body = {
			id: 't',
			status: 'done',
			metadata: { audio_url: 'https://f.example/a' },
			input: 1,
		};
		const answer = () => ({ body });
		const fields = { ...wait, downloadOutput: false };
		expect((await ran(fields, { answer })).json).toMatchObject([{ input: row, task_input: 1 }]);
		const off = await ran(fields, { answer }, { includeInput: false });
		expect(off.json).toMatchObject([{ input: 1 }]);
	});

	test('what "Task: Wait" passes through carries itself', async () => {
		const outputs = [{ url: 'x', binaryProperty: 'data' }];
		const done = { task_id: 't', status: 'done', outputs, input: row };
		const input = [{ json: done, binary: { data: { data: '', mimeType: 'audio/wav' } } }];
		const { json } = await ran(wait, { input });
		expect(json).toEqual([{ ...done, input: done }]);
	});
});
