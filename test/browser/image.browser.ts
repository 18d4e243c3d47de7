import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from '../n8n/harness/context';
import type { Editor } from './harness/editor';
import { picture, strip } from './harness/picture';
import { openWindow } from './harness/window';

/** An image, the notice of suspending, and the trigger, with a credential that is there already. */
void describe('image', () => {
	let context: TestContext;
	let editor: Editor;
	openWindow(async (window) => {
		({ context, editor } = window);
		await editor.page.setViewportSize({ width: 1280, height: 1100 });
	});

	void it('makes a picture that is shown', async () => {
		await editor.newWorkflow();
		await editor.addManualTrigger();
		await editor.addNode('image generation', 'Generate image');
		await editor.fill('prompt', 'A lighthouse at dawn, watercolour');
		// The lists follow the model.
		await editor.pick('modelId', 'image-2');
		await editor.openList('aspectRatio');
		await editor.page.getByText(/publishes no list of aspect ratios for this model/).waitFor();
		await editor.pick('modelId', 'image-1');
		await editor.pick('aspectRatio', '16:9');
		await editor.pick('resolution', '2K');
		await editor.executeStep();
		await editor.viewFile();
		const shown = editor.byId('output-panel').locator('img[src*="binary-data"]');
		await shown.waitFor();
		const width = await shown.evaluate(async (image: HTMLImageElement) => {
			await image.decode();
			return image.naturalWidth;
		});
		assert.ok(width > 0);
		assert.equal(context.service.creations('image').length, 1);
	});

	void it('says for how many tasks it sleeps, and until when', async () => {
		const { service } = context;
		const notice = editor.page.getByText(/The execution sleeps until a callback comes/);
		assert.equal(await notice.count(), 0);
		await editor.choose('waitMode', 'Suspend');
		service.settings.taskMs = 3_600_000;
		await editor.byId('node-execute-button').click();
		const asleep = editor
			.byId('output-panel')
			.getByText(/^Asleep until its task has finished \(.+\), or until .* at the latest$/);
		await asleep.waitFor();
		const fields = await strip(editor, {
			pane: editor.byId('node-parameters'),
			from: editor.parameter('waitForCompletion'),
			to: notice,
			above: 36,
			below: 24,
		});
		const pane = editor.byId('output-panel');
		const words = await strip(editor, { pane, from: asleep, to: asleep, above: 64, below: 20 });
		await picture(editor, 'suspend', fields, words);
		await service.finish(service.creations('image').at(-1)?.id ?? '');
		await editor.byId('output-panel').getByText('Binary', { exact: true }).waitFor();
	});
});
