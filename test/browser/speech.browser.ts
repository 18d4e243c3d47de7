import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { TestContext } from '../n8n/harness/context';
import type { Editor } from './harness/editor';
import { picture, strip } from './harness/picture';
import { openWindow } from './harness/window';

const size = { width: 1440, height: 900 };

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
		context.credential = await context.addCredential(context.credential.name);
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
		const words =
			'sound effect,image,audio,AI voice,captions,music,transcribe,subtitles,dub,dubbing,callback,webhook,wait for task,elevenlabs,text to speech';
		for (const each of words.split(',')) {
			const found = await editor.search(each);
			await found
				.filter({ hasText: 'Media Generation' })
				.filter({ hasText: 'Generate speech, music, sound effects and images' })
				.first()
				.waitFor();
		}
		const pane = editor.byId('node-creator');
		const result = editor.byId('item-iterator-item').first();
		const found = await strip(editor, { pane, from: pane, to: result, above: 0 });
		await result.click();
		const from = editor.page.getByText(/^Actions \(\d+\)$/);
		const to = editor.page.getByText('Generate sound effect', { exact: true });
		await picture(editor, 'node-panel', found, await strip(editor, { pane, from, to }));
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
		const tested = editor.byId('credentials-config-container-test-success');
		const to = editor.parameter('keyHeader');
		const form = await strip(editor, { pane: tested, from: tested, to, beside: 12 });
		await picture(editor, 'credential', form);
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
		const fields = editor.byId('node-parameters');
		const pane = editor.byId('output-panel');
		const to = editor.parameter('text');
		const top = await strip(editor, { pane: fields, from: fields, to, above: 0 });
		const audio = editor.page.locator('audio');
		const bottom = await strip(editor, { pane, from: pane, to: audio, above: 0 });
		await picture(editor, 'editor-speech', top, bottom);
	});
});
