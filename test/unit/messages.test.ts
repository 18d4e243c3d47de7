/**
 * Messages that no other test provokes: each says what happened, and its description what to do next. What somebody reads is part
 * of what is promised.
 */
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeParameters,
} from 'n8n-workflow';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { FILE, host, partial, rangeStart, type Served } from './scriptedHost';
import { runOperation } from '../../nodes/MediaGeneration/run';
import { readCreation } from '../../nodes/MediaGeneration/create/creation';
import { answer } from '../support/replies';

interface Given {
	parameters: INodeParameters;
	items?: INodeExecutionData[];
	/** What the service answers to every request. */
	body?: unknown;
	status?: number;
}

/** Runs the node on one item, and returns what it throws. */
async function errorOf({ parameters, items = [{ json: {} }], body, status = 200 }: Given) {
	const fields: INodeParameters = { voiceId: 'v', ...parameters };
	const context = {
		getNode: () => ({ id: 'n', name: 'Media', type: 'x', parameters: {} }),
		getMode: () => 'manual',
		getInputData: () => items,
		getNodeParameter: (name: string, _: number, fallback?: unknown) => fields[name] ?? fallback,
		getCredentials: async () =>
			await Promise.resolve({ apiKey: 'sk_0123456789', baseUrl: 'https://api.example' }),
		getExecutionCancelSignal: () => undefined,
		getExecutionId: () => '1',
		getContext: () => ({}),
		evaluateExpression: () => 0,
		continueOnFail: () => false,
		logger: { info() {}, warn() {} },
		helpers: {
			httpRequestWithAuthentication: async () =>
				await Promise.resolve({ statusCode: status, headers: {}, body: JSON.stringify(body) }),
		},
	};
	const thrown: unknown = await runOperation(context as unknown as IExecuteFunctions).then(
		() => undefined,
		(error: unknown) => error,
	);
	if (!(thrown instanceof Error)) throw new Error('nothing was thrown');
	return thrown as Error & { description?: string };
}

const speech = { resource: 'speech', operation: 'generateByVoiceId', text: 'Hello' };
const wait = { resource: 'task', operation: 'wait', taskId: 't' };
const binary = { music: { data: '', mimeType: 'audio/mpeg' } };

const errors: Array<[string, Given, string, RegExp]> = [
	[
		'an operation that is not there',
		{ parameters: { resource: 'speech', operation: 'sing' } },
		'There is no operation "sing" of the resource "speech"',
		/Choose Resource and Operation again .*speech: generateByVoiceId/,
	],
	[
		'a long text of spaces',
		{ parameters: { ...speech, longText: 'join', options: { extraFields: '{"text": " "}' } } },
		'The field "Text" has nothing to speak',
		/^Fill in "Text"/,
	],
	[
		'parts that are to be slept on',
		{ parameters: { ...speech, longText: 'parts', waitMode: 'callback' } },
		'"Long Text: One Item per Part" can\'t be suspended: a sleeping execution goes on with exactly one item per input item',
		/Set "Long Text" to "Join Into One File", or "Wait Mode" to "Poll". Nothing was sent./,
	],
	[
		'a text that is an object',
		{ parameters: { ...speech, text: { a: 1 } } },
		'The field "Text" is not a text',
		/^Give "Text" a text\. An expression must lead to a text, not to an object or a list\.$/,
	],
	[
		'a body that is a list',
		{ parameters: { ...speech, options: { extraFields: '[1]' } } },
		'The option "Extra Body Fields" is not a JSON object',
		/^Enter an object in braces, e\.g\. .*, not a list, a text or a number\.$/,
	],
	[
		'a body that is not JSON',
		{ parameters: { ...speech, options: { extraFields: '{a: 1}' } } },
		'The option "Extra Body Fields" is not valid JSON',
		/^Enter a JSON object, e\.g\. .*\. Names and texts need double quotes\.$/,
	],
	[
		'a limit of credits that is none',
		{ parameters: { ...speech, options: { maximumCredits: 'ten' } } },
		'The option "Max Credits" must be a number of at least 0',
		/^Set "Max Credits" to a number, or remove the option to create tasks without this limit\. Nothing was sent\.$/,
	],
	[
		'joined without waiting',
		{ parameters: { ...speech, longText: 'join', waitForCompletion: false } },
		'"Long Text: Join Into One File" needs to wait for its parts',
		/^Turn "Wait for Completion" on, or set "Long Text" to "One Item per Part" or "Off"\./,
	],
	[
		'joined without files',
		{ parameters: { ...speech, longText: 'join', downloadOutput: false } },
		'"Long Text: Join Into One File" needs the files of its parts',
		/^Turn "Download Output" on, or set "Long Text" to "One Item per Part"\./,
	],
	[
		'a body without end',
		{
			parameters: {
				...speech,
				options: { extraFields: '{"a":'.repeat(101) + '1' + '}'.repeat(101) },
			},
		},
		'The option "Extra Body Fields" is nested deeper than 100 levels',
		/^Enter a flatter JSON object\.$/,
	],
	[
		'audio that is none',
		{
			parameters: { resource: 'audio', operation: 'join', inputBinaryField: 'music' },
			items: [{ json: {}, binary: { music: { ...binary.music, data: 'aGVsbG8=' } } }],
		},
		"The audio can't be joined: Item 0 can't be joined: it is not an MP3 or WAV file.",
		/^Joining takes MP3 files, or WAV files, that all have the same format and fit into Max File Size\. Convert those that differ, or join them apart with Group By\.$/,
	],
	[
		'an item that failed before, and has no task',
		{ parameters: wait, items: [{ json: { outcome: 'rejected' } }] },
		'The item failed in a node before this one (rejected)',
		/^No task of this item is known, so there is nothing to wait for. See the node that made it.$/,
	],
	[
		'an item whose task failed before',
		{
			parameters: wait,
			items: [{ json: { outcome: 'failed', error: 'Task t failed: too loud', task_id: 't' } }],
		},
		'Task t failed: too loud',
		/^The service ended this task with an error. .* that makes a new task.$/,
	],
	[
		'a balance that is none',
		{ parameters: { ...speech, options: { minimumCredits: 5 } }, body: { success: true } },
		'The credit balance could not be read, so nothing was created: /v1/credits could not be read: the answer holds no balance',
		/^Run again later, or remove the option Min Credits.$/,
	],
	[
		'keys in another shape',
		{ parameters: { resource: 'apiKey', operation: 'getAll' }, body: { success: true } },
		'/v1/api-keys could not be read: the answer has an unexpected shape',
		/^Check the Base URL in the credential and whether the service is up, then run again. Nothing was paid.$/,
	],
	[
		'an answer without words',
		{ parameters: { resource: 'credits', operation: 'get' }, status: 418 },
		'/v1/credits could not be read: HTTP 418 without a usable answer',
		/whether the service is up/,
	],
	[
		'no audio in the field',
		{
			parameters: { resource: 'audio', operation: 'join', inputBinaryField: 'data' },
			items: [{ json: {}, binary }],
		},
		'Item 0 has no binary field "data"',
		/^Set Input Binary Field to one of those that the item has: music.$/,
	],
];

