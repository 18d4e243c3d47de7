/** docs/benchmarks.md and its chart, made of the last results and of what was found (findings.ts). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { chart } from './chart';
import { findings } from './findings';
import { type Cell, type SavedReport, shown, shownMark } from './report';

function row(cells: readonly Cell[]): string {
	return `| ${cells.map((cell) => shown(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}

function markdownTable(columns: string[], rows: Cell[][]): string {
	const rule = columns.map((_, at) => (at === 0 ? ':--' : '--:'));
	return [row(columns), row(rule), ...rows.map(row)].join('\n');
}

const introduction = `# Benchmarks

\`npm run bench\` measures everything below, \`npm run bench -- NAME\` one of it; both want a built package. Every figure stands beside what
one would use otherwise, measured in the same run on the same machine: the ratios mean something, the absolute times only there and then.
Each bench counts what it produced before it shows a time. Rows that we lose are here as well.

This page and the chart are written by \`npm run bench -- --write\`.

![Chart of the main results](images/bench.svg)`;

function section(report: SavedReport): string {
	const { name, title, tables, marks, checked, on } = report;
	const found = findings[name];
	return [
		`## ${name}: ${title}`,
		...tables.map(({ caption, columns, rows }) => `${caption}\n\n${markdownTable(columns, rows)}`),
		...(marks.length === 0
			? []
			: [markdownTable(['Mark', 'Measured', 'Limit', ''], marks.map(shownMark))]),
		...(found === undefined ? [] : [found]),
		`Checked: ${checked.join('; ')}. Measured with ${on}, in ${report.tookS} s.`,
	].join('\n\n');
}

export async function writeDocs(reports: readonly SavedReport[], root: string): Promise<void> {
	const docs = join(root, 'docs');
	mkdirSync(join(docs, 'images'), { recursive: true });
	writeFileSync(join(docs, 'images', 'bench.svg'), chart(reports.flatMap(({ bars }) => bars)));
	const file = join(docs, 'benchmarks.md');
	const options = await resolveConfig(file);
	const text = [introduction, ...reports.map(section)].join('\n\n');
	writeFileSync(file, await format(text, { ...options, parser: 'markdown' }));
	console.log(
		`\nWrote docs/benchmarks.md and docs/images/bench.svg from ${reports.length} results.`,
	);
}
