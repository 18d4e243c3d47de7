/** What a bench hands back, and how it looks in the terminal. */
import { table } from '../scripts/table';

export type Cell = string | number;

export interface Table {
	caption: string;
	columns: string[];
	/** The first cell names the row. Numbers are shown with a sensible number of digits. */
	rows: Cell[][];
}

/** A goal of the project: what was measured beside its limit. */
export interface Mark {
	what: string;
	measured: number;
	limit: number;
	/** `most`: at most the limit (default); `least`: at least. */
	bound?: 'most' | 'least';
	unit: string;
}

export function mark(
	what: string,
	measured: number,
	[limit, unit, bound]: [number, string, Mark['bound']?],
): Mark {
	return { what, measured, limit, unit, bound };
}

export const times = (ratio: number): string => `${ratio.toFixed(2)} x`;

export interface Report {
	tables: Table[];
	marks: Mark[];
	/** What was counted before any time was believed. */
	checked: string[];
}

/** A report as bench/out/NAME.json keeps it. */
export interface SavedReport extends Report {
	name: string;
	title: string;
	/** Versions of Node.js, n8n and so on. */
	on: string;
	tookS: number;
}

/** Tells what goes on, while it is measured. */
export type Say = (line: string) => void;

export interface Bench {
	title: string;
	run(say: Say): Promise<Report>;
}

export function isMet({ measured, limit, bound = 'most' }: Mark): boolean {
	return bound === 'most' ? measured <= limit : measured >= limit;
}

/** Three significant digits, but no digits of whole numbers lost. */
export function shown(value: Cell): string {
	if (typeof value === 'string') return value;
	if (!Number.isFinite(value)) return String(value);
	const size = Math.abs(value);
	if (Number.isInteger(value) || size >= 100) return Math.round(value).toLocaleString('en-US');
	return value.toFixed(size >= 10 ? 1 : 2);
}

export function shownMark(mark: Mark): string[] {
	const { what, measured, limit, bound = 'most', unit } = mark;
	const suffix = unit === '' ? '' : ` ${unit}`;
	return [
		what,
		`${shown(measured)}${suffix}`,
		`${bound === 'most' ? 'at most' : 'at least'} ${shown(limit)}${suffix}`,
		isMet(mark) ? 'met' : 'missed',
	];
}

export const textMarks = (marks: readonly Mark[]): string =>
	table(['mark', 'measured', 'limit', ''], marks.map(shownMark));

export function textReport({ title, tables, marks, checked }: SavedReport): string {
	return [
		`== ${title}`,
		...tables.map(({ caption, columns, rows }) => {
			const cells = rows.map((row) => row.map(shown));
			return `${caption}\n${table(columns, cells)}`;
		}),
		...(marks.length > 0 ? [textMarks(marks)] : []),
		`Checked: ${checked.join('; ')}.`,
	].join('\n\n');
}
