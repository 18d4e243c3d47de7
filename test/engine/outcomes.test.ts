/** Every outcome (README, "When something goes wrong"), in the three ways that n8n lets a node fail. One item for each, told apart by its voice. */
import type { INodeExecutionData } from 'n8n-workflow';
import { engineSetting, goOn } from './setting';

const setting = engineSetting();

const items: Array<Record<string, unknown> & { voice: string }> = [
	{ voice: 'done' },
	{ voice: 'invalid', text: '' },
	{ voice: 'rejected' },
	{ voice: 'unknown' },
	{ voice: 'failed', stand_in: { end: 'error', error_message: 'no such voice' } },
	{ voice: 'timed_out', stand_in: { never_ends: true }, timeout: 1 },
	{ voice: 'unreachable', route: 'v1e' },
	{ voice: 'undelivered', stand_in: { file_status: 404 } },
];
const parameters = {
	resource: 'speech',
	operation: 'generateByVoiceId',
	voiceId: '={{ $json.voice }}',
	text: '={{ $json.text ?? "Hello" }}',
	options: {
		extraFields: '={{ { stand_in: $json.stand_in ?? {} } }}',
		timeout: '={{ $json.timeout ?? 600 }}',
		pollRoute: '={{ $json.route ?? "v1" }}',
	},
};

beforeEach(() => {
	const { faults } = setting.service;
	faults.add({
		route: 'create',
		path: '/rejected',
		action: { type: 'status', status: 422, body: { success: false, error: 'bad voice' } },
	});
	faults.add({
		route: 'create',
		path: '/unknown',
		action: { type: 'processThenStatus', status: 502, body: '<html>Bad gateway</html>' },
	});
	faults.add({
		route: 'poll',
		path: '/v1e/task/',
		action: { type: 'status', status: 401, body: { success: false, error: 'API key expired' } },
	});
});

const taskOf = (voice: string) =>
	setting.service.creations(({ params }) => params.voice_id === voice)[0]?.id;

/** What the JSON of each failed item must be. */
function expected(): Array<[string, object, RegExp]> {
	const task = (voice: string, more: object = {}) => ({ task_id: taskOf(voice), ...more });
	return [
		['invalid', {}, /^The field "Text" is empty$/],
		['rejected', { http_status: 422 }, /^The service refused the task \(HTTP 422: bad voice\)$/],
		['unknown', { http_status: 502 }, /^The service failed .*\(HTTP 502\); the task may exist$/],
		['failed', task('failed', { status: 'error' }), /^Task .* failed: no such voice$/],
		['timed_out', task('timed_out', { status: 'doing' }), /was not finished after 1 s/],
		[
			'unreachable',
			task('unreachable', { http_status: 401 }),
			/^Task .* exists, but the service refused to show it \(HTTP 401\)/,
		],
		['undelivered', task('undelivered', { status: 'done' }), /^Task .* is done, but its file/],
	];
}

function expectFailures(output: INodeExecutionData[], own: object[] = []) {
	expect(output).toHaveLength(expected().length);
	for (const [index, [outcome, fields, message]] of expected().entries()) {
		const { error, outputs, ...json } = output[index]?.json ?? {};
		expect(json).toEqual({ ...own[index], outcome, ...fields });
		expect(error).toMatch(message);
		expect(Array.isArray(outputs)).toBe(outcome === 'undelivered');
		expect(output[index]?.pairedItem).toMatchObject({ item: index + 1 });
	}
	// Paid are all but the invalid and the rejected one, each once.
	expect(setting.service.creations()).toHaveLength(items.length - 2);
	expect(setting.service.requests.filter(({ route }) => route === 'create')).toHaveLength(
		items.length - 1,
	);
}

test('Continue On Fail: failed items keep their positions, with the documented fields', async () => {
	const { output, error } = await setting.run({ items, parameters, settings: goOn } as Parameters<
		typeof setting.run
	>[0]);
	expect(error).toBeUndefined();
	expect(output[0]?.json).toMatchObject({ status: 'done', task_id: taskOf('done') });
	expectFailures(output.slice(1));
});

test('the error branch keeps outcome and task_id of every failed item', async () => {
	const { output, errorOutput, error } = await setting.run({
		items,
		parameters,
		settings: { onError: 'continueErrorOutput' },
	} as Parameters<typeof setting.run>[0]);
	expect(error).toBeUndefined();
	expect(output.map(({ json }) => json.task_id)).toEqual([taskOf('done')]);
	// n8n itself merges the input's JSON in on this branch.
	expectFailures(errorOutput, items.slice(1));
});
