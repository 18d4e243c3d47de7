import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../pack';
import type { Folder } from './folders';

/** Where Stryker works and what it writes; neither is kept in the repository. */
export const reportsFolder = join(root, 'reports', 'mutation');
const sandboxes = '.stryker-tmp';
/** What Stryker remembers for the next run. */
export const incrementalFile = (folder: string): string =>
	join(reportsFolder, `${folder}.incremental.json`);
export const reportFile = (folder: string): string => join(reportsFolder, `${folder}.json`);

/** The test files of a folder, relative to `test` and without their ending. */
export const testsOf = ({ unit, engine }: Folder, inEngine: boolean): string[] => [
	...unit.map((name) => `unit/${name}`),
	...(inEngine ? engine.map((name) => `engine/${name}`) : []),
];

export interface Measuring {
	/** How many mutants at once. */
	concurrency: number;
	/** Whether the tests in n8n's engine run for what the unit tests leave alive. */
	engine: boolean;
}

/** What Stryker is asked to do for a folder; see its documentation of the configuration file. */
export function optionsFor(
	folder: Folder,
	{ concurrency, engine }: Measuring,
): Record<string, unknown> {
	const tests = testsOf(folder, engine).map((name) => `**/test/${name}.test.ts`);
	return {
		mutate: folder.sources,
		concurrency,
		testRunner: 'jest',
		jest: {
			configFile: 'jest.config.cjs',
			config: { testMatch: tests },
			enableFindRelatedTests: false,
		},
		plugins: [
			'@stryker-mutator/jest-runner',
			join(root, 'scripts', 'mutation', 'descriptions.mjs'),
		],
		ignorers: ['descriptions'],
		coverageAnalysis: 'perTest',
		// The engine's tests run what is built.
		...(engine ? { buildCommand: 'npm run build' } : {}),
		ignorePatterns: [
			'**',
			'!nodes/**',
			'!credentials/**',
			'!test/**',
			'!scripts/**',
			'!icons/**',
			'!*.{js,cjs,json}',
		],
		tempDirName: sandboxes,
		cleanTempDir: 'always',
		incremental: true,
		incrementalFile: incrementalFile(folder.name),
		reporters: ['json', 'progress-append-only'],
		jsonReporter: { fileName: reportFile(folder.name) },
		timeoutMS: 8_000,
		// Of the time that the tests took while it was counted what they reach, which takes several times as long as without.
		timeoutFactor: 0.5,
		dryRunTimeoutMinutes: 15,
		warnings: { slow: false, unknownOptions: false },
		disableTypeChecks: false,
		allowEmpty: true,
	};
}

/** The test files of a folder that do not exist. */
export function missingTests(folder: Folder): string[] {
	const there = (name: string) => existsSync(join(root, 'test', `${name}.test.ts`));
	return testsOf(folder, true).filter((name) => !there(name));
}
