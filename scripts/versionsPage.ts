/** What came of one test in one version of n8n, as test/n8n/harness/reporter.mjs writes it. */
export interface Outcome {
	suite: string;
	name: string;
	verdict: 'passed' | 'failed' | 'skipped';
	/** Why it was skipped. */
	why?: string;
}

const signs = { passed: 'yes', failed: '**no**', skipped: 'n/a' };

const row = (cells: string[]) => `| ${cells.join(' | ')} |`;

/** `docs/versions.md`: a row for each test, a column for each version. */
export function versionsPage(outcomes: ReadonlyMap<string, readonly Outcome[]>): string {
	const tests = new Map<string, { suite: string; name: string }>();
	for (const { suite, name } of [...outcomes.values()].flat())
		tests.set(`${suite}\0${name}`, { suite, name });
	const all = [...tests.values()];
	const versions = [...outcomes.keys()];
	const cell = (version: string, test: { suite: string; name: string }) => {
		const found = outcomes
			.get(version)
			?.find(({ suite, name }) => suite === test.suite && name === test.name);
		return found === undefined ? '-' : signs[found.verdict];
	};
	const reasons = [...outcomes].flatMap(([version, list]) =>
		[...new Set(list.flatMap(({ why }) => why ?? []))].map((why) => `- n8n ${version}: ${why}.`),
	);
	return `${[
		'# What works in which version of n8n',
		'',
		'Written by `npm run test:versions`, which runs the same suites in each of these versions: the packed nodes in a real n8n, against the stand-in for the service.',
		'"yes": the test passed. "n/a": what it tests can\'t be in that version, for the reason below. "-": not run there.',
		'',
		row(['Suite', 'Test', ...versions.map((version) => `n8n ${version}`)]),
		row(['---', '---', ...versions.map(() => '---')]),
		...all.map((test) =>
			row([test.suite, test.name, ...versions.map((version) => cell(version, test))]),
		),
		...(reasons.length === 0 ? [] : ['', ...reasons]),
	].join('\n')}\n`;
}

const count = (list: readonly Outcome[], verdict: Outcome['verdict']) =>
	list.filter((outcome) => outcome.verdict === verdict).length;

/** How many tests of a suite passed in a version, e.g. `9 of 9` or `4 of 5, 1 n/a`. */
function summaryCell(list: readonly Outcome[]): string {
	if (list.length === 0) return '-';
	const skipped = count(list, 'skipped');
	const ran = list.length - skipped;
	return `${count(list, 'passed')} of ${ran}${skipped === 0 ? '' : `, ${skipped} n/a`}`;
}

/** A row for each suite, a column for each version. */
export function versionsSummary(outcomes: ReadonlyMap<string, readonly Outcome[]>): string {
	const suites = new Set([...outcomes.values()].flat().map(({ suite }) => suite));
	const versions = [...outcomes.keys()];
	return [
		row(['Suite', ...versions.map((version) => `n8n ${version}`)]),
		row(['---', ...versions.map(() => '---')]),
		...[...suites].map((suite) =>
			row([
				suite,
				...[...outcomes.values()].map((list) =>
					summaryCell(list.filter((outcome) => outcome.suite === suite)),
				),
			]),
		),
	].join('\n');
}

const begin = '<!-- npm run test:versions writes this table -->';
const end = '<!-- end of the table -->';

/** The README with this table between its two markers. */
export function withSummary(readme: string, summary: string): string {
	const from = readme.indexOf(begin);
	const to = readme.indexOf(end, from);
	if (from < 0 || to < 0) throw new Error(`README.md has no "${begin}" before "${end}".`);
	return `${readme.slice(0, from + begin.length)}\n\n${summary}\n\n${readme.slice(to)}`;
}
