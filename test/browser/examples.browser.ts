import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from '../n8n/harness/context';
import { readWorkflow } from '../n8n/harness/workflow';
import type { Editor } from './harness/editor';
import { canvasPicture } from './harness/picture';
import { openWindow } from './harness/window';

const folder = join(__dirname, '..', '..', 'examples');
const names = readdirSync(folder)
	.filter((name) => name.endsWith('.json'))
	.map((name) => name.replace(/\.json$/, ''));

/** Every example opens on the canvas, with words below its nodes and nothing that n8n finds wrong. */
void describe('examples', () => {
	let context: TestContext;
	let editor: Editor;
	openWindow(async (window) => {
		({ context, editor } = window);
		await editor.page.setViewportSize({ width: 1100, height: 620 });
	});

	for (const name of names) {
		void it(`shows ${name}`, async () => {
			const { id, name: credentialName } = context.credential;
			const workflow = readWorkflow(join(folder, `${name}.json`), {
				credential: { id, name: credentialName },
			});
			const saved = await context.rest.createWorkflow(workflow);
			await editor.openWorkflow(saved.id);
			const notes = workflow.nodes.filter(({ type }) => type.endsWith('.stickyNote')).length;
			assert.equal(await editor.byId('canvas-node').count(), workflow.nodes.length - notes);
			assert.equal(await editor.byId('sticky').count(), notes);
			assert.equal(await editor.byId('node-issues').count(), 0);
			await editor.byId('zoom-to-fit').click();
			await editor.settled();
			await editor.byId('zoom-out-button').click();
			await editor.settled();
			await canvasPicture(editor, name);
		});
	}
});
