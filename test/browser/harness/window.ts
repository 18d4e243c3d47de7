import { after, before } from 'node:test';
import { sharedContext, type TestContext } from '../../n8n/harness/context';
import { Editor } from './editor';

/** What a suite works with: the n8n that all of them share, and an editor window of its own. */
export interface Window {
	context: TestContext;
	editor: Editor;
}

/** Opens a window before the tests of this suite, hands it to `begin`, and closes it after them. */
export function openWindow(begin: (window: Window) => void | Promise<void>): void {
	let editor: Editor | undefined;
	before(async () => {
		const context = await sharedContext();
		editor = await Editor.open(context.n8n.baseUrl);
		await begin({ context, editor });
	});
	after(async () => await editor?.close());
}
