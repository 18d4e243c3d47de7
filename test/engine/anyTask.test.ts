/** "Task: Create": any endpoint of the service, with all rules of waiting, delivery and paying. */
import type { INodeParameters } from 'n8n-workflow';
import { again, engineSetting, goOn, SECRET } from './setting';

const setting = engineSetting();

const MUSIC = '/v1m/task/music-generation';
const music = (fields: INodeParameters = {}): INodeParameters => ({
	resource: 'task',
	operation: 'create',
	path: MUSIC,
	body: '{"prompt": "A slow waltz"}',
	...fields,
});

const creations = () => setting.service.requests.filter(({ route }) => route === 'create');

describe('the request', () => {
	test('path, query and body go out as they were given, and empty objects stay', async () => {
		const { error } = await setting.run({
			parameters: {
				resource: 'task',
				operation: 'create',
				path: '/v1/text-to-speech/a voice',
				query: '{"output_format": "mp3_44100_128"}',
				body: '{"text": "Hello", "voice_settings": {}, "note": null}',
				downloadOutput: false,
			},
		});
		expect(error).toBeUndefined();
		const [request] = creations();
		expect(request?.method).toBe('POST');
		expect(request?.url).toBe('/v1/text-to-speech/a%20voice?output_format=mp3_44100_128');
		expect(request?.body).toEqual({ text: 'Hello', voice_settings: {}, note: null });
		expect(request?.headers.authorization).toBe(`Bearer ${setting.service.apiKey}`);
	});

	test('expressions may lead to objects, and Extra Body Fields are merged in', async () => {
		await setting.run({
			items: [{ fields: { prompt: 'A waltz', style: { tempo: 'slow' } } }],
			parameters: music({
				body: '={{ $json.fields }}',
				downloadOutput: false,
				options: { extraFields: '{"style": {"key": "D"}}' },
			}),
		});
		expect(setting.bodies()).toEqual([{ prompt: 'A waltz', style: { tempo: 'slow', key: 'D' } }]);
	});

	test('without waiting: the answer goes out, and the callback URL is signed', async () => {
		const { output } = await setting.run({
			parameters: music({
				waitForCompletion: false,
				callbackUrl: `${setting.service.otherUrl}/webhook/abc/callback`,
				options: { callbackReference: 'waltz 1' },
			}),
			credentials: { callbackSecret: SECRET },
		});
		const url = new URL(setting.bodies()[0]?.receive_url as string);
		expect(url.searchParams.get('reference')).toBe('waltz 1');
		expect(url.searchParams.get('signature')).toMatch(/^[0-9a-f]{64}$/);
		expect(output[0]?.json.task_id).toBe(setting.service.creations('music')[0]?.id);
	});
});

test('waits, delivers the file, and takes neither the stream nor what was sent for a result', async () => {
	const { output, error } = await setting.run({
		parameters: music({
			body: JSON.stringify({
				prompt: 'A waltz',
				source: 'https://files.example/mine.mp3',
				stand_in: { metadata: { copy_url: 'https://files.example/mine.mp3' } },
			}),
		}),
	});
	expect(error).toBeUndefined();
	expect(output).toHaveLength(1);
	expect(output[0]?.json).toMatchObject({
		status: 'done',
		type: 'music_generation',
		outputs: [{ kind: 'audio', binaryProperty: 'data', mimeType: 'audio/wav' }],
	});
	expect(output[0]?.json.outputs).toHaveLength(1);
	expect(output[0]?.binary?.data?.fileExtension).toBe('wav');
});

test('an address that the query carried is not a result either', async () => {
	const [sent, made] = ['https://files.example/mine.mp3', 'https://files.example/dubbed.mp3'];
	const metadata = { copy_url: sent, audio_url: made };
	const body = { id: 'x', status: 'done', metadata };
	setting.service.faults.add({ route: 'poll', action: { type: 'status', status: 200, body } });
	const { output } = await setting.run({
		parameters: music({ query: JSON.stringify({ from: sent }), downloadOutput: false }),
	});
	expect(output[0]?.json.outputs).toEqual([{ url: made, kind: 'audio' }]);
});

