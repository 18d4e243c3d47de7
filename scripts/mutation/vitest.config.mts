/** As `npm test` has it, for the test files of one folder: Stryker's runner has no option that names them. */
import all from '../../vitest.config.mjs';
import { TESTS_VARIABLE } from './options';

const names = (process.env[TESTS_VARIABLE] ?? '').split(',');

export default {
	...all,
	test: {
		...all.test,
		include: names.map((name) => `test/${name}.test.ts`),
		runner: './scripts/mutation/runner.ts',
	},
};
