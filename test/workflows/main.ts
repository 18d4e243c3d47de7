/** `npm run test:workflows`: random workflows in a real n8n, and the judge's word on each (README.md). */
import { cleanUp } from '../../scripts/cleanup';
import { Halt, runMain } from '../../scripts/halt';
import { startContext } from '../n8n/harness/context';
import { playCases } from './batch';
import { caseOf } from './generate';

runMain(async () => {
	const [seeds = 40, seed = 1] = process.argv.slice(2).map(Number);
	const cases = Array.from({ length: seeds }, (_, index) => caseOf(seed + index));
	const failed: number[] = [];
	// Each fourth seed keeps its files in memory, which n8n does by default.
	for (const mode of ['filesystem', 'default']) {
		const own = cases.filter((each) => (each.seed % 4 === 3) === (mode === 'default'));
		if (own.length === 0) continue;
		const context = await startContext({ env: { N8N_DEFAULT_BINARY_DATA_MODE: mode } });
		failed.push(...(await playCases(own, context)));
		await context.close();
	}
	await cleanUp();
	console.log(`${seeds} workflows from seed ${seed}: ${failed.length} failed ${failed.join(' ')}`);
	if (failed.length > 0) throw new Halt('Random workflows broke a rule; see above.');
});
