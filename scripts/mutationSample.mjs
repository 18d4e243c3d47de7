/** Part of `npm run test:mutation -- --sample N`: of all changes so many are tried, drawn by chance. */

class Sample {
	async init() {}

	/** All at once, so that they are drawn together. */
	async group(mutants) {
		return [mutants.map(({ id }) => id)];
	}

	/** What counts as not compiled is left out of the score. */
	async check(mutants) {
		const left = { status: 'compileError', reason: 'not in the sample' };
		const byChance = mutants.map(({ id }) => [Math.random(), id]).sort(([one], [two]) => one - two);
		const size = Number(process.env.MUTATION_SAMPLE);
		const results = byChance.map(([, id], at) => [id, at < size ? { status: 'passed' } : left]);
		return Object.fromEntries(results);
	}
}

export const strykerPlugins = [{ kind: 'Checker', name: 'sample', injectableClass: Sample }];
