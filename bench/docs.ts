/**
 * docs/benchmarks.md and its chart, and what other pages have of it, made of the last results.
 * Benches without a result here keep their section, and each section keeps its paragraph of what was found, which is written by hand.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { chart } from './chart';
import { type Cell, type SavedReport, shown, shownMark } from './report';

function row(cells: readonly Cell[]): string {
	return `| ${cells.map((cell) => shown(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}

function markdownTable(columns: string[], rows: Cell[][]): string {
	const rule = columns.map((_, at) => (at === 0 ? ':--' : '--:'));
	return [row(columns), row(rule), ...rows.map(row)].join('\n');
}

const introduction = `# Benchmarks

\`npm run bench\` runs all benchmarks below, \`npm run bench -- NAME\` one of them. Each figure stands beside the alternative, measured in the
same run on the same machine: the ratios can be compared elsewhere, the absolute times can't. Each benchmark checks what it produced before
it shows a time. Rows where others are faster are here as well.

This page, its chart and the tables of [planning](planning.md) are written by \`npm run bench -- --write\`.

![Chart of the main results](images/bench.svg)`;

/** @param before the section as it stands, whose paragraph "Found ..." stays */
function section(report: SavedReport, before = ''): string {
	const { name, title, marks, checked, on } = report;
	const found = before.split('\n\n').find((text) => text.startsWith('Found'));
	return [
		`## ${name}: ${title}`,
		...tablesOf(report),
		...(marks.length === 0
			? []
			: [markdownTable(['Mark', 'Measured', 'Limit', ''], marks.map(shownMark))]),
		...(found === undefined ? [] : [found]),
		`Checked: ${checked.join('; ')}. Measured with ${on}, in ${report.tookS} s.`,
	].join('\n\n');
}

/** By name, in the order of the page. */
function sectionsOf(page: string): Map<string, string> {
	const sections = page.split(/^(?=## )/m).slice(1);
	return new Map(sections.map((text) => [/^## (\w+)/.exec(text)?.[1] ?? text, text]));
}

/** What stands between the marks `<!-- bench NAME -->` and `<!-- end -->` in a file. */
function fill(file: string, name: string, content: string | undefined): void {
	const before = readFileSync(file, 'utf8');
	const marks = new RegExp(`(<!-- bench ${name} -->).*?(<!-- end -->)`, 's');
	if (content === undefined || !marks.test(before)) return;
	const filled = (_: string, from: string, to: string) => `${from}\n\n${content}\n\n${to}`;
	writeFileSync(file, before.replace(marks, filled));
}

const tablesOf = ({ tables }: SavedReport) =>
	tables.map(({ caption, columns, rows }) => `${caption}\n\n${markdownTable(columns, rows)}`);

export async function writeDocs(reports: readonly SavedReport[], root: string): Promise<void> {
	const docs = join(root, 'docs');
	const file = join(docs, 'benchmarks.md');
	// What was not measured again stays as it is; so does the chart, unless everything was.
	const sections = sectionsOf(readFileSync(file, 'utf8'));
	for (const report of reports)
		sections.set(report.name, section(report, sections.get(report.name)));
	if (sections.size === reports.length)
		writeFileSync(
			join(docs, 'images', 'bench.svg'),
			chart(reports.flatMap(({ bars = [] }) => bars)),
		);
	const options = await resolveConfig(file);
	const text = [introduction, ...sections.values()].join('\n\n');
	writeFileSync(file, await format(text, { ...options, parser: 'markdown' }));
	const scale = reports.find(({ name }) => name === 'scale');
	const planned = scale === undefined ? [] : tablesOf(scale);
	for (const [at, name] of ['days', 'use', 'shared'].entries())
		fill(join(docs, 'planning.md'), name, planned[at]);
	console.log(`\nWrote docs/benchmarks.md and docs/planning.md from ${reports.length} results.`);
}
