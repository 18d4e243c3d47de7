import { after, describe } from 'node:test';
import { closeSharedContext } from '../../n8n/harness/context';
import { closeBrowser } from './editor';
import '../../../scripts/cleanup';

/** Loads the suites named on the command line, so that they share one n8n and one browser. */
void describe('in the editor', async () => {
	after(async () => {
		await closeBrowser();
		await closeSharedContext();
	});
	for (const file of process.argv.slice(2)) await import(file);
});
