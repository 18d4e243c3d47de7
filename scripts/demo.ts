/**
 * `npm run demo`: films the first steps in the real editor, against the stand-in: `test-results/demo/demo.mp4`, with captions, and
 * `demo.gif`, the ten seconds of it from the text to the player. Needs Chromium and ffmpeg.
 */
import { join } from 'node:path';
import { Editor } from '../test/browser/harness/editor';
import { startContext } from '../test/n8n/harness/context';
import type { StandIn } from '../test/service';
import { ensureBuilt } from './built';
import { cleanUp } from './cleanup';
import { animation, overlay, Recorder } from './demo/recorder';
import { runMain } from './halt';
import { ensureN8n } from './n8nInstall';
import { root } from './pack';
import { ensureChromium, ensureFfmpeg } from './programs';

const folder = join(root, 'test-results', 'demo');
const film = join(folder, 'demo.mp4');
const gif = join(folder, 'demo.gif');

/** Opens the node panel for the step behind a manual trigger. */
async function behindTrigger(editor: Editor): Promise<void> {
	await editor.addManualTrigger();
	await editor.byId('canvas-handle-plus').first().click();
	await editor.byId('node-creator-search-bar').waitFor();
}

/** Executes the step and shows its file. Waiting is shown in fast motion. */
async function execute(editor: Editor, recorder: Recorder): Promise<void> {
	await editor.byId('node-execute-button').click();
	await recorder.caption('The node creates a task, waits for it, and fetches its file', 1);
	recorder.speed = 5;
	await editor.byId('output-panel').getByText('Binary', { exact: true }).waitFor();
	await editor.viewFile();
	recorder.speed = 1;
}

async function speech(editor: Editor, recorder: Recorder): Promise<number> {
	const { page } = editor;
	await recorder.caption('Speech, sounds and images in n8n: the first steps', 3);
	await behindTrigger(editor);
	await editor.byId('node-creator-search-bar').pressSequentially('text to speech', { delay: 60 });
	await recorder.caption('Search for what you want to make', 4);
	await editor.byId('item-iterator-item').filter({ hasText: 'Media Generation' }).first().click();
	await recorder.caption('One node does it all. Choose an action', 4);
	await page.getByText('Generate speech by voice ID', { exact: true }).click();
	await editor.byId('ndv').waitFor();
	await recorder.caption('The credential holds the key and the address of the service', 4);
	await editor.openList('voiceId');
	await editor.byId('rlc-item').filter({ hasText: 'Voice 1 (English, female)' }).first().waitFor();
	await recorder.caption('Pick a voice from the list of the service', 4);
	await editor.byId('rlc-item').filter({ hasText: 'Voice 1 (English, female)' }).first().click();
	const text = editor.parameter('text').locator('textarea').first();
	await text.click();
	await text.pressSequentially('Welcome aboard! The next stop is the harbour.', { delay: 25 });
	const begin = await recorder.caption('Type the text, and execute the step', 2);
	await execute(editor, recorder);
	await editor.soundSeconds();
	await recorder.caption('The file is under Binary. n8n plays it', 4);
	return begin;
}

async function image(editor: Editor, recorder: Recorder): Promise<void> {
	await editor.newWorkflow();
	await behindTrigger(editor);
	await (await editor.search('image generation')).filter({ hasText: 'Media Generation' }).click();
	await editor.page.getByText('Generate image', { exact: true }).click();
	await editor.byId('ndv').waitFor();
	await editor.fill('prompt', 'A lighthouse at dawn, watercolour');
	await recorder.caption('An image: a prompt, and a model from the list', 4);
	await editor.pick('modelId', 'image-1');
	await editor.choose('aspectRatio', '16:9 (Landscape)');
	await recorder.caption('The size, if the model takes one', 3);
	await execute(editor, recorder);
	await recorder.caption('The picture is a file of the item, for every node behind', 5);
}

async function asleep(editor: Editor, recorder: Recorder, service: StandIn): Promise<void> {
	await editor.choose('waitMode', 'Suspend');
	await editor.page.getByText(/sleeps until a callback comes/).scrollIntoViewIfNeeded();
	await recorder.caption('Long tasks: the execution sleeps, and survives a restart of n8n', 5);
	service.settings.credits = 0;
	await editor.byId('node-execute-button').click();
	await editor.page.getByText('HTTP 402').first().waitFor();
	await recorder.caption('Every error says what happened, and what to do next', 5);
	await recorder.caption('Nothing is paid for twice. No paid task is lost.', 4);
}

runMain(async () => {
	process.env.CHROMIUM = await ensureChromium();
	await ensureFfmpeg();
	await ensureBuilt();
	await ensureN8n();
	const { n8n, service } = await startContext({ settings: { taskMs: 2_500 } });
	const editor = await Editor.open(n8n.baseUrl);
	await editor.page.setViewportSize({ width: 1280, height: 720 });
	await editor.page.addInitScript(overlay);
	await editor.newWorkflow();
	const recorder = new Recorder(editor.page, join(folder, 'frames'));
	await recorder.start();
	const begin = await speech(editor, recorder);
	const end = recorder.lengthS();
	await image(editor, recorder);
	await asleep(editor, recorder, service);
	await recorder.stop();
	await recorder.film(film);
	const bytes = await animation(film, gif, { from: begin, seconds: Math.min(end - begin, 10) });
	console.log(`${film}: ${recorder.lengthS().toFixed(0)} s`);
	console.log(`${gif}: ${(bytes / 1e6).toFixed(2)} MB`);
	console.log(`Tasks made for it: ${service.creations().length}`);
	await cleanUp();
	process.exit(0);
});
