import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { TestContext } from '../n8n/harness/context';
import type { Editor } from './harness/editor';
import { openWindow } from './harness/window';

/** A voice and a model out of the service's lists; and what the editor says where there is none. */
void describe('pickers', () => {
	let context: TestContext;
	let editor: Editor;
	openWindow(async (window) => {
		({ context, editor } = window);
		await editor.newWorkflow();
		await editor.addManualTrigger();
		await editor.addNode('text to speech', 'Generate speech by voice ID');
	});
	after(() => context.service.reset());

	void it('offer the service’s voices, which can be searched', async () => {
		await editor.openList('voiceId');
		const entries = editor.byId('rlc-item');
		await entries.filter({ hasText: 'Voice 1 (English, female)' }).first().waitFor();
		await editor
			.byId('rlc-search')
			.locator('input')
			.or(editor.page.locator('input[data-test-id="rlc-search"]'))
			.first()
			.fill('voice-00123');
		const found = entries.filter({ hasText: 'Voice 123 (Spanish, female)' });
		await found.first().waitFor();
		await found.first().click();
		assert.equal(await editor.valueOf('voiceId'), 'Voice 123 (Spanish, female)');
	});

	void it('what was picked goes to the service', async () => {
		await editor.fill('text', 'Welcome aboard!');
		await editor.executeStep();
		const [task] = context.service.creations('speech_by_id');
		assert.equal(task?.params.voice_id, 'voice-00123');
	});

	void it('say what to do where the service has no list', async () => {
		context.service.settings.lists.speechModels = false;
		await editor.openList('modelId');
		const words = editor.byId('rlc-error-container');
		await words.getByText('The service publishes no list of speech models').waitFor();
		await words.getByText('Choose By ID and enter the ID as the service shows it.').waitFor();
	});
});
