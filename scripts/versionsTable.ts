/** What came of one test, as test/n8n/harness/reporter.mjs writes it. */
export interface Outcome {
	suite: string;
	verdict: 'passed' | 'failed' | 'skipped';
	/** Why it was skipped. */
	why?: string;
}

/** e.g. `9 of 9`, or `4 of 5, 1 n/a (why)`; a dash where the suite did not run. */
function cell(all: readonly Outcome[], suite: string): string {
	const own = all.filter((outcome) => outcome.suite === suite);
	const skipped = own.filter(({ verdict }) => verdict === 'skipped');
	const passed = own.filter(({ verdict }) => verdict === 'passed').length;
	if (own.length === 0) return '-';
	const why = [...new Set(skipped.map((outcome) => outcome.why))].join('; ');
	const left = skipped.length === 0 ? '' : `, ${skipped.length} n/a (${why})`;
	return `${passed} of ${own.length - skipped.length}${left}`;
}

/** A row for each suite, a column for each version. */
export function versionsTable(outcomes: ReadonlyMap<string, readonly Outcome[]>): string {
	const suites = new Set([...outcomes.values()].flat().map(({ suite }) => suite));
	const rows = [
		['Suite', ...[...outcomes.keys()].map((version) => `n8n ${version}`)],
		Array.from({ length: outcomes.size + 1 }, () => '---'),
		...[...suites].map((suite) => [
			suite,
			...[...outcomes.values()].map((all) => cell(all, suite)),
		]),
	];
	return rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
