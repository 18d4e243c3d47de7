/** What a run says of a folder, read from Stryker's report. */

/** The part of the report's schema that is read here (https://github.com/stryker-mutator/mutation-testing-elements). */
export interface StrykerReport {
	files: Record<string, { source: string; mutants: StrykerMutant[] }>;
	/** Of those that ran. */
	testFiles: Record<string, unknown>;
}

interface Position {
	/** From 1. */
	line: number;
	column: number;
}

export interface StrykerMutant {
	mutatorName: string;
	replacement?: string;
	status: string;
	/** Whether it is met while modules are loaded. */
	static?: boolean;
	location: { start: Position; end: Position };
}

export interface Survivor {
	file: string;
	line: number;
	/** The line, without its indentation. */
	code: string;
	/** What was there and what stood there instead, shortened. */
	change: string;
	/** Whether any test runs the code. */
	reached: boolean;
}

/** What the tests of a folder noticed. */
export interface Measured {
	killed: number;
	total: number;
	/** Of the killed ones: those that ran without an end. */
	timedOut: number;
	survivors: Survivor[];
}

export interface FolderResult extends Measured {
	/** The test files that ran, relative to `test` and without their ending. */
	tests: string[];
}

const LONGEST = 70;

function shorten(code: string): string {
	const line = code.replace(/\s+/g, ' ').trim();
	return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 4)} ...`;
}

/** The source between two positions. */
function cut(lines: readonly string[], { start, end }: StrykerMutant['location']): string {
	const between = lines.slice(start.line - 1, end.line);
	const last = between.length - 1;
	// The end first: where both lie in one line, the start must not move it.
	between[last] = (between[last] ?? '').slice(0, end.column - 1);
	between[0] = (between[0] ?? '').slice(start.column - 1);
	return between.join('\n');
}

function survivorOf(file: string, lines: readonly string[], mutant: StrykerMutant): Survivor {
	const { line } = mutant.location.start;
	const replacement = mutant.replacement ?? mutant.mutatorName;
	return {
		file,
		line,
		code: (lines[line - 1] ?? '').trim(),
		change: `${shorten(cut(lines, mutant.location))} → ${shorten(replacement)}`,
		reached: mutant.status === 'Survived',
	};
}

/** Killed are those that a test noticed, or that ran without an end. What could not be run, and what is left alone, is not counted. */
export function resultOf({ files }: Pick<StrykerReport, 'files'>): Measured {
	const all = Object.entries(files).flatMap(([file, { source, mutants }]) => {
		const lines = source.split('\n');
		return mutants.map((mutant) => ({ file, lines, mutant }));
	});
	const having = (...statuses: string[]) =>
		all.filter(({ mutant }) => statuses.includes(mutant.status));
	const survivors = having('Survived', 'NoCoverage')
		.map(({ file, lines, mutant }) => survivorOf(file, lines, mutant))
		.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
	const timedOut = having('Timeout').length;
	const killed = having('Killed').length + timedOut;
	return { killed, total: killed + survivors.length, timedOut, survivors };
}

/** In percent, rounded down to a tenth: a mark is reached or not. */
export function scoreOf({ killed, total }: Measured): number {
	return total === 0 ? 100 : Math.floor((killed / total) * 1000) / 10;
}
