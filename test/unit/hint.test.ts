/** What an execution can be found by: task IDs, credits and the worst outcome, within n8n's limits. */
import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { warnOfCallbackUrls } from '../../nodes/MediaGeneration/trigger/receiveUrl';
import {
	noteExecution,
	noteWaking,
	type RunOutcome,
	outcomesIn,
} from '../../nodes/MediaGeneration/items/executionSummary';
import { hintAtSleep } from '../../nodes/MediaGeneration/run/hints';
import { showHint } from '../../nodes/MediaGeneration/n8n/editor';
import { fakeN8n } from '../support/n8n';

function execution() {
	const { context, found: kept } = fakeN8n();
	const run = (name: string, taskIds: string[], credits: number | undefined, outcome: RunOutcome) =>
		noteExecution(context, name, { taskIds, credits, outcome });
	const wake = (...outcomes: RunOutcome[]) =>
		noteWaking(context as unknown as IWebhookFunctions, outcomes);
	return { kept, run, wake };
}

test('has the tasks of all runs, the sum of their credits, and the worst outcome', () => {
	const { kept, run } = execution();
	run('Speak:0', ['a', 'b'], 3.1, 'done');
	run('Draw:0', ['b', 'c'], 0.2, 'timed_out');
	run('Speak:1', [], undefined, 'invalid');
	const credits = { media_credits: '3.3' };
	expect(kept).toEqual({ ...credits, media_task_ids: 'a,b,c', media_outcome: 'timed_out' });
});

test('what an execution slept on is known when it wakes', () => {
	const { kept, run, wake } = execution();
	run('Speak:0', ['a', 'b'], 2, 'asleep');
	expect(kept.media_outcome).toBe('asleep');
	wake('done', 'failed');
	expect(kept).toMatchObject({ media_task_ids: 'a,b', media_outcome: 'failed' });
	wake('done');
	expect(kept.media_outcome).toBe('failed');
});

test('task IDs stay whole: those that no longer fit are left out', () => {
	const { kept, run } = execution();
	const taskIds = Array.from({ length: 9 }, (_, index) => `${index}${'x'.repeat(35)}`);
	run('Speak:0', taskIds, undefined, 'asleep');
	expect(kept.media_task_ids?.split(',')).toEqual(taskIds.slice(0, 6));
	expect(kept).toMatchObject({ media_outcome: 'asleep' });
	const other = execution();
	other.run('Speak:0', ['x'.repeat(300)], undefined, 'done');
	expect(other.kept).toEqual({ media_outcome: 'done' });
});

test('an n8n that refuses such values runs as ever', () => {
	const context = Object.defineProperty(fakeN8n().context, 'customData', {
		get(): never {
			throw new Error('Cannot access customData');
		},
	});
	const run = { taskIds: ['a'], credits: 1, outcome: 'done' as const };
	expect(() => noteExecution(context, 'Speak:0', run)).not.toThrow();
});

test('a hint, which the editor renders as HTML, is one line of text', () => {
	const { context, hints } = fakeN8n();
	showHint(context, 'info', 'task <a href="https://evil.example">1</a>\r\n& \u202e2');
	const message = 'task ‹a href="https://evil.example"›1‹/a› &amp;  2';
	expect(hints).toEqual([{ type: 'info', location: 'outputPane', message }]);
});

test.each<[IDataObject, RunOutcome]>([
	[{ status: 'done' }, 'done'],
	[{ unfinished: true }, 'timed_out'],
	[{ error: 'x', outcome: 'unreachable' }, 'unreachable'],
	[{ error: 'x', details: { error: 'x', outcome: 'failed' } }, 'failed'],
	[{ error: 'x', details: { error: 'of the row', outcome: 'failed' } }, 'done'],
	[{ outcome: 'the service has a field of that name' }, 'done'],
])('an item that carries %j has come to %j', (json, outcome) => {
	expect(outcomesIn([{ json }])).toEqual([outcome]);
});

