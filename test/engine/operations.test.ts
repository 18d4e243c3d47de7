/** Fields as n8n evaluates them: pickers, their lists, and what the model of an agent fills in. */
import { LoadOptionsContext } from 'n8n-core';
import {
	Workflow,
	type INodeListSearchResult,
	type INodeParameters,
	type IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';
import { credentialsHelper, mediaGeneration, mediaNode, typesOf } from './engine';
import { engineSetting } from './setting';

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
