import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from '../n8n/harness/context';
import { readWorkflow } from '../n8n/harness/workflow';
import type { Editor } from './harness/editor';
import { storyPicture } from './harness/picture';
import { openWindow } from './harness/window';

const file = join(__dirname, '..', '..', 'examples', 'book-chapter.json');

/** The picture that the README begins with: text in, one file with captions out. */
void describe('book chapter', () => {
	let context: TestContext;
	let editor: Editor;
	openWindow(async (window) => {
		({ context, editor } = window);
		await editor.page.setViewportSize({ width: 1400, height: 700 });
	});

	void it('runs on the canvas, and its one file plays for the length of all parts', async () => {
		const { id, name } = context.credential;
		const workflow = readWorkflow(file, { credential: { id, name } });
		workflow.nodes = workflow.nodes.filter(({ name: title }) => title !== 'Note 2');
		for (const node of workflow.nodes) node.retryOnFail = false;
		const saved = await context.rest.createWorkflow(workflow);
		await editor.openWorkflow(saved.id);
		await editor.executeWorkflow();
		const nodes = workflow.nodes.filter(({ type }) => !type.endsWith('.stickyNote')).length;
		await editor.succeeded(nodes);
		await editor.byId('zoom-to-fit').click();
		await editor.settled();
		await editor.byId('zoom-out-button').click();
		await editor.settled();
		const pane = editor.byId('output-panel');
		await storyPicture(editor, 'book-chapter', {
			pane,
			steps: [
				{
					height: 520,
					open: async () => {
						await editor.page.setViewportSize({ width: 2250, height: 900 });
						await editor.openNode('Speak the Chapter');
						await pane.getByText('Binary', { exact: true }).click();
						await editor.byId('ndv-view-binary-data').first().waitFor();
					},
				},
				{
					height: 200,
					open: async () => {
						await editor.byId('ndv-view-binary-data').first().click();
						await editor.page.locator('audio').waitFor();
					},
				},
			],
		});
		const seconds = await editor.page
			.locator('audio')
			.evaluate((audio: HTMLAudioElement) => audio.duration);
		assert.ok(seconds > 10, `${seconds} s`);
	});
});
