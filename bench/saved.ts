import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/pack';
import type { SavedReport } from './report';

/** Not committed: a measurement belongs to the machine it was made on. */
export const outFolder = join(root, 'bench', 'out');

/** The last results of these benches, as far as there are any. */
export function savedReports(names: readonly string[]): SavedReport[] {
	return names.flatMap((name) => {
		const file = join(outFolder, `${name}.json`);
		return existsSync(file) ? [JSON.parse(readFileSync(file, 'utf8')) as SavedReport] : [];
	});
}
