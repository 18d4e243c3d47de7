import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from '../n8n/harness/context';
import type { Editor } from './harness/editor';
import { boxOf, picture, shot } from './harness/picture';
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
		await editor.pick('modelId', 'image-1');
		await editor.choose('aspectRatio', '16:9 (Landscape)');
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

	void it('says what suspending needs, only when it is chosen', async () => {
		const notice = editor.page.getByText(/The execution sleeps until a callback comes/);
		assert.equal(await notice.count(), 0);
		await editor.choose('waitMode', 'Suspend Until Callback');
		await notice.waitFor();
	});

	void it('says for how many tasks it sleeps, and until when', async () => {
		const { service } = context;
		service.settings.taskMs = 3_600_000;
		await editor.byId('node-execute-button').click();
		const asleep = editor
			.byId('output-panel')
			.getByText(/^Asleep until its task is over, or until .* at the latest$/);
		await asleep.waitFor();
		const first = await boxOf(editor.parameter('waitForCompletion'));
		const notice = await boxOf(editor.page.getByText(/The execution sleeps until/));
		const fields = await boxOf(editor.byId('node-parameters'));
		const pane = await boxOf(editor.byId('output-panel'));
		const words = await boxOf(asleep);
		const [y, height] = [first.y - 36, notice.y + notice.height + 60 - first.y];
		await picture(
			editor,
			'suspend',
			await shot(editor, { ...fields, y, height }),
			await shot(editor, { ...pane, y: words.y - 64, height: words.height + 84 }),
		);
		await service.finish(service.creations('image').at(-1)?.id ?? '');
		await editor.byId('output-panel').getByText('Binary', { exact: true }).waitFor();
	});

	void it('asks for a callback URL only when it does not wait', async () => {
		assert.equal(await editor.parameter('callbackUrl').count(), 0);
		await editor
			.parameter('waitForCompletion')
			.locator('.el-switch, [role=switch]')
			.first()
			.click();
		await editor.parameter('callbackUrl').waitFor();
		assert.equal(await editor.parameter('waitMode').count(), 0);
		assert.equal(await editor.parameter('downloadOutput').count(), 0);
	});
});