const TYPE = 'n8n-nodes-media-generation.mediaGeneration';
const taskWait = { type: TYPE, parameters: { resource: 'task', operation: 'wait' } };
test.each<[string, object, object[], boolean]>([
	['nothing', {}, [], true],
	['another of its operations', {}, [{ ...taskWait, parameters: { operation: 'get' } }], true],
	['one that is disabled', {}, [{ ...taskWait, disabled: true }], true],
	['one of another package', {}, [{ ...taskWait, type: 'other.node' }], true],
	['Task: Wait, somewhere', {}, [{ type: 'x.set' }, taskWait], false],
	['nothing where failures become items anyway', { onError: 'continueRegularOutput' }, [], false],
	['nothing where they have a branch', { onError: 'continueErrorOutput' }, [], false],
])('an execution that falls asleep with %s after it', (_name, node, following, isWarned) => {
	const { context, hints } = fakeN8n({
		node: { type: TYPE, ...node },
		own: { getChildNodes: () => following },
	});
	hintAtSleep(context);
	const words = expect.stringMatching(/fails while the execution sleeps.*"Task: Wait"$/) as string;
	expect(hints.map(({ message }) => message)).toEqual(isWarned ? [words] : []);
});

describe('a trigger of this n8n that is not published', () => {
	const HERE = 'https://n8n.example';
	let paths = 0;
	const own = () =>
		`${HERE}/webhook/0c0f2f5e-7c35-4a6a-9a3f-${`${(paths += 1)}`.padStart(12, '0')}/callback?tenant=1`;
	const [OWN, TEST] = [own(), `${HERE}/webhook-test/1/callback`];
	const OTHER = OWN.replace('n8n.example', 'other.example');

	interface Setting {
		mode?: string;
		answer?: object | Error;
		callbackSecret?: string;
	}
	const listening = (methods: string) => ({ 'access-control-allow-methods': methods });
	/** What the editor shows and the log says, and what was sent for it. */
	async function warned(
		urls: Array<string | undefined>,
		{ mode = 'manual', answer = listening('OPTIONS'), callbackSecret = '' }: Setting = {},
	) {
		const { context, hints, warnings, asked } = fakeN8n({
			http() {
				if (answer instanceof Error) throw answer;
				return { statusCode: 204, headers: answer, body: '' };
			},
			mode,
		});
		await warnOfCallbackUrls(context, urls, { here: HERE, callbackSecret });
		expect(hints.filter(({ type }) => type !== 'warning')).toEqual([]);
		return { sent: asked, said: [...warnings, ...hints.map(({ message }) => message)] };
	}
	const NOT_THERE = 'No published workflow listens at the Callback URL';

	test('is named by a question that starts nothing and carries no key', async () => {
		const { sent, said } = await warned([undefined, OWN]);
		expect(said).toEqual([expect.stringContaining(NOT_THERE)]);
		expect(sent).toMatchObject([{ method: 'OPTIONS', url: OWN, headers: { Origin: HERE } }]);
		expect(JSON.stringify(sent)).not.toMatch(/authorization/i);
	});

	test('is named in the log once, and asked once, outside of the editor', async () => {
		const url = own();
		const mode = 'trigger';
		expect((await warned([url], { mode })).said).toEqual([expect.stringContaining(NOT_THERE)]);
		expect(await warned([url.replace('=1', '=2')], { mode })).toEqual({ sent: [], said: [] });
		const { said } = await warned([own()], { mode, answer: listening('OPTIONS, POST') });
		expect(said).toEqual([]);
	});

	test.each<[string, string, Setting, asked: number, said: RegExp | undefined]>([
		['can not be reached', OWN, { answer: new Error('connect ECONNREFUSED') }, 1, undefined],
		['has a proxy that answers for it', OWN, { answer: listening('GET, HEAD') }, 1, undefined],
		['has a proxy that says nothing', OWN, { answer: {} }, 1, undefined],
		['is of another host', OTHER, {}, 0, undefined],
		['has another kind of path', `${HERE}/webhook/mine`, {}, 0, undefined],
		['is no URL', 'somewhere', {}, 0, undefined],
		[
			'of another host would go without a signature',
			OTHER,
			{ callbackSecret: 'a long enough secret' },
			0,
			/^The Callback URL is not signed.*set N8N_WEBHOOK_URL/,
		],
	])('one that %s', async (_name, url, setting, asked, words) => {
		const { sent, said } = await warned([url], setting);
		expect(sent).toHaveLength(asked);
		expect(said).toEqual(words === undefined ? [] : [expect.stringMatching(words)]);
	});

	test.each([
		[[OWN, TEST, undefined], 'it.'],
		[[TEST, TEST, OWN], 'it, but 2 tasks use it.'],
	])('nor can a Test URL be relied on: %j', async (urls, words) => {
		const { said } = await warned(urls, { mode: 'trigger', answer: {} });
		expect(said).toEqual([expect.stringContaining(`while the editor listens for ${words}`)]);
	});
});
