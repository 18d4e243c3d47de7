import { table } from '../start/table';
import type { Finding } from './findings';

const marks = { same: '', differs: 'DIFFERS', open: 'not shown' };

function markOf({ seen, differs }: Finding): string {
	if (seen === undefined) return marks.open;
	return differs === true ? marks.differs : marks.same;
}

/** The findings as a table, with a line below that counts them. Every finding is one row. */
export function printed(findings: Finding[]): string {
	const rows = findings.map((finding) => [
		markOf(finding),
		finding.section,
		finding.question,
		finding.expected,
		finding.seen ?? '-',
	]);
	const count = (mark: string) => rows.filter((row) => row[0] === mark).length;
	return [
		table(['', 'Section', 'Question', 'Expected', 'Seen'], rows),
		'',
		`  ${findings.length} questions, ${count(marks.differs)} answered otherwise than expected, ${count(marks.open)} not shown. The sections are those of docs/service.md.`,
	].join('\n');
}
