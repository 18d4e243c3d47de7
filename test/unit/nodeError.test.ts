/** Failures as n8n shows them: thrown, as an item, and as an item that a sleeping execution keeps. */
import type { IExecuteFunctions, INode, NodeApiError } from 'n8n-workflow';
import { nodeError, plainFailureItem } from '../../nodes/MediaGeneration/delivery/failure';
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

describe('thrown', () => {
	test('without an HTTP status it names none', () => {
		const { httpStatus: _none, ...unsent } = failure;
		expect((nodeError(node(), { failure: unsent, index: 0 }) as NodeApiError).httpCode).not.toMatch(
			/\d|undefined/,
		);
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
