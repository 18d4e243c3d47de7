import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { inSharedContext, type TestContext } from './harness/context';
import { type Execution, items } from './harness/execution';
import { agent, chatModel, start, tool } from './harness/nodes';
import { type ModelAnswer, type ScriptedModel, startScriptedModel } from './harness/scriptedModel';

const wish = 'Rain on a tin roof';
const FROM_THE_MODEL =
	"={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('Text', `Description of the sound`, 'string') }}";

/** The action node as a tool of n8n's AI Agent, whose model is scripted. */
describe('agent', () => {
	let context: TestContext;
	let model: ScriptedModel | undefined;
	inSharedContext((shared) => (context = shared));
	after(async () => await model?.close());

	async function ask(
		script: readonly [ModelAnswer, ...ModelAnswer[]],
		standIn: object = {},
	): Promise<{ execution: Execution; model: ScriptedModel }> {
		await model?.close();
		context.service.reset();
		model = await startScriptedModel(script);
		const credential = await context.rest.createCredential('Scripted Model', 'openAiApi', {
			apiKey: 'scripted',
			url: model.url,
		});
		const nodes = [
			start(),
			agent('Make the sound of rain.'),
			chatModel(credential.id),
			tool(
				{ text: FROM_THE_MODEL, options: { extraFields: JSON.stringify({ stand_in: standIn }) } },
				{ retryOnFail: true, waitBetweenTries: 0 },
			),
		];
		const saved = await context.save(nodes, [
			['Start', 'Agent'],
			['Model', 'Agent', 'ai_languageModel'],
			['Make a Sound', 'Agent', 'ai_tool'],
		]);
		const id = await context.rest.runManually(saved, 'Start');
		return { model, execution: await context.rest.waitForExecution(id) };
	}

	/** All that a tool answers goes into the model's prompt. */
	function assertShort(result: string): void {
		assert.ok(result.length <= 3000, `the model is told ${result.length} characters`);
		assert.doesNotMatch(result, /RIFF|UklGR/, 'bytes of the file');
	}

	const paid = () => context.service.creations().map(({ id }) => id);

	it('one call: is described to the model, called by it, and answers with JSON and no bytes', async () => {
		const { execution, model: asked } = await ask([[{ Text: wish }], 'Here it is.']);
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		assert.equal(items(execution, 'Agent')[0]?.json.output, 'Here it is.');

		const tool = asked.requests[0]?.tools?.[0]?.function;
		assert.ok(tool);
		assert.match(tool.name, /^Make_a_Sound$/);
		assert.match(tool.description, /sound effect/i);
		assert.equal(tool.parameters.properties.Text?.description, 'Description of the sound');

		const [created, ...more] = context.service.creations();
		assert.equal(more.length, 0);
		assert.equal(created?.body.text, wish);

		const [result, ...others] = asked.toolResults();
		assert.equal(others.length, 0);
		assert.ok(result !== undefined);
		assert.match(result, new RegExp(created.id));
		assert.match(result, /"outputs"/);
		assert.match(result, /\/files\//, 'the address of the file');
		assertShort(result);
		assert.ok(!JSON.stringify(asked.requests).includes(context.service.apiKey));
	});

	for (const [what, standIn] of [
		['repeats a text of 100,000 characters', { echo_characters: 100_000 }],
		['has its file of 1 MB in the answer', { data_url_bytes: 1_000_000 }],
		['has ten files', { files: 10 }],
	] as const)
		it(`a task that ${what}: the model is told what it can use`, async () => {
			const { execution, model: asked } = await ask([[{ Text: wish }], 'Here it is.'], standIn);
			assert.equal(execution.status, 'success', execution.resultData.error?.message);
			const [result = ''] = asked.toolResults();
			assert.match(result, new RegExp(paid()[0] ?? 'no task'));
			assertShort(result);
		});
});
