import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from '../n8n/harness/context';
import type { Editor } from './harness/editor';
import { boxOf, picture, shot, strip } from './harness/picture';
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

	void it('a trigger shows its URL, listens, and shows the task that is called back', async () => {
		const { service } = context;
		await editor.page.setViewportSize({ width: 1500, height: 960 });
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
