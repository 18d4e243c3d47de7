/** Writes into a workflow's static data from its webhook. */
import type { IDataObject } from 'n8n-workflow';
import { pause } from './realClock';

/**
 * n8n 2.41 saves what a webhook wrote once it has stored the execution, just before it answers (`live-webhooks.js`). But what was
 * written before webhook() returned counts as unchanged by then (`establishContextForPersistence` in `workflow-runner.js`), so it is
 * written a second time. Older versions save at once.
 * @param read what to save: n8n reads it when it saves
 */
export function saveWithExecution(
	staticData: IDataObject,
	name: string,
	read: () => unknown,
): void {
	const write = () => (staticData[name] = { toJSON: read } as unknown as IDataObject);
	write();
	void pause(0).then(write);
}
