import { describe } from 'node:test';
import '../../scripts/cleanup';

/** Loads the suites named on the command line, so that they run one after another. */
void describe('in queue mode', async () => {
	for (const file of process.argv.slice(2)) await import(file);
});
