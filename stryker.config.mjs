/** `npm run test:mutation -- --folder NAME --sample N`; the other options are StrykerJS's own (https://stryker-mutator.io). */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const nodes = 'nodes/MediaGeneration';
const { MUTATION_FOLDER: folder = 'task', MUTATION_SAMPLE: sample } = process.env;
const mutate = {
	credentials: 'credentials/**/*.ts',
	actions: `${nodes}/{actions/**/*,*.node}.ts`,
}[folder];

/** Unit tests that import something of the folder, themselves or by a helper beside them, or run the whole node, and the models. Those of the repository's own texts would read the mutants. */
const imports = new RegExp(`(from|import) '.*(/${folder}/|/${folder}'|model/node')`);
const withHelpers = (file) => {
	const text = readFileSync(file, 'utf8');
	const names = [...text.matchAll(/from '(\.\/\w+)'/g)].map(([, name]) => `${name}.ts`);
	return [text, ...names.map((name) => readFileSync(join(dirname(file), name), 'utf8'))].join('\n');
};
const tests = readdirSync(join('test', 'unit'), { recursive: true, encoding: 'utf8' })
	.filter((name) => name.endsWith('.test.ts') && !/^(package|layers|names)\./.test(name))
	.map((name) => join('test', 'unit', name))
	.filter((file) => imports.test(withHelpers(file)));
const model = { credentials: 'no', audio: 'no', methods: 'no', actions: 'reads' }[folder] ?? '*';
/** A wrong decision there costs money, loses a task or gives the key away. */
const strict = ['task', 'suspend', 'trigger', 'transport', 'credentials'];
process.env.MODEL_SEEDS ??= '200';

export default {
	mutate: [mutate ?? `${nodes}/${folder}/**/*.ts`],
	thresholds: { high: 95, low: 90, break: strict.includes(folder) ? 90 : 85 },
	testRunner: 'jest',
	jest: {
		config: { testMatch: [...tests, `test/model/${model}.test.ts`].map((file) => `**/${file}`) },
		enableFindRelatedTests: false,
	},
	coverageAnalysis: 'perTest',
	plugins: [
		'@stryker-mutator/jest-runner',
		'./scripts/descriptions.mjs',
		'./scripts/mutationSample.mjs',
	],
	ignorers: ['descriptions'],
	checkers: sample === undefined ? [] : ['sample'],
	ignorePatterns: ['**', '!{nodes,credentials,icons,test,scripts}/**', '!*.{js,json,cjs}'],
	tempDirName: '.stryker-tmp',
	// A sample says nothing of the changes that it left out.
	incremental: sample === undefined,
	incrementalFile: `reports/mutation/${folder}.json`,
	reporters: ['clear-text', 'progress-append-only'],
	clearTextReporter: { logTests: false, allowColor: false },
	concurrency: 2,
	timeoutMS: 60_000, // A busy machine kills no mutant.
};
