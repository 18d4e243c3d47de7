/** Failures as n8n shows them: thrown, as an item, and as an item that a sleeping execution keeps. */
import { NodeOperationError, type INode, type NodeApiError } from 'n8n-workflow';
import {
	failureItem,
	nodeError,
	plainFailureItem,
} from '../../nodes/MediaGeneration/items/nodeError';
import { failureIn } from '../../nodes/MediaGeneration/items/shownItem';
import type { Failure } from '../../nodes/MediaGeneration/base/outcomes';

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
	test('what it says to do is text, where the editor renders HTML', () => {
		const description = 'Open <a href="https://f.example/?a=1&b=2">it</a>.';
		const { message } = failure;
		for (const outcome of ['undelivered', 'invalid'] as const) {
			const error = nodeError(node(), { failure: { outcome, message, description }, index: 0 });
			expect(error.description).toBe(
				'Open &lt;a href="https://f.example/?a=1&amp;b=2"&gt;it&lt;/a&gt;.',
			);
		}
	});

	test('its message stays, also when n8n makes the error of a tool out of it', () => {
		const error = nodeError(node(), { failure, index: 0 });
		const shown = 'Task t exists, but the connection was closed (the connection was reset)';
		expect(error.message).toBe(shown);
		expect(new NodeOperationError(node(), error as Error).message).toBe(shown);
		expect(new NodeOperationError(node(), shown).message).toBe(shown);
	});

	test('without an HTTP status it names none', () => {
		const { httpStatus: _none, ...unsent } = failure;
		expect((nodeError(node(), { failure: unsent, index: 0 }) as NodeApiError).httpCode).not.toMatch(
			/\d|undefined/,
		);
	});
});

describe('as an item', () => {
	const shown = (onError?: INode['onError']) =>
		failureItem(node(onError), { failure, index: 0 }).json;
	const { message: error, description } = failure;
	const record = { error, description, outcome: 'unreachable', task_id: 't', status: 'doing' };

	test('it says what there is to say', () => {
		expect(shown('continueRegularOutput')).toEqual({ ...record, http_status: 401 });
	});

	test('its words are one line, without markup', () => {
		const foreign = { ...failure, message: 'a\r\n<b>', description: 'c\u001b <d>' };
		const { json } = failureItem(node(), { failure: foreign, index: 0 });
		expect(json).toMatchObject({ error: 'a ‹b›', description: 'c  ‹d›' });
	});

	const NONE = { task_ids: null, unfinished: null };

	test('where n8n fills up what it does not name, it names what Task: Wait reads, and no more', () => {
		const all = { ...record, http_status: 401, ...NONE };
		expect(shown('continueErrorOutput')).toEqual(all);
		const part = { ...failure, parts: { taskIds: ['t'], part: undefined, longText: undefined } };
		const ofText = failureItem(node('continueErrorOutput'), { failure: part, index: 0 }).json;
		const noParts = { part: null, parts: null, long_text: null };
		expect(ofText).toEqual({ ...all, ...noParts, task_ids: ['t'] });
		const item = failureItem(node('continueErrorOutput'), { failure, index: 0 });
		const asleep = plainFailureItem(node('continueErrorOutput'), item).json;
		expect(asleep).toEqual({ error, details: all });
		const merged = { ...asleep, outcome: 'failed', task_id: 'a' };
		expect(failureIn(merged)).toEqual({ ...failure, candidates: undefined, parts: undefined });
	});
});

describe('as an item that a sleeping execution keeps', () => {
	const item = { json: { error: 'No', outcome: 'failed', task_id: 't' }, pairedItem: { item: 1 } };

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
