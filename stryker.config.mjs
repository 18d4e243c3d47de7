/** `npm run test:mutation -- --folder NAME`; the options are StrykerJS's own (https://stryker-mutator.io). */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const nodes = 'nodes/MediaGeneration';
/** The one way to the service and to its files. */
const door = 'client|credentials|keyedRequest|look|clean|baseUrl|networkError|fileHost|bounded';
const folders = {
	create: `${nodes}/create/**/*.ts`,
	wait: `${nodes}/wait/**/*.ts`,
	sleep: `${nodes}/sleep/**/*.ts`,
	callback: `${nodes}/callback/**/*.ts`,
	door: `${nodes}/{service,base}/@(${door}).ts`,
	credential: 'credentials/**/*.ts',
	service: [`${nodes}/{service,base}/*.ts`, `!${nodes}/{service,base}/@(${door}).ts`],
	run: `${nodes}/run/**/*.ts`,
	delivery: `${nodes}/delivery/**/*.ts`,
	media: `${nodes}/media/**/*.ts`,
	operations: `${nodes}/{operations/**/*,*.node}.ts`,
};
/** A wrong decision there costs money, loses a task or gives the key away. */
const strict = ['create', 'wait', 'sleep', 'callback', 'door', 'credential'];
const folder = process.env.MUTATION_FOLDER ?? 'create';
if (!(folder in folders))
	throw new Error(`There is no folder ${folder}. There are: ${Object.keys(folders).join(', ')}.`);

/** Unit tests that import something of the folder, themselves or by a helper beside them, or run the whole node, and the models. Those of the repository's own texts would read the mutants. */
const imported = {
	door: `((service|base)/(${door})|credentials/.*)'`,
	service: '/(service|base)/',
	credential: 'credentials/',
	operations: "(operations/|[./]node')",
};
const imports = new RegExp(`(from|import) '.*(${imported[folder] ?? `/${folder}/`}|model/node')`);
const withHelpers = (file) => {
	const text = readFileSync(file, 'utf8');
	const names = [...text.matchAll(/from '(\.\/\w+)'/g)].map(([, name]) => `${name}.ts`);
	return [text, ...names.map((name) => readFileSync(join(dirname(file), name), 'utf8'))].join('\n');
};
const tests = readdirSync(join('test', 'unit'), { recursive: true, encoding: 'utf8' })
	.filter((name) => name.endsWith('.test.ts') && !/^(package|rooms)\./.test(name))
	.map((name) => join('test', 'unit', name))
	.filter((file) => imports.test(withHelpers(file)));
const model = { credential: 'no', media: 'no', operations: 'reads' }[folder] ?? '*';
process.env.MODEL_SEEDS ??= '50';

export default {
	mutate: [folders[folder]].flat(),
	thresholds: { high: 95, low: 90, break: strict.includes(folder) ? 90 : 85 },
	testRunner: 'jest',
	jest: {
		config: { testMatch: [...tests, `test/model/${model}.test.ts`].map((file) => `**/${file}`) },
		enableFindRelatedTests: false,
	},
	coverageAnalysis: 'perTest',
	plugins: ['@stryker-mutator/jest-runner', './scripts/descriptions.mjs'],
	ignorers: ['descriptions'],
	ignorePatterns: ['**', '!{nodes,credentials,icons,test,scripts}/**', '!*.{js,json,cjs}'],
	tempDirName: '.stryker-tmp',
	incremental: true,
	incrementalFile: `reports/mutation/${folder}.json`,
	reporters: ['clear-text', 'progress-append-only'],
	clearTextReporter: { logTests: false, allowColor: false },
	concurrency: 2,
	timeoutMS: 60_000, // A busy machine kills no mutant.
};
