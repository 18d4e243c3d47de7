import { after, describe } from 'node:test';
import { closeSharedContext } from './context';
import '../../../scripts/cleanup';

/** Loads the suites named on the command line, so that they run one after another in this process and share one n8n. */
void describe('in a real n8n', async () => {
	after(closeSharedContext);
	for (const file of process.argv.slice(2)) await import(file);
});
