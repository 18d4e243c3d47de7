/** Lines of a table with its columns aligned. */
export function table(header: string[], rows: string[][]): string {
	const widths = header.map((title, column) =>
		Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
	);
	const line = (cells: string[]) =>
		`  ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join('  ')}`.trimEnd();
	const rule = widths.map((width) => '-'.repeat(width));
	return [header, rule, ...rows].map(line).join('\n');
}
