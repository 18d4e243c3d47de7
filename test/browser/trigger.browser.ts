import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from '../n8n/harness/context';
import type { Editor } from './harness/editor';
import { boxOf, picture, shot } from './harness/picture';
import { openWindow } from './harness/window';

/** The trigger's panel: its URL, and a test event by a task of the stand-in. */
void describe('trigger', () => {
	let context: TestContext;
	let editor: Editor;
	openWindow(async (window) => {
		({ context, editor } = window);
		await editor.page.setViewportSize({ width: 1500, height: 960 });
	});

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
		await editor.page.getByText('On task failed', { exact: true }).waitFor();
		await editor.page.getByText('On task finished', { exact: true }).click();
		await editor.byId('ndv').waitFor();
		await editor.byId('ndv').getByText('Webhook URLs', { exact: true }).click();
		const url = await editor.byId('ndv').getByText('/webhook-test/').first().innerText();
		assert.match(url, /\/webhook-test\/[\w-]+\/callback/);

		await editor.byId('trigger-execute-button').first().click();
		await editor.byId('trigger-listening').waitFor();
		await editor.page.getByText('Put the Test URL into the Callback URL').first().waitFor();

		const target = /https?:\/\/\S+/.exec(url)?.[0];
		const taskId = await service.order({ receive_url: target, stand_in: { ms: 300 } });
		await editor.byId('output-panel').getByText(taskId).first().waitFor();
		await editor.byId('output-panel').getByText('JSON', { exact: true }).click();
		await editor.page.mouse.move(0, 0);
		const output = await boxOf(editor.byId('output-panel'));
		const last = await boxOf(editor.byId('ndv').getByText('No properties', { exact: true }));
		const height = last.y + last.height + 72 - output.y;
		const { x } = await boxOf(editor.byId('node-parameters'));
		const width = output.x + output.width - x;
		await picture(editor, 'trigger', await shot(editor, { ...output, x, width, height }));
	});
});
