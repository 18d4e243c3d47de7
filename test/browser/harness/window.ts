import { after, before } from 'node:test';
import { sharedContext, type TestContext } from '../../n8n/harness/context';
import type { StandIn } from '../../service';
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

/** Has the service make a short sound, as somebody else's client would. The task's ID. */
export async function createTask(
	{ baseUrl, apiKey }: Pick<StandIn, 'baseUrl' | 'apiKey'>,
	fields: { receive_url?: string },
): Promise<string> {
	const response = await fetch(`${baseUrl}/v1/task/sound-effect`, {
		method: 'POST',
		headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
		body: JSON.stringify({ text: 'A bell', stand_in: { ms: 300 }, ...fields }),
	});
	const { task_id: taskId } = (await response.json()) as { task_id: string };
	return taskId;
}
