/** Lines of a table with its columns aligned. */
export function table(header: string[], rows: string[][]): string {
	const widths = header.map((title, column) =>
		Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
	);
	const line = (cells: string[]) =>
		`  ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join('  ')}`.trimEnd();
	return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join(
		'\n',
	);
}
