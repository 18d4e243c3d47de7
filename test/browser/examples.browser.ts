import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from '../n8n/harness/context';
import { readWorkflow, type Workflow } from '../n8n/harness/workflow';
import type { Editor } from './harness/editor';
import { canvasPicture } from './harness/picture';
import { openWindow } from './harness/window';

const folder = join(__dirname, '..', '..', 'examples');
const names = readdirSync(folder)
	.filter((name) => name.endsWith('.json'))
	.map((name) => name.replace(/\.json$/, ''));

/** Every example opens on the canvas, with words below its nodes and nothing that n8n finds wrong, and runs there. */
void describe('examples', () => {
	let context: TestContext;
	let editor: Editor;
	openWindow(async (window) => {
		({ context, editor } = window);
		await editor.page.setViewportSize({ width: 1900, height: 1000 });
		context.service.settings.lists.tasks = true;
	});

	/** The example with what differs from one n8n to the next: the credential, the address, a task that exists. */
	async function read(name: string): Promise<Workflow> {
		const { credential, n8n, service } = context;
		const workflow = readWorkflow(join(folder, `${name}.json`), {
			credential: { id: credential.id, name: credential.name },
		});
		const task = name === 'recover-task' ? await service.order({ stand_in: { ms: 300 } }) : '';
		const text = JSON.stringify(workflow)
			.replace('http://localhost:5678', n8n.baseUrl)
			.replace('put the task ID here', task);
		return JSON.parse(text) as Workflow;
	}

	for (const name of names) {
		void it(`shows and runs ${name}`, async () => {
			const workflow = await read(name);
			const saved = await context.rest.createWorkflow(workflow);
			await editor.openWorkflow(saved.id);
			const notes = workflow.nodes.filter(({ type }) => type.endsWith('.stickyNote')).length;
			assert.equal(await editor.byId('canvas-node').count(), workflow.nodes.length - notes);
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
