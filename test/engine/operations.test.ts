/** Fields as n8n evaluates them: pickers, their lists, and what the model of an agent fills in. */
import { LoadOptionsContext } from 'n8n-core';
import {
	Workflow,
	type INodeListSearchResult,
	type INodeParameters,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { credentialsHelper, mediaGeneration, mediaNode, typesOf } from './engine';
import { engineSetting, goOn } from './setting';

const setting = engineSetting();

const speech = (fields: INodeParameters): INodeParameters => ({
	resource: 'speech',
	operation: 'generateByVoiceId',
	text: 'Hello',
	downloadOutput: false,
	...fields,
});
/** The ID of a voice of the usual provider, as the service's route has it. */
const usual = (voice: string) =>
	setting.service.settings.speechRoute === 'v3' ? `elevenlabs_${voice}` : voice;
const picked = (value: string, mode: 'id' | 'list' = 'id') => ({ __rl: true, mode, value });

describe('a voice and a model', () => {
	const isAsked = () => {
		const asked = setting.service.creations().map(({ params, body }) => ({ ...params, ...body }));
		expect(asked).toEqual([{ voice_id: usual('a voice'), text: 'Hello', model_id: 'eleven_v3' }]);
	};

	test.each<[string, INodeParameters]>([
		['by ID', { voiceId: picked('a voice'), modelId: picked('eleven_v3') }],
		['from the list', { voiceId: picked('a voice', 'list'), modelId: picked('eleven_v3', 'list') }],
		['by an expression', { voiceId: picked('={{ $json.voice }}'), modelId: picked('eleven_v3') }],
		[
			'by an expression in place of the picker',
			{ voiceId: '={{ $json.voice }}', modelId: 'eleven_v3' },
		],
		['as older workflows have it', { voiceId: 'a voice', modelId: 'eleven_v3' }],
	])('%s', async (_, fields) => {
		await setting.run({ items: [{ voice: 'a voice' }], parameters: speech(fields) });
		isAsked();
	});

	test('from the model of an agent', async () => {
		const fromAI = (name: string) => picked(`={{ $fromAI('${name}', 'Which one', 'string') }}`);
		const { answers } = await setting.runTool({
			parameters: speech({ voiceId: fromAI('voice'), modelId: fromAI('model') }),
			calls: [{ voice: 'a voice', model: 'eleven_v3' }],
		});
		expect(answers).toMatchObject([{ ok: true }]);
		isAsked();
	});
});

test('Task: Create takes path and body from the model of an agent', async () => {
	const { answers } = await setting.runTool({
		parameters: {
			resource: 'task',
			operation: 'create',
			path: "={{ $fromAI('path', 'Endpoint', 'string') }}",
			body: "={{ $fromAI('body', 'Fields', 'json') }}",
		},
		calls: [{ path: '/v1m/task/music-generation', body: { prompt: 'A waltz' } }],
	});
	expect(answers).toMatchObject([{ ok: true }]);
	expect(setting.bodies()).toEqual([{ prompt: 'A waltz' }]);
});

describe('From List', () => {
	/** Calls one of the node's list searches as n8n's server does. */
	async function list(name: string, filter?: string): Promise<INodeListSearchResult> {
		const { apiKey, baseUrl } = setting.service;
		const node = mediaNode({ parameters: {} });
		const nodeTypes = typesOf({ mediaGeneration });
		const workflow = new Workflow({ nodes: [node], connections: {}, active: false, nodeTypes });
		const additionalData = {
			credentialsHelper: credentialsHelper({ apiKey, baseUrl }),
			currentNodeParameters: {},
		} as unknown as IWorkflowExecuteAdditionalData;
		const context = new LoadOptionsContext(workflow, node, additionalData, '');
		const { [name]: search } = mediaGeneration.methods?.listSearch ?? {};
		return (await search?.call(context, filter)) ?? { results: [] };
	}

	test('a picked voice speaks', async () => {
		const { results } = await list('searchVoices', 'Voice 7 ');
		const voiceId = picked(String(results[0]?.value), 'list');
		await setting.run({ parameters: speech({ voiceId }) });
		const [{ body, params } = {}] = setting.service.creations();
		expect(body?.voice_id ?? params?.voice_id).toBe(usual('voice-00007'));
	});
});

describe('what is read to fill other nodes', () => {
	// One provider, whatever the profile.
	beforeEach(() => (setting.service.settings.speechRoute = 'v1'));

	const voices = async (fields: INodeParameters) => {
		const { output } = await setting.run({
			parameters: { resource: 'voice', operation: 'getAll', ...fields },
			settings: goOn,
		});
		return output.map(({ json }) => json);
	};

	test('Voice: Get Many has the list of the picker, as the service has it', async () => {
		const [first, ...others] = await voices({ returnAll: true });
		expect(first).toEqual({
			...{ voice_id: 'elevenlabs_voice-00001', name: 'Voice 1', provider: 'elevenlabs' },
			...{ language: 'English', gender: 'female' },
		});
		expect(new Set([first, ...others].map((each) => each?.voice_id)).size).toBe(250);
		expect(others).toHaveLength(249);
		expect(await voices({ limit: 3 })).toHaveLength(3);
	});

	test('by words, and by provider', async () => {
		const found = await voices({ returnAll: true, filters: { search: 'male' } });
		expect(found.length).toBe(125);
		expect(new Set(found.map(({ gender }) => gender))).toEqual(new Set(['male']));
		setting.service.settings.speechRoute = 'v3';
		const others = await voices({ returnAll: true, filters: { provider: ' kokoro ' } });
		expect(others.map(({ voice_id }) => voice_id)).toEqual(
			[1, 2, 3, 4, 5].map((number) => `kokoro_voice-0000${number}`),
		);
		const [none] = await voices({ filters: { provider: 'nobody' } });
		expect(none?.error).toBe('The service publishes no list of voices');
	});

	test('an agent finds a voice', async () => {
		const { answers } = await setting.runTool({
			parameters: {
				...{ resource: 'voice', operation: 'getAll', limit: 1 },
				filters: { search: "={{ $fromAI('search', 'Words', 'string') }}" },
			},
			calls: [{ search: 'german' }],
		});
		expect(JSON.stringify(answers)).toMatch(/elevenlabs_voice-00002/);
	});

	test.each([
		['image', ['image-1', 'image-2']],
		['speech', ['eleven_v3', 'eleven_multilingual_v2']],
	])('Model: Get Many: %s', async (modelType, models) => {
		const parameters = { resource: 'model', operation: 'getAll', modelType };
		const { output } = await setting.run({ parameters });
		expect(output.map(({ json }) => json.model_id)).toEqual(models);
		setting.service.settings.lists.imageModels = false;
		setting.service.settings.lists.speechModels = false;
		const { error } = await setting.run({ parameters });
		expect(error?.message).toBe(`The service publishes no list of ${modelType} models`);
	});
});

test('an expression that was typed as plain text: nothing is sent for any item', async () => {
	const { error } = await setting.run({
		items: [{ text: 'One' }, { text: 'Two' }],
		parameters: { resource: 'soundEffect', operation: 'generate', text: '{{ $json.text }}' },
	});
	expect(error?.message).toBe('"Text" is {{ $json.text }}, word for word: the field is on Fixed');
	expect(error?.description).toMatch(
		/^Switch it to Expression \(above the field, on the right\)\. Nothing was sent\./,
	);
	expect(setting.service.requests).toEqual([]);
	const spoken = '{{ $json.text }}';
	const { output } = await setting.run({
		items: [{ spoken }],
		parameters: {
			...{ resource: 'soundEffect', operation: 'generate', text: '={{ $json.spoken }}' },
			downloadOutput: false,
		},
	});
	expect(output[0]?.json).toMatchObject({ status: 'done' });
	expect(setting.bodies()).toEqual([{ text: spoken }]);
});

test.each(['Asia/Tokyo', 'America/New_York'])(
	'Created After is read in the zone of the workflow: %s',
	async (timezone) => {
		setting.service.settings.lists.tasks = true;
		const taskId = await setting.service.order();
		const localTime = (epochMs: number) =>
			new Date(epochMs).toLocaleString('sv-SE', { timeZone: timezone }).replace(' ', 'T');
		for (const [minutes, expected] of [
			[-10, [taskId]],
			[10, []],
		] as const) {
			const createdAfter = localTime(Date.now() + minutes * 60_000);
			const parameters = { resource: 'task', operation: 'getAll', filters: { createdAfter } };
			const { output } = await setting.run({ parameters, timezone });
			expect(output.map(({ json }) => json.task_id)).toEqual(expected);
		}
	},
);
