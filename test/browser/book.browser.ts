import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Locator } from 'playwright-core';
import type { TestContext } from '../n8n/harness/context';
import { readWorkflow } from '../n8n/harness/workflow';
import type { Editor } from './harness/editor';
import { boxOf, canvasShot, picture, shot } from './harness/picture';
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
		const canvas = await canvasShot(editor);

		await editor.page.setViewportSize({ width: 2468, height: 900 });
		await editor.openNode('Speak the Chapter');
		await editor.showFiles();
		const view = editor.byId('ndv-view-binary-data').first();
		const pane = await boxOf(editor.byId('output-panel'));
		/** What the pane shows from one element to another, in its whole width. */
		const strip = async (from: Locator, to: Locator) => {
			const [first, last] = [await boxOf(from), await boxOf(to)];
			const y = first.y - 6;
			return await shot(editor, { ...pane, y, height: last.y + last.height + 14 - y });
		};
		const files = await strip(editor.byId('run-data-hints'), view);
		await view.click();
		const seconds = await editor.soundSeconds();
		assert.ok(seconds > 10, `${seconds} s`);
		const player = editor.page.locator('audio');
		await picture(editor, 'book-chapter', canvas, files, await strip(player, player));
	});
});
