/** No unclear creation hides behind another item's failure: error and log name the items whose tasks may exist, and the tasks of use. */
import type { FaultAction } from '../service';
import type { EngineResult } from './engine';
import { engineSetting, goOn } from './setting';

const setting = engineSetting();
const parameters = {
	resource: 'speech',
	operation: 'generateByVoiceId',
	voiceId: '={{ $json.voice }}',
	text: 'Hello',
	downloadOutput: false,
	options: { extraFields: '={{ { stand_in: $json.stand_in ?? {} } }}' },
};
const rejection: FaultAction = {
	type: 'status',
	status: 422,
	body: { success: false, error: 'bad voice' },
};

/** "item 1", "items 1, 3", "items 1 and 3", counted as n8n does, from 0. */
const item = (index: number) => new RegExp(`\\bitems? (\\d+(, | and ))*${index}\\b`);

const itemOf = (error: EngineResult['error']) =>
	(error?.context as { itemIndex?: number } | undefined)?.itemIndex;

beforeEach(() => {
	const { faults } = setting.service;
	faults.add({ route: 'create', path: '/rejected', action: rejection });
	faults.add({ route: 'create', path: '/unclear', action: { type: 'processThenReset' } });
	faults.add({ route: 'create', path: '/late', action: { type: 'processThenReset', ms: 1_200 } });
	faults.add({
		route: 'create',
		path: '/edge',
		action: { type: 'processThenStatus', status: 502 },
	});
});

const failures: Array<[string, Array<{ voice: string; stand_in?: object }>, RegExp, number[]]> = [
	['a refusal', [{ voice: 'rejected' }, { voice: 'unclear' }], /bad voice/, [1]],
	[
		'a refusal, while the unclear one is still under way',
		[{ voice: 'rejected' }, { voice: 'late' }],
		/bad voice/,
		[1],
	],
	[
		'a task that failed',
		[
			{ voice: 'fails', stand_in: { ms: 50, end: 'error', error_message: 'no luck' } },
			{ voice: 'late' },
		],
		/no luck/,
		[1],
	],
	[
		'another unclear one',
		[{ voice: 'unclear' }, { voice: 'good' }, { voice: 'late' }, { voice: 'late' }],
		/the task may exist/,
		[0, 2, 3],
	],
];

test.each(failures)('behind %s', async (_, items, message, unclear) => {
	const { error, logs } = await setting.run({ items, parameters });
	const { service } = setting;
	expect(error?.message).toMatch(message);
	const warnings = logs.filter((line) => /may exist/.test(line)).join('\n');
	expect(warnings).toMatch(/the run failed before the service had answered for items \d/);
	for (const index of unclear) {
		expect(warnings).toMatch(item(index));
		// The item that the error itself speaks of is named by n8n.
		if (itemOf(error) !== index) expect(error?.description).toMatch(item(index));
	}
	expect(`${error?.message} ${error?.description}`).toMatch(/may exist/);
	expect(service.creations()).toHaveLength(
		items.filter(({ voice }) => voice !== 'rejected').length,
	);
	for (const { id, params } of service.creations()) {
		if (params.voice_id !== 'good') continue;
		expect(error?.description).toContain(id);
		expect(logs.join('\n')).toContain(id);
	}
});

test('with the tasks that are of use: both are in the error and in the log', async () => {
	const { error, logs } = await setting.run({
		items: [
			{ voice: 'good', stand_in: { ms: 60_000 } },
			{ voice: 'edge' },
			{ voice: 'fails', stand_in: { ms: 50, end: 'error', error_message: 'no luck' } },
		],
		parameters,
	});
	const good = setting.service.creations(({ params }) => params.voice_id === 'good')[0]?.id;
	expect(error?.description).toContain(good);
	expect(error?.message).toMatch(/may exist/);
	expect(itemOf(error)).toBe(1);
	expect(logs.join('\n')).toContain(good);
	expect(logs.filter((line) => /may exist/.test(line)).join('\n')).toMatch(item(1));
});

test('with Continue On Fail: the item says it, and so does the log', async () => {
	const { output, logs } = await setting.run({
		items: [{ voice: 'good' }, { voice: 'unclear' }],
		parameters,
		settings: goOn,
	});
	expect(output[1]?.json.outcome).toBe('unknown');
	expect(logs).toContainEqual(
		expect.stringContaining(
			'the run ended before the service had answered for items 1; their tasks may exist and be paid for',
		),
	);
});
