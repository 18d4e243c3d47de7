import { after, before } from 'node:test';
import { sharedContext, type TestContext } from '../../n8n/harness/context';
import { Editor } from './editor';

/** Opens an editor window before the tests of this suite, hands it to `begin` with the n8n that all suites share, and closes it after them. */
export function openWindow(
	begin: (window: { context: TestContext; editor: Editor }) => void | Promise<void>,
): void {
	let editor: Editor | undefined;
	before(async () => {
		const context = await sharedContext();
		editor = await Editor.open(context.n8n.baseUrl);
		await begin({ context, editor });
	});
	after(async () => await editor?.close());
}
