import type { Folder } from './folders';
import { scoreOf, type FolderResult, type Survivor } from './result';

/** Why a mutant may live. It is found by its line's text, not by its number, which any change above moves. */
export interface Reason {
	file: string;
	code: string;
	/** Only this change of the line; without it, all of them. */
	change?: string;
	reason: string;
}

export const NOT_LOOKED_AT = 'not looked at';

const fits = (reason: Reason, { file, code, change }: Survivor) =>
	reason.file === file &&
	reason.code === code &&
	(reason.change === undefined || reason.change === change);

/** Why this one may live, or undefined where nobody has said. */
export function reasonFor(survivor: Survivor, reasons: readonly Reason[]): string | undefined {
	return reasons.find((reason) => fits(reason, survivor))?.reason;
}

/** Reasons for mutants that no longer live. */
export function staleReasons(
	reasons: readonly Reason[],
	results: ReadonlyMap<string, FolderResult>,
): Reason[] {
	const survivors = [...results.values()].flatMap((result) => result.survivors);
	return reasons.filter((reason) => !survivors.some((survivor) => fits(reason, survivor)));
}

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** As code in a table's cell, whatever it contains. */
function asCode(text: string): string {
	const fence = '`'.repeat(
		Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length)) + 1,
	);
	const padding = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
	return `${fence}${padding}${text.replaceAll('|', '\\|')}${padding}${fence}`;
}

function summary(folder: Folder, result: FolderResult | undefined, looked: number): string {
	if (result === undefined) return row([folder.name, `${folder.mark}%`, 'not measured', '', '']);
	const { killed, total, survivors } = result;
	const score = scoreOf(result);
	const partly =
		folder.engine.length > 0 && !result.tests.some((name) => name.startsWith('engine/'));
	const shown = `${score >= folder.mark ? `${score}%` : `**${score}%**`}${partly ? ' by unit tests alone' : ''}`;
	return row([
		folder.name,
		`${folder.mark}%`,
		shown,
		`${killed} / ${total}`,
		`${survivors.length - looked} of ${survivors.length}`,
	]);
}

function details(folder: Folder, result: FolderResult, reasons: readonly Reason[]): string[] {
	const { survivors, timedOut, tests } = result;
	const shown = (file: string) => file.replace('nodes/MediaGeneration/', '');
	const reasoned = survivors.map((survivor) => ({
		...survivor,
		why: reasonFor(survivor, reasons),
	}));
	// Code that none of the tests runs would fill the page with every change that can be made to it.
	const isUnseen = ({ reached, why }: { reached: boolean; why?: string }) =>
		!reached && why === undefined;
	const lines = reasoned
		.filter((it) => !isUnseen(it))
		.map(({ file, line, change, why }) =>
			row([`${shown(file)}:${line}`, asCode(change), why ?? NOT_LOOKED_AT]),
		);
	const unseen = new Map<string, number[]>();
	for (const { file, line } of reasoned.filter(isUnseen))
		unseen.set(file, [...(unseen.get(file) ?? []), line]);
	const blind = [...unseen].map(
		([file, its]) =>
			`- ${shown(file)}: ${its.length}, in the lines ${[...new Set(its)].join(', ')}`,
	);
	const endless = timedOut === 0 ? '' : ` ${timedOut} of the killed ones ran without an end.`;
	return [
		'',
		`## ${folder.name}`,
		'',
		`Tests: ${tests.join(', ')}.${endless}`,
		...(survivors.length === 0 ? ['', 'No mutant lives.'] : []),
		...(lines.length === 0
			? []
			: ['', row(['Where', 'Change', 'Why it may live']), row(['---', '---', '---']), ...lines]),
		...(blind.length === 0
			? []
			: ['', 'Living because none of these tests runs them:', '', ...blind]),
	];
}

/** `docs/mutation.md`. */
export function mutationPage(
	folders: readonly Folder[],
	results: ReadonlyMap<string, FolderResult>,
	reasons: readonly Reason[],
): string {
	const measured = folders.flatMap((folder) => {
		const result = results.get(folder.name);
		return result === undefined ? [] : details(folder, result, reasons);
	});
	const rows = folders.map((folder) => {
		const result = results.get(folder.name);
		const looked = result?.survivors.filter((it) => reasonFor(it, reasons) !== undefined) ?? [];
		return summary(folder, result, looked.length);
	});
	return `${[
		'# What the tests notice',
		'',
		'Written by `npm run test:mutation` (`-- --folder NAME` for one folder). [StrykerJS](https://stryker-mutator.io) changes the code in one place at a time, such as `<` to `<=`,',
		'a condition to `true`, a block to nothing, and runs the tests that reach the place. A change that a test notices is killed; what lives is listed with the reason',
		'why it may (`test/mutation/reasons.json`), or as "not looked at". The mark is the share that has to be killed: higher where a wrong decision costs money, loses a task or gives the key away.',
		'',
		'Not changed: the objects that describe fields, options and operations to n8n (`scripts/mutation/descriptions.mjs`), since no test should repeat the words of the editor. Each folder is',
		'measured by the tests named with it, not by all: what suites in a real n8n notice does not count here. "By unit tests alone": measured without its tests in n8n\'s engine (`--no-engine`), which take',
		'long and notice more. What changes while modules are loaded is tried with the unit tests only.',
		'',
		row(['Folder', 'Mark', 'Killed', 'Mutants', 'Living, not looked at']),
		row(['---', '---', '---', '---', '---']),
		...rows,
		...measured,
	].join('\n')}\n`;
}
