import type { IDataObject } from 'n8n-workflow';
import { textsIn } from '../base/json';
import { pause } from './realClock';

/** A list that a webhook keeps in its workflow's static data: its last 1,000 texts. */
export class SavedTexts {
	/** What was saved when the call came in. */
	readonly before: readonly string[];

	constructor(
		private readonly staticData: IDataObject,
		private readonly name: string,
	) {
		this.before = textsIn(staticData[name]);
	}

	/**
	 * n8n 2.41 saves what a webhook wrote once it has stored the execution, just before it answers (`live-webhooks.js`). But what was
	 * written before webhook() returned counts as unchanged by then (`establishContextForPersistence` in `workflow-runner.js`), so it is
	 * written a second time. Older versions save at once.
	 * @param known what to save as well: n8n reads it when it saves
	 */
	saveWith(known: () => readonly string[]): void {
		const toJSON = () => [...new Set([...this.before, ...known()])].slice(-1_000);
		const write = () => (this.staticData[this.name] = { toJSON } as unknown as IDataObject);
		write();
		void pause(0).then(write);
	}
}
