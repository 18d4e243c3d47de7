/**
 * Vitest's runner of tests, with a test that fails where a file of tests can't be loaded: Stryker counts tests only, so that a change that
 * breaks the loading of a module would live.
 */
import { test, TestRunner } from 'vitest';

export default class LoadingIsTested extends TestRunner {
	override async importFile(
		...[path, source]: Parameters<TestRunner['importFile']>
	): Promise<void> {
		try {
			await super.importFile(path, source);
		} catch (error) {
			if (source !== 'collect') throw error;
			test('the file is loaded', () => {
				throw error;
			});
		}
	}
}
