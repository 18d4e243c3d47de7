/** What an execution can be found by: task IDs, credits and the worst outcome, within n8n's limits. */
import type { IExecuteFunctions, IWebhookFunctions } from 'n8n-workflow';
import {
	noteExecution,
	noteWaking,
	outcomesIn,
	type RunOutcome,
} from '../../nodes/MediaGeneration/delivery/hint';

/** An execution with n8n's own limits: longer values are cut off, and more than ten keys are not kept. */
function execution() {
	const kept: Record<string, string> = {};
	const flow = {};
	const context = {
		getContext: () => flow,
		customData: {
			getAll: () => ({ ...kept }),
			setAll(values: Record<string, string>) {
				for (const [key, value] of Object.entries(values)) {
					expect(key).toMatch(/^\w{1,50}$/);
					kept[key] = value.slice(0, 255);
				}
			},
		},
	} as unknown as IExecuteFunctions;
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
	expect(kept).toEqual({
		media_task_ids: 'a,b,c',
		media_credits: '3.3',
		media_outcome: 'timed_out',
	});
});

test('a later try of a run replaces the earlier one', () => {
	const { kept, run } = execution();
	run('Speak:0', ['a'], 2, 'unreachable');
	run('Speak:0', ['a', 'b'], 4, 'done');
	expect(kept).toEqual({ media_task_ids: 'a,b', media_credits: '4', media_outcome: 'done' });
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
});

test.each([
	['without such values', {}],
	[
		'that refuses them',
		{
			get customData(): never {
				throw new Error('Cannot access customData');
			},
		},
	],
])('an n8n %s runs as ever', (_, context) => {
	expect(() =>
		noteExecution(context as unknown as IExecuteFunctions, 'Speak:0', {
			taskIds: ['a'],
			credits: 1,
			outcome: 'done',
		}),
	).not.toThrow();
});

test('what an item has come to, by what it carries', () => {
	const items = [
		{ status: 'done' },
		{ timed_out: true },
		{ error: 'x', outcome: 'unreachable' },
		{ error: 'x', details: { outcome: 'failed' } },
		{ outcome: 'the service has a field of that name' },
	];
	expect(outcomesIn(items.map((json) => ({ json })))).toEqual([
		'done',
		'timed_out',
		'unreachable',
		'failed',
		'done',
	]);
});
