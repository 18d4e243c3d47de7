import { after, describe } from 'node:test';
import { cleanUp } from '../../../scripts/cleanup';

/** Loads the suites named on the command line, so that they run one after another in this process and share one n8n and one browser. */
void describe('in a real n8n', async () => {
	after(cleanUp);
	for (const file of process.argv.slice(2)) await import(file);
});
