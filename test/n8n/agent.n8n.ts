import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inSharedContext, type TestContext } from './harness/context';
import { items } from './harness/execution';
import { agent, chatModel, start, tool } from './harness/nodes';
import { type ScriptedModel, startScriptedModel } from './harness/scriptedModel';

const wish = 'Rain on a tin roof';
const FROM_THE_MODEL =
	"={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('Text', `Description of the sound`, 'string') }}";

/** The action node as a tool of n8n's AI Agent, whose model is scripted. Its Retries are those of the random workflows. */
describe('agent', () => {
	let context: TestContext;
	let model: ScriptedModel;
	inSharedContext((shared) => (context = shared));
	before(async () => (model = await startScriptedModel([[{ Text: wish }], 'Here it is.'])));
	after(async () => await model.close());

	it('is described to the model, called by it, and answers with JSON and no bytes', async () => {
		const { rest, service } = context;
		const { id } = await rest.createCredential('Scripted Model', 'openAiApi', {
			apiKey: 'scripted',
			url: model.url,
		});
		const settings = { retryOnFail: true, waitBetweenTries: 0 };
		const nodes = [
			start(),
			agent('Make the sound of rain.'),
			chatModel(id),
			tool({ text: FROM_THE_MODEL }, settings),
		];
		const saved = await context.save(nodes, [
			['Start', 'Agent'],
			['Model', 'Agent', 'ai_languageModel'],
			['Make a Sound', 'Agent', 'ai_tool'],
		]);
		const execution = await rest.run(saved, 'Start');
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		assert.equal(items(execution, 'Agent')[0]?.json.output, 'Here it is.');

		const described = model.requests[0]?.tools?.[0]?.function;
		assert.ok(described);
		assert.match(described.name, /^Make_a_Sound$/);
		assert.match(described.description, /sound effect/i);
		const { Text: field } = described.parameters.properties;
		assert.equal(field?.description, 'Description of the sound');

		const [created, ...more] = service.creations();
		assert.equal(more.length, 0);
		assert.equal(created?.body.text, wish);
		const [result = '', ...others] = model.toolResults();
		assert.equal(others.length, 0);
		assert.match(result, new RegExp(created.id));
		assert.match(result, /"outputs".*\/files\//s, 'the address of the file');
		// All that a tool answers goes into the model's prompt.
		assert.ok(result.length <= 3000, `the model is told ${result.length} characters`);
		assert.doesNotMatch(result, /RIFF|UklGR/, 'bytes of the file');
		assert.ok(!JSON.stringify(model.requests).includes(service.apiKey));
	});
});
