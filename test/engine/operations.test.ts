/** Each operation as a workflow has it: requests, what is read, outputs. */
import type { INodeParameters } from 'n8n-workflow';
import { engineSetting, sound, steered } from './setting';

const setting = engineSetting();

describe('operations', () => {
	function creation() {
		return setting.service.requests.filter(({ route }) => route === 'create');
	}

	describe('requests', () => {
		test('speech by voice ID: path encoded, format in the query, empty fields left out', async () => {
			const parameters = {
				resource: 'speech',
				operation: 'generateByVoiceId',
				text: 'Hello',
				downloadOutput: false,
			};
			await setting.run({
				parameters: {
					...parameters,
					voiceId: 'a voice',
					modelId: 'eleven_v3',
					outputFormat: 'mp3_44100_128',
				},
			});
			await setting.run({
				parameters: { ...parameters, voiceId: 'v2', modelId: '', outputFormat: '' },
			});
			const [first, second] = creation();
			expect(first?.method).toBe('POST');
			expect(first?.url).toBe('/v1/text-to-speech/a%20voice?output_format=mp3_44100_128');
			expect(first?.body).toEqual({ text: 'Hello', model_id: 'eleven_v3' });
			expect(second?.url).toBe('/v1/text-to-speech/v2');
			expect(second?.body).toEqual({ text: 'Hello' });
			expect(first?.headers.authorization).toBe(`Bearer ${setting.service.apiKey}`);
		});

		test.each([
			['by ID', { __rl: true, mode: 'id', value: 'a voice' }],
			[
				'from the list',
				{ __rl: true, mode: 'list', value: 'a voice', cachedResultName: 'A Voice' },
			],
			['by an expression', { __rl: true, mode: 'id', value: '={{ $json.voice }}' }],
			['by an expression in place of the picker', '={{ $json.voice }}'],
			['as older workflows have it', 'a voice'],
		])('voice and model %s', async (_, voiceId) => {
			const modelId =
				typeof voiceId === 'string' ? '={{ $json.model }}' : { ...voiceId, value: 'eleven_v3' };
			await setting.run({
				items: [{ voice: 'a voice', model: 'eleven_v3' }],
				parameters: {
					resource: 'speech',
					operation: 'generateByVoiceId',
					text: 'Hello',
					voiceId,
					modelId,
					downloadOutput: false,
				},
			});
			const [request] = creation();
			expect(request?.url).toBe('/v1/text-to-speech/a%20voice');
			expect(request?.body).toEqual({ text: 'Hello', model_id: 'eleven_v3' });
		});

		test('as a tool of an agent the model can fill the pickers in', async () => {
			const fromAI = (name: string) => ({
				__rl: true,
				mode: 'id',
				value: `={{ $fromAI('${name}', 'Which one', 'string') }}`,
			});
			const { answers } = await setting.runTool({
				parameters: {
					resource: 'speech',
					operation: 'generateByVoiceId',
					text: 'Hello',
					voiceId: fromAI('voice'),
					modelId: fromAI('model'),
					downloadOutput: false,
				},
				calls: [{ voice: 'a voice', model: 'eleven_v3' }],
			});
			expect(answers).toMatchObject([{ ok: true }]);
			expect(creation()[0]?.url).toBe('/v1/text-to-speech/a%20voice');
			expect(creation()[0]?.body).toEqual({ text: 'Hello', model_id: 'eleven_v3' });
		});

		test('speech by voice name', async () => {
			await setting.run({
				parameters: {
					resource: 'speech',
					operation: 'generateByVoiceName',
					voice: 'en-US-AriaNeural',
					text: 'Hello',
					withTranscript: true,
					downloadOutput: false,
				},
			});
			const [request] = creation();
			expect(request?.url).toBe('/v1e/task/text-to-speech');
			expect(request?.body).toEqual({
				voice: 'en-US-AriaNeural',
				text: 'Hello',
				with_transcript: true,
			});
		});

		test('image: extra fields are merged in depth and win', async () => {
			await setting.run({
				parameters: {
					resource: 'image',
					operation: 'generate',
					prompt: 'A boat',
					modelId: 'image-1',
					generationsCount: 2,
					aspectRatio: '16:9',
					resolution: '',
					downloadOutput: false,
					options: { extraFields: '{"model_parameters": {"seed": 7}, "generations_count": 1}' },
				},
			});
			const [request] = creation();
			expect(request?.url).toBe('/v1i/task/generate-image');
			expect(request?.body).toEqual({
				prompt: 'A boat',
				model_id: 'image-1',
				generations_count: 1,
				model_parameters: { aspect_ratio: '16:9', seed: 7 },
			});
		});

		test('sound effect, not waiting: the answer goes out, signed callback URL and all', async () => {
			const { output } = await setting.run({
				parameters: {
					...sound('Rain'),
					waitForCompletion: false,
					callbackUrl: `${setting.service.otherUrl}/webhook/abc/callback?keep=1`,
					options: { callbackReference: 'order 7' },
				},
			});
			const [body] = setting.bodies();
			const url = new URL(body?.receive_url as string);
			expect(url.searchParams.get('keep')).toBe('1');
			expect(url.searchParams.get('reference')).toBe('order 7');
			expect(url.searchParams.get('signature')).toMatch(/^[0-9a-f]{64}$/);
			expect(output[0]?.json).toMatchObject({
				success: true,
				task_id: setting.service.tasks[0]?.id,
			});
			expect(output[0]?.pairedItem).toEqual({ item: 0 });
			expect(setting.service.polls()).toHaveLength(0);
		});
	});

	describe('what is read', () => {
		test('credits, whatever their shape', async () => {
			for (const shape of ['root', 'data', 'string'] as const) {
				setting.service.settings.creditsShape = shape;
				const { output } = await setting.run({
					parameters: { resource: 'credits', operation: 'get' },
				});
				expect(output[0]?.json.credits).toBe(1_000_000);
			}
		});

		test('API keys, one item each, with masked secrets', async () => {
			const other = setting.service.addKey();
			const { output, saved } = await setting.run({
				parameters: { resource: 'apiKey', operation: 'getAll' },
			});
			expect(output).toHaveLength(2);
			expect(saved).not.toContain(other.key);
			expect(saved).toContain('sk_****');
		});

		test('task get never fails for a failed task, and asks once', async () => {
			const created = await setting.run({
				parameters: {
					...sound(),
					waitForCompletion: false,
					options: { extraFields: '{"stand_in":{"never_ends":true}}' },
				},
			});
			const taskId = created.output[0]?.json.task_id as string;
			await setting.service.finish(taskId, 'error', { error_message: 'no such sound' });
			const { output, error } = await setting.run({
				parameters: { resource: 'task', operation: 'get', taskId },
			});
			expect(error).toBeUndefined();
			expect(output[0]?.json).toMatchObject({ task_id: taskId, status: 'error', outputs: [] });
			expect(setting.service.polls(taskId)).toHaveLength(1);
		});
	});

	describe('outputs', () => {
		test('a finished task: the service’s object, task_id, outputs and the paired item, in order', async () => {
			const items = [300, 50, 150].map((ms, index) => ({
				text: `Sound ${index}`,
				stand_in: { ms },
			}));
			const { output } = await setting.run({ items, parameters: { ...sound(), options: steered } });
			expect(output.map(({ pairedItem }) => pairedItem)).toEqual([
				{ item: 0 },
				{ item: 1 },
				{ item: 2 },
			]);
			const taskIds = setting.service.tasks.map(({ id }) => id);
			expect(output.map(({ json }) => json.task_id)).toEqual(
				items.map(({ text }) => setting.service.tasks.find(({ body }) => body.text === text)?.id),
			);
			expect(new Set(taskIds).size).toBe(3);
			const [first] = output;
			expect(first?.json).toMatchObject({
				id: first?.json.task_id,
				status: 'done',
				progress: 100,
				type: 'sound_effect',
			});
			expect(first?.json.outputs).toEqual([
				{
					url: expect.stringMatching(/^http:/) as string,
					kind: 'audio',
					binaryProperty: 'data',
					durationSeconds: expect.any(Number) as number,
					fileName: `sound_effect-${first?.json.task_id as string}.wav`,
					mimeType: 'audio/wav',
					fileSize: expect.any(Number) as number,
				},
			]);
		});
	});
});

describe('Task: Create', () => {
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
});
