import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from '../n8n/harness/context';
import type { Editor } from './harness/editor';
import { picture } from './harness/picture';
import { createTask, openWindow } from './harness/window';

/** The trigger's panel: its URL, and a test event by a task of the stand-in. */
void describe('trigger', () => {
	let context: TestContext;
	let editor: Editor;
	openWindow((window) => void ({ context, editor } = window));

	void it('shows its URL, listens, and shows the task that is called back', async () => {
		const { service } = context;
		await editor.newWorkflow();
		await editor.byId('canvas-add-button').click();
		await editor.byId('node-creator-search-bar').waitFor();
		await (
			await editor.search('sound effect')
		)
			.filter({ hasText: 'Media Generation' })
			.first()
			.click();
		const action = editor.page.getByText('On new Media Generation event', { exact: true });
		await action.click();
		await editor.byId('ndv').waitFor();
		await editor.byId('ndv').getByText('Webhook URLs', { exact: true }).click();
		const url = await editor.byId('ndv').getByText('/webhook-test/').first().innerText();
		assert.match(url, /\/webhook-test\/[\w-]+\/callback/);

		await editor.byId('trigger-execute-button').first().click();
		await editor.byId('trigger-listening').waitFor();
		await editor.page.getByText('Waiting for the service to call the Test URL').waitFor();
		await picture(editor, 'trigger');

		const target = /https?:\/\/\S+/.exec(url)?.[0];
		const taskId = await createTask(service, { receive_url: target });
		await editor.byId('output-panel').getByText(taskId).first().waitFor();
	});
});
