/** Part of `npm run test:mutation -- --sample N`: of all changes so many are tried, drawn by chance. */

class Sample {
	async init() {}

	/** Those that are drawn one by one, and all others together. */
	async group(mutants) {
		const shuffled = mutants
			.map(({ id }) => ({ id, at: Math.random() }))
			.sort((one, other) => one.at - other.at)
			.map(({ id }) => id);
		const drawn = shuffled.splice(0, Number(process.env.MUTATION_SAMPLE));
		return [...drawn.map((id) => [id]), ...(shuffled.length > 0 ? [shuffled] : [])];
	}

	/** What counts as not compiled is left out of the score. */
	async check(mutants) {
		const result =
			mutants.length === 1
				? { status: 'passed' }
				: { status: 'compileError', reason: 'not in the sample' };
		return Object.fromEntries(mutants.map(({ id }) => [id, result]));
	}
}

export const strykerPlugins = [{ kind: 'Checker', name: 'sample', injectableClass: Sample }];