describe('bad input is refused before anything is sent', () => {
	test.each<[string, INodeParameters, RegExp]>([
		['no path', { path: '={{ "" }}' }, /"Path" is empty/],
		['a path with a host', { path: 'https://elsewhere.example/v1' }, /does not begin with a slash/],
		['a path without a slash', { path: 'v1m/task' }, /does not begin with a slash/],
		['a path that climbs', { path: '/v1/../admin' }, /the part "\.\."/],
		['a path with a query', { path: '/v1/task?x=1' }, /a question mark/],
		['a path that is not a text', { path: '={{ $json }}' }, /"Path" is not a text/],
		['a body that is not JSON', { body: '{prompt: 1}' }, /field "Body" is not valid JSON/],
		['a body that is a list', { body: '[1]' }, /field "Body" is not a JSON object/],
		['a body that is a text', { body: '"x"' }, /field "Body" is not a JSON object/],
		[
			'a body without bottom',
			{ body: '{"a":'.repeat(120) + '1' + '}'.repeat(120) },
			/field "Body" is nested deeper than 100 levels/,
		],
		['a query that is not JSON', { query: 'a=b' }, /field "Query" is not valid JSON/],
		['a query that is a number', { query: '={{ 7 }}' }, /field "Query" is not a JSON object/],
	])('%s', async (_, fields, message) => {
		const parameters = music(fields);
		const { error } = await setting.run({ parameters });
		expect(error?.message).toMatch(message);
		expect(error?.description).toBeTruthy();
		const { output } = await setting.run({ parameters, settings: goOn });
		expect(output[0]?.json).toEqual({ error: error?.message, outcome: 'invalid' });
		expect(setting.service.requests).toHaveLength(0);
	});
});

describe('what can go wrong', () => {
	const items = [
		{ name: 'rejected', path: MUSIC, body: { style: 'none' } },
		{ name: 'rejected', path: '/v1x/task/nothing', body: { prompt: 'x' } },
		{ name: 'unknown', path: MUSIC, body: { prompt: 'unclear' } },
		{ name: 'failed', path: MUSIC, body: { prompt: 'x', stand_in: { end: 'error' } } },
		{ name: 'timed_out', path: MUSIC, body: { prompt: 'x', stand_in: { never_ends: true } } },
		{ name: 'undelivered', path: MUSIC, body: { prompt: 'x', stand_in: { file_status: 404 } } },
		{ name: undefined, path: MUSIC, body: { prompt: 'x' } },
	];

	test('each item has its outcome', async () => {
		setting.service.faults.add({
			route: 'create',
			skip: 1,
			times: 1,
			action: { type: 'processThenStatus', status: 502 },
		});
		const { output } = await setting.run({
			items,
			parameters: music({
				path: '={{ $json.path }}',
				body: '={{ $json.body }}',
				options: { timeout: 2, maxActiveTasks: 1 },
			}),
			settings: goOn,
		});
		expect(output.map(({ json }) => json.outcome)).toEqual(items.map(({ name }) => name));
		expect(output[1]?.json.http_status).toBe(404);
		expect(output.slice(3, 6).every(({ json }) => typeof json.task_id === 'string')).toBe(true);
	});

	test('an endpoint that makes no task: what was paid is unknown, and nothing is sent again', async () => {
		setting.service.faults.add({
			route: 'create',
			action: { type: 'status', status: 200, body: { success: true, credits: 12 } },
		});
		const { error } = await setting.run({ parameters: music(), settings: again });
		expect(error?.message).toMatch(/an answer without task_id; the task may exist/);
		expect(creations()).toHaveLength(1);
	});

	test('a 404 names the path among the reasons', async () => {
		const { error } = await setting.run({ parameters: music({ path: '/v1x/task/nothing' }) });
		expect(error?.description).toMatch(/the path, voice or model named in the node/);
	});
});

test('Retry On Fail takes up what was paid for', async () => {
	setting.service.faults.add({
		host: 'files',
		times: 4,
		action: { type: 'status', status: 500 },
	});
	const { output, error } = await setting.run({ parameters: music(), settings: again });
	expect(error).toBeUndefined();
	expect(output[0]?.json.status).toBe('done');
	expect(setting.service.creations()).toHaveLength(1);
});

test('as a tool of an agent the model can fill path and body in', async () => {
	const { answers } = await setting.runTool({
		parameters: music({
			path: "={{ $fromAI('path', 'Endpoint', 'string') }}",
			body: "={{ $fromAI('body', 'Fields', 'json') }}",
		}),
		calls: [{ path: MUSIC, body: { prompt: 'A waltz' } }],
	});
	expect(answers).toMatchObject([{ ok: true }]);
	expect(setting.bodies()).toEqual([{ prompt: 'A waltz' }]);
});
