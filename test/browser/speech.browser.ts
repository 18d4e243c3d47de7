import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { TestContext } from '../n8n/harness/context';
import type { Editor } from './harness/editor';
import { boxOf, picture, shot } from './harness/picture';
import { openWindow } from './harness/window';

const size = { width: 1380, height: 900 };

/** A person who has never seen the package: finds the node, sets up the credential, makes speech and listens to it. */
void describe('speech', () => {
	let context: TestContext;
	let editor: Editor;
	openWindow(async (window) => {
		({ context, editor } = window);
		await editor.page.setViewportSize(size);
		// The credential is made by hand here.
		await context.rest.request('DELETE', `/credentials/${context.credential.id}`);
	});
	after(async () => {
		context.credential = await context.rest.createCredential(
			context.credential.name,
			'mediaGenerationApi',
			{ apiKey: context.service.apiKey, baseUrl: context.service.baseUrl },
		);
	});

	async function saveCredential(apiKey: string): Promise<void> {
		const { baseUrl } = context.service;
		// A dialog that is still loading puts its defaults over what was typed.
		do {
			await editor.fill('baseUrl', baseUrl);
			await editor.fill('apiKey', apiKey);
		} while (
			(await editor.valueOf('baseUrl')) !== baseUrl ||
			(await editor.valueOf('apiKey')) !== apiKey
		);
		await editor.byId('credential-save-button').click();
	}

	/** What the dialog says after its test; n8n hides the reason behind "More details". */
	async function refusedFor(reason: RegExp): Promise<void> {
		const dialog = editor.byId('editCredential-modal');
		const more = dialog.getByText('More details');
		const words = dialog.getByText(reason);
		await more.or(words).first().waitFor();
		if (await more.isVisible()) await more.click();
		await words.waitFor();
	}

	void it('is found by words for what it does', async () => {
		await editor.newWorkflow();
		await editor.addManualTrigger();
		await editor.openNodePanel();
		const searches = ['sound effect', 'image', 'audio', 'AI voice', 'captions', 'text to speech'];
		for (const words of searches) {
			const found = await editor.search(words);
			await found
				.filter({ hasText: 'Media Generation' })
				.filter({ hasText: 'Generate speech, sound effects and images' })
				.first()
				.waitFor();
		}
		const panel = await boxOf(editor.byId('node-creator'));
		const result = await boxOf(editor.byId('item-iterator-item'));
		const found = await shot(editor, { ...panel, height: result.y + result.height + 8 - panel.y });
		await editor.byId('item-iterator-item').first().click();
		const first = await boxOf(editor.page.getByText(/^Actions \(\d+\)$/));
		const last = await boxOf(editor.page.getByText('Generate sound effect', { exact: true }));
		const [y, height] = [first.y - 12, last.y + last.height + 22 - first.y];
		await picture(editor, 'node-panel', found, await shot(editor, { ...panel, y, height }));
		await editor.closeNodePanel();
	});

	void it('is dragged onto the canvas, says what is wrong with a key, and takes the right one', async () => {
		await editor.dragNode('text to speech', 'Generate speech by voice name');
		await editor.byId('node-credentials-slot').getByRole('button').first().click();
		await editor.byId('editCredential-modal').waitFor();

		await saveCredential('not-a-key');
		await refusedFor(/does not start with "sk_"/);
		await saveCredential('sk_this_is_not_a_key_of_the_account');
		await refusedFor(/does not accept this API key/);

		await saveCredential(context.service.apiKey);
		await editor.byId('editCredential-modal').waitFor({ state: 'detached' });
		await editor.byId('credential-edit-button').click();
		await editor.page.getByText(/tested successfully/i).waitFor();
		await editor.page.setViewportSize({ width: 860, height: 900 });
		const result = await boxOf(editor.byId('credentials-config-container-test-success'));
		const last = await boxOf(editor.parameter('keyHeader'));
		const [x, y] = [result.x - 12, result.y - 12];
		const height = last.y + last.height + 12 - y;
		await picture(
			editor,
			'credential',
			await shot(editor, { x, y, width: result.width + 24, height }),
		);
		await editor.page.setViewportSize(size);
		await editor.page.locator('.el-dialog__headerbtn:visible').last().click();
		await editor.byId('editCredential-modal').waitFor({ state: 'detached' });
	});

	void it('makes a file that can be listened to', async () => {
		await editor.fill('voice', 'en-US-AriaNeural');
		await editor.fill('text', 'Welcome aboard! The next stop is the harbour.');
		await editor.executeStep();
		await editor.viewFile();
		const seconds = await editor.soundSeconds();
		assert.ok(seconds > 0, `${seconds} s`);
		assert.equal(context.service.creations('speech_by_name').length, 1);
		const fields = await boxOf(editor.byId('node-parameters'));
		const pane = await boxOf(editor.byId('output-panel'));
		const top = await shot(editor, { ...fields, height: 420 });
		await picture(editor, 'editor-speech', top, await shot(editor, { ...pane, height: 160 }));
	});
});
