/** `npm run test:mutation`: what it reads of Stryker's report, and what it writes. The measuring itself is Stryker's. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folders } from '../../scripts/mutation/folders';
import { missingTests } from '../../scripts/mutation/options';
import { mutationPage, reasonFor, staleReasons } from '../../scripts/mutation/page';
import {
	resultOf,
	scoreOf,
	type StrykerMutant,
	type Survivor,
} from '../../scripts/mutation/result';

const source = ['function isLate(now: number) {', '\treturn now >= deadline;', '}', ''].join('\n');

const mutant = (status: string, replacement = 'now > deadline'): StrykerMutant => ({
	mutatorName: 'EqualityOperator',
	replacement,
	status,
	location: { start: { line: 2, column: 9 }, end: { line: 2, column: 24 } },
});
const report = (...mutants: StrykerMutant[]) => ({ files: { 'nodes/a.ts': { source, mutants } } });

const survivor: Survivor = {
	file: 'nodes/MediaGeneration/wait/a.ts',
	line: 2,
	code: 'return now >= deadline;',
	change: 'now >= deadline → now > deadline',
	reached: true,
};
const wait = { name: 'wait', mark: 90, sources: [], unit: ['poll'], engine: ['polling'] };

describe('the result of a folder', () => {
	test('what a test noticed and what ran without an end is killed; what is left alone or could not run does not count', () => {
		const statuses = ['Killed', 'Killed', 'Timeout', 'Survived', 'NoCoverage'];
		const others = ['Ignored', 'RuntimeError', 'CompileError'];
		const result = resultOf(report(...[...statuses, ...others].map((status) => mutant(status))));
		expect(result).toMatchObject({ killed: 3, total: 5, timedOut: 1 });
		expect(result.survivors.map(({ reached }) => reached)).toEqual([true, false]);
	});

	test('a survivor has its place, its line and its change', () => {
		expect(resultOf(report(mutant('Survived'))).survivors).toEqual([
			{ ...survivor, file: 'nodes/a.ts' },
		]);
	});

	test('a change of several lines is told in one', () => {
		const block = {
			...mutant('Survived', '{}'),
			location: { start: { line: 1, column: 30 }, end: { line: 3, column: 2 } },
		};
		expect(resultOf(report(block)).survivors[0]?.change).toBe('{ return now >= deadline; } → {}');
	});

	test('the score is rounded down, so that a mark that is nearly reached is not reached', () => {
		const result = { timedOut: 0, survivors: [] };
		expect(scoreOf({ ...result, killed: 8_999, total: 10_000 })).toBe(89.9);
		expect(scoreOf({ ...result, killed: 9, total: 10 })).toBe(90);
		expect(scoreOf({ ...result, killed: 0, total: 0 })).toBe(100);
	});
});

describe('reasons', () => {
	const reason = { file: survivor.file, code: survivor.code, reason: 'the same time, told twice' };

	test('are found by the text of the line', () => {
		expect(reasonFor({ ...survivor, line: 7 }, [reason])).toBe('the same time, told twice');
		expect(reasonFor({ ...survivor, code: 'return true;' }, [reason])).toBeUndefined();
		expect(reasonFor({ ...survivor, file: 'nodes/b.ts' }, [reason])).toBeUndefined();
	});

	test('may be those of one change only', () => {
		const one = { ...reason, change: 'now >= deadline → true' };
		expect(reasonFor(survivor, [one])).toBeUndefined();
		expect(reasonFor({ ...survivor, change: one.change }, [one])).toBe(reason.reason);
	});

	test('are named where nothing lives that they are for', () => {
		const living = { tests: [], killed: 0, total: 1, timedOut: 0, survivors: [survivor] };
		const none = { tests: [], killed: 1, total: 1, timedOut: 0, survivors: [] };
		expect(staleReasons([reason], new Map([['wait', living]]))).toEqual([]);
		expect(staleReasons([reason], new Map([['wait', none]]))).toEqual([reason]);
	});
});

describe('docs/mutation.md', () => {
	const result = {
		tests: ['unit/poll', 'engine/polling'],
		killed: 9,
		total: 11,
		timedOut: 1,
		survivors: [survivor, survivor],
	};

	test('a score below its mark stands out, and survivors nobody has looked at say so', () => {
		const page = mutationPage([wait], new Map([['wait', result]]), []);
		expect(page).toContain('| wait | 90% | **81.8%** | 9 / 11 | 2 of 2 |');
		expect(page).toContain('| wait/a.ts:2 | `now >= deadline → now > deadline` | not looked at |');
		expect(page).toContain(
			'Tests: unit/poll, engine/polling. 1 of the killed ones ran without an end.',
		);
	});

	test('reasons stand beside what they explain', () => {
		const reasons = [{ file: survivor.file, code: survivor.code, reason: 'told twice' }];
		const page = mutationPage([wait], new Map([['wait', result]]), reasons);
		expect(page).toContain('| told twice |\n');
		expect(page).toContain('| 0 of 2 |');
	});

	test('what no test runs is told by its lines', () => {
		const unseen = [3, 3, 7].map((line) => ({ ...survivor, line, reached: false }));
		const page = mutationPage([wait], new Map([['wait', { ...result, survivors: unseen }]]), []);
		expect(page).toContain('- wait/a.ts: 3, in the lines 3, 7');
		expect(page).not.toContain('now >= deadline');
		expect(page).toContain('| 3 of 3 |');
	});

	test('a folder in which nothing lives says so', () => {
		const page = mutationPage([wait], new Map([['wait', { ...result, survivors: [] }]]), []);
		expect(page).toContain('No mutant lives.');
	});

	test('a folder that was measured without its tests in the engine says so', () => {
		const partly = { ...result, tests: ['unit/poll'] };
		expect(mutationPage([wait], new Map([['wait', partly]]), [])).toContain(
			'| **81.8%** by unit tests alone | 9 / 11 |',
		);
		const without = { ...wait, engine: [] };
		expect(mutationPage([without], new Map([['wait', partly]]), [])).toContain('| **81.8%** | 9');
	});

	test('a folder that was not measured is named', () => {
		expect(mutationPage([wait], new Map(), [])).toContain('| wait | 90% | not measured |');
	});

	test('what would end a cell or the code in it does not', () => {
		const odd = { ...survivor, change: 'a || b → `${a}`' };
		const page = mutationPage([wait], new Map([['wait', { ...result, survivors: [odd] }]]), []);
		expect(page).toContain('| `` a \\|\\| b → `${a}` `` |');
	});
});

test('every folder of the code is measured, by tests that exist', () => {
	for (const folder of folders) expect(missingTests(folder)).toEqual([]);
	const plan = readFileSync(join(__dirname, '../unit/rooms.test.ts'), 'utf8');
	const rooms = [
		...(/const FLOORS = \[([\s\S]*?)\n\];/.exec(plan)?.[1] ?? '').matchAll(/'(\w+)'/g),
	];
	const names = rooms.map(([, name]) => name ?? '').filter((name) => name !== 'node');
	expect(names.length).toBeGreaterThan(8);
	for (const name of names)
		expect(folders.flatMap(({ sources }) => sources)).toContain(
			`nodes/MediaGeneration/${name}/**/*.ts`,
		);
});
