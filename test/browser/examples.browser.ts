import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from '../n8n/harness/context';
import {
	exampleNames,
	exampleSettings,
	exampleWorkflow,
	type Workflow,
} from '../n8n/harness/workflow';
import { applySettings } from '../service';
import type { Editor } from './harness/editor';
import { canvasPicture } from './harness/picture';
import { openWindow } from './harness/window';

/** Every example opens on the canvas, with words below its nodes and nothing that n8n finds wrong, and runs there. */
void describe('examples', () => {
	let context: TestContext;
	let editor: Editor;
	openWindow(async (window) => {
		({ context, editor } = window);
		await editor.page.setViewportSize({ width: 1900, height: 1000 });
		applySettings(context.service.settings, exampleSettings);
	});

	/** The example; what recovers a task has one to recover. */
	async function read(name: string): Promise<Workflow> {
		const text = JSON.stringify(exampleWorkflow(name, context));
		const taskId = name === 'recover-task' ? await context.service.order() : '';
		const given = JSON.stringify(`"task_id": "${taskId}"`).slice(1, -1);
		return JSON.parse(text.replace('\\"task_id\\": \\"\\"', given)) as Workflow;
	}

	for (const name of exampleNames) {
		void it(`shows and runs ${name}`, async () => {
			const workflow = await read(name);
			const saved = await context.rest.createWorkflow(workflow);
			await editor.openWorkflow(saved.id);
			const notes = workflow.nodes.filter(({ type }) => type.endsWith('.stickyNote')).length;
			const nodes = editor.byId('canvas-node');
			await nodes.nth(workflow.nodes.length - notes - 1).waitFor();
			assert.equal(await nodes.count(), workflow.nodes.length - notes);
			assert.equal(await editor.byId('sticky').count(), notes);
			assert.equal(await editor.byId('node-issues').count(), 0);
			// The trigger runs with its pinned sample.
			await editor.executeWorkflow();
			const [execution] = await context.rest.waitForExecutions(saved.id, 1);
			assert.equal(execution?.status, 'success', execution?.resultData.error?.message);
			await editor.succeeded(1);
			await canvasPicture(editor, name);
		});
	}
});
