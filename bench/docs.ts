/** docs/benchmarks.md, made of the last results. Benches without a result here keep their section. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { root } from '../scripts/pack';
import { type Cell, type SavedReport, shown, shownMark } from './report';

/** Not committed: a measurement belongs to the machine it was made on. */
const outFolder = join(root, 'bench', 'out');

const fileOf = (name: string) => join(outFolder, `${name}.json`);
const read = (name: string) => JSON.parse(readFileSync(fileOf(name), 'utf8')) as SavedReport;

export function save(name: string, result: object): void {
	mkdirSync(outFolder, { recursive: true });
	writeFileSync(fileOf(name), `${JSON.stringify(result, undefined, '\t')}\n`);
}

function row(cells: readonly Cell[]): string {
	return `| ${cells.map((cell) => shown(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}

function markdownTable(columns: string[], rows: Cell[][]): string {
	const rule = columns.map((_, at) => (at === 0 ? ':--' : '--:'));
	return [row(columns), row(rule), ...rows.map(row)].join('\n');
}

const introduction = `# Benchmarks

\`npm run bench\` runs all benchmarks below, \`npm run bench -- NAME\` one of them, and \`-- --write\` writes this page. Each figure stands
beside the alternative, measured in the same run on the same machine: the ratios can be compared elsewhere, the absolute times can't. Each
benchmark checks what it produced before it shows a time. Rows where others are faster are here as well.`;

function section({ name, title, marks, checked, on, tookS, tables }: SavedReport): string {
	return [
		`## ${name}: ${title}`,
		...tables.map(({ caption, columns, rows }) => `${caption}\n\n${markdownTable(columns, rows)}`),
		...(marks.length === 0
			? []
			: [markdownTable(['Mark', 'Measured', 'Limit', ''], marks.map(shownMark))]),
		`Checked: ${checked.join('; ')} (${on}, ${tookS} s).`,
	].join('\n\n');
}

/** By name, in the order of the page. */
function sectionsOf(page: string): Map<string, string> {
	const sections = page.split(/^(?=## )/m).slice(1);
	return new Map(sections.map((text) => [/^## (\w+)/.exec(text)?.[1] ?? text, text]));
}

/** @param names of benches whose last results are written, as far as there are any */
export async function writeDocs(names: readonly string[]): Promise<void> {
	const reports = names.filter((name) => existsSync(fileOf(name))).map(read);
	const file = join(root, 'docs', 'benchmarks.md');
	const sections = sectionsOf(readFileSync(file, 'utf8'));
	for (const report of reports) sections.set(report.name, section(report));
	const options = await resolveConfig(file);
	const text = [introduction, ...sections.values()].join('\n\n');
	writeFileSync(file, await format(text, { ...options, parser: 'markdown' }));
	console.log(`\nWrote docs/benchmarks.md from ${reports.length} results.`);
}