test.each(errors)('%s', async (_, given, message, next) => {
	const { message: said, description } = await errorOf(given);
	expect(said).toBe(message);
	expect(description).toMatch(next);
});

test.each([
	[402, 'The account seems to be out of credits. Add credits at the service.'],
	[413, 'The input is too large for the service. Shorten it.'],
	[422, 'Correct the fields that the message names.'],
])('a creation that is refused with %d says what to do', (status, advice) => {
	const creation = readCreation(answer(status, { error: 'no' }), 0);
	if (creation.kind !== 'failed') throw new Error(creation.kind);
	expect(creation.failure.message).toBe(`The service refused the task (HTTP ${status}: no)`);
	expect(creation.failure.description).toBe(`${advice} No task was created and nothing was paid.`);
});

test('a refusal that names a task somewhere in its depth', () => {
	const body: IDataObject = { error: 'slow', tasks: [{ task_id: 't' }] };
	const creation = readCreation(answer(409, body), 0);
	expect(creation).toMatchObject({
		failure: {
			outcome: 'unknown',
			message:
				'The service refused the request (HTTP 409: slow) but named a task (see its answer); it may exist',
		},
	});
});

test('the test of the credential tells a limit from a wrong key', () => {
	const { rules } = new MediaGenerationApi().test;
	const byStatus = (rules ?? []).flatMap(({ type, properties }) =>
		type === 'responseCode' ? [properties] : [],
	);
	expect(byStatus.find(({ value }) => value === 429)?.message).toBe(
		'The service takes no requests with this key at the moment: its daily limit may be reached. Try again later',
	);
	expect(byStatus.find(({ value }) => value === 401)?.message).toMatch(
		/does not accept this API key/,
	);
});

describe('files', () => {
	const asked = (serve: Parameters<typeof host>[0]) => host(serve).run();

	test('a host that stops in the middle, each time', async () => {
		await expect(asked(() => ({ stallAfter: 10_000 }))).rejects.toThrow(
			'the file host stopped sending',
		);
	});

	const failing = (count: number): Served =>
		count === 1 ? { breakAfter: 100_000 } : { status: 503, body: Buffer.alloc(0) };
	test.each<[string, (start: number) => Served]>([
		['at another place', (start) => partial(start + 5, { breakAfter: 0 })],
		[
			'with other bytes',
			(start) => ({ ...partial(start), body: Buffer.alloc(FILE.length - start) }),
		],
		[
			'as if it were shorter',
			() => ({ status: 416, body: Buffer.alloc(0), headers: { 'content-range': 'bytes */7' } }),
		],
	])('a host that goes on %s, when nothing more is tried', async (_, last) => {
		const download = asked((headers, count) =>
			count < 5 ? failing(count) : last(rangeStart(headers)),
		);
		await expect(download).rejects.toThrow('the file host did not continue the file');
	});
});
