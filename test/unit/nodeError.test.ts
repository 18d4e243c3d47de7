/** Failures as n8n shows them: thrown, as an item, and as an item that a sleeping execution keeps. */
import type { IExecuteFunctions, INode, NodeApiError } from 'n8n-workflow';
import {
	failureItem,
	nodeError,
	plainFailureItem,
	type Left,
} from '../../nodes/MediaGeneration/delivery/failure';
import { showHint } from '../../nodes/MediaGeneration/delivery/hint';
import type { Failure } from '../../nodes/MediaGeneration/service/failures';

const node = (onError?: INode['onError']) => ({ name: 'Media', onError }) as INode;
const failure: Failure = {
	outcome: 'unreachable',
	message: 'Task t exists, but the connection was closed (ECONNRESET)',
	description: 'Try again.',
	taskId: 't',
	status: 'doing',
	httpStatus: 401,
};
const left = (parts: Partial<Left>): Left => {
	return { taskIds: [], unclearItems: [], namedTaskIds: [], ...parts };
};

describe('thrown', () => {
	test('without an HTTP status it names none', () => {
		const { httpStatus: _none, ...unsent } = failure;
		expect((nodeError(node(), unsent, 0) as NodeApiError).httpCode).not.toMatch(/\d|undefined/);
	});

	test.each<[string, Partial<Left>, string]>([
		['nothing', {}, ''],
		[
			'tasks that can still be used',
			{ taskIds: ['a', 'b'] },
			' Task IDs of this run that are paid for and still of use: a, b. "Task: Wait" fetches their results.',
		],
		[
			'items whose tasks may exist',
			{ unclearItems: [0, 2] },
			' The tasks of items 0, 2 may exist and be paid for, as the answers to their creation never came: check at the service.',
		],
		[
			'all of it, and tasks that an unclear answer has named',
			{ taskIds: ['a'], unclearItems: [1], namedTaskIds: ['c', 'd'] },
			' The tasks of items 1 may exist and be paid for, as the answers to their creation never came: check at the service. It named: c, d. Task IDs of this run that are paid for and still of use: a. "Task: Wait" fetches their results.',
		],
	])('the description names what the run leaves behind: %s', (_name, parts, words) => {
		const { description } = nodeError(node(), failure, 0, left(parts));
		expect(description).toBe(`Try again.${words}`);
	});
});

describe('as an item', () => {
	const json = {
		error: failure.message,
		outcome: 'unreachable',
		task_id: 't',
		status: 'doing',
		http_status: 401,
	};

	test('files that came all the same come with it', () => {
		const outputs = [{ url: 'https://files.example/a', kind: 'audio' as const }];
		const binary = { data: { data: 'x', mimeType: 'a/b' } };
		const item = failureItem(node(), failure, 0, { outputs, binary });
		expect(item).toEqual({ json: { ...json, outputs }, binary, pairedItem: { item: 0 } });
		expect(failureItem(node(), failure, 0, { outputs })).not.toHaveProperty('binary');
	});
});

describe('as an item that a sleeping execution keeps', () => {
	const item = { json: { error: 'No', outcome: 'failed', task_id: 't' }, pairedItem: { item: 1 } };

	test('its fields lie in `details` where failures have a branch of their own', () => {
		expect(plainFailureItem(node('continueErrorOutput'), item)).toEqual({
			json: { error: 'No', details: { outcome: 'failed', task_id: 't' } },
			pairedItem: { item: 1 },
		});
	});

	test.each<[string, INode['onError'], object]>([
		['where failures go on with the others', 'continueRegularOutput', item.json],
		['without an error', 'continueErrorOutput', { outcome: 'failed', task_id: 't' }],
		[
			'with an outcome that is none of ours',
			'continueErrorOutput',
			{ error: 'x', outcome: 'lost' },
		],
		['with an error that is no text', 'continueErrorOutput', { error: {}, outcome: 'failed' }],
	])('%s it stays as it is', (_name, onError, json) => {
		const given = { ...item, json: { ...json } };
		expect(plainFailureItem(node(onError), given)).toEqual(given);
	});
});

test('a hint is shown above the output, where n8n has hints', () => {
	const hints: unknown[] = [];
	const context = { addExecutionHints: (hint: unknown) => hints.push(hint) };
	showHint(context as unknown as IExecuteFunctions, 'warning', 'Look out');
	expect(hints).toEqual([{ type: 'warning', location: 'outputPane', message: 'Look out' }]);
	expect(() => showHint({} as IExecuteFunctions, 'info', 'Look out')).not.toThrow();
});
