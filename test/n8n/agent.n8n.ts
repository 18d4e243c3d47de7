import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sharedContext, type TestContext } from './harness/context';
import { type Execution, items } from './harness/execution';
import { type ModelAnswer, type ScriptedModel, startScriptedModel } from './harness/scriptedModel';

const wish = 'Rain on a tin roof';

/** The action node as a tool of n8n's AI Agent, whose model is scripted. */
describe('agent', () => {
	let context: TestContext;
	let model: ScriptedModel | undefined;
	before(async () => {
		context = await sharedContext();
	});
	after(async () => await model?.close());

	async function ask(
		script: readonly [ModelAnswer, ...ModelAnswer[]],
		{ waitMode = 'poll' } = {},
	): Promise<{ execution: Execution; model: ScriptedModel }> {
		await model?.close();
		context.service.reset();
		model = await startScriptedModel(script);
		const credential = await context.rest.createCredential('Scripted Model', 'openAiApi', {
			apiKey: 'scripted',
			url: model.url,
		});
		const workflow = await context.addWorkflow('agent', {
			MODEL_CREDENTIAL: credential.id,
			WAIT_MODE: waitMode,
		});
		const id = await context.rest.runManually(workflow, 'Start');
		return { execution: await context.rest.waitForExecution(id, 'finished', 120_000), model };
	}

	it('one call: is described to the model, called by it, and answers with JSON and no bytes', async () => {
		const { execution, model: asked } = await ask([[{ Text: wish }], 'Here it is.']);
		assert.equal(execution.status, 'success', execution.resultData.error?.message);
		assert.equal(items(execution, 'Agent')[0]?.json.output, 'Here it is.');

		const tool = asked.requests[0]?.tools?.[0]?.function;
		assert.ok(tool);
		assert.match(tool.name, /^Make_a_Sound$/);
		assert.match(tool.description, /sound effect/i);
		assert.equal(tool.parameters.properties.Text?.description, 'What the sound should be');

		const [created, ...more] = context.service.creations();
		assert.equal(more.length, 0);
		assert.equal(created?.body.text, wish);

		const [result, ...others] = asked.toolResults();
		assert.equal(others.length, 0);
		assert.ok(result !== undefined);
		assert.match(result, new RegExp(created.id));
		assert.match(result, /"outputs"/);
		assert.match(result, /\/files\//, 'the address of the file');
		assert.ok(result.length < 3000, `the model is told ${result.length} characters`);
		assert.doesNotMatch(result, /RIFF|UklGR/, 'bytes of the file');
		assert.ok(!JSON.stringify(asked.requests).includes(context.service.apiKey));
	});

	it('refuses to suspend the execution, in words, before anything is paid', async () => {
		const { model: asked } = await ask([[{ Text: wish }], 'Sorry.'], { waitMode: 'callback' });
		assert.match(
			String(asked.toolResults()[0]),
			/can't be suspended while the node runs as a tool/,
		);
		assert.equal(context.service.creations().length, 0);
	});
});
