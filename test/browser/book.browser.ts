import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from '../n8n/harness/context';
import { items } from '../n8n/harness/execution';
import { exampleWorkflow } from '../n8n/harness/workflow';
import type { Editor } from './harness/editor';
import { canvasShot, picture, strip } from './harness/picture';
import { openWindow } from './harness/window';

/** The picture that the README begins with: text in, one file with captions out. */
void describe('book chapter', () => {
	let context: TestContext;
	let editor: Editor;
	openWindow(async (window) => {
		({ context, editor } = window);
		await editor.page.setViewportSize({ width: 1400, height: 700 });
	});

	void it('runs on the canvas, and its one file plays for the length of all parts', async () => {
		const workflow = exampleWorkflow('book-chapter', context);
		workflow.nodes = workflow.nodes.filter(({ name: title }) => title !== 'Note 2');
		for (const node of workflow.nodes) node.retryOnFail = false;
		// Of such a file only its header frame says how long it is.
		context.service.settings.audioFormat = 'mp3_vbr';
		const saved = await context.rest.createWorkflow(workflow);
		await editor.openWorkflow(saved.id);
		await editor.executeWorkflow();
		const nodes = workflow.nodes.filter(({ type }) => !type.endsWith('.stickyNote')).length;
		await editor.succeeded(nodes);
		const canvas = await canvasShot(editor);

		await editor.page.setViewportSize({ width: 2504, height: 900 });
		await editor.openNode('Speak the Chapter');
		await editor.showFiles();
		const pane = editor.byId('output-panel');
		const view = editor.byId('ndv-view-binary-data').first();
		const hint = editor.byId('run-data-hints');
		const files = await strip(editor, { pane, from: hint, to: view, above: 6 });
		await view.click();
		const seconds = await editor.soundSeconds();
		const [execution] = await context.rest.waitForExecutions(saved.id, 1);
		assert.ok(execution);
		const { duration_seconds: expected } = items(execution, 'Speak the Chapter')[0]?.json ?? {};
		assert.ok(
			Math.abs(seconds - Number(expected)) < 0.1,
			`${seconds} s, not ${String(expected)} s`,
		);
		const audio = editor.page.locator('audio');
		const player = await strip(editor, { pane, from: audio, to: audio, above: 6, below: 6 });
		await picture(editor, 'book-chapter', canvas, files, player);
	});
});
