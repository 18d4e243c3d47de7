import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/pack';
import type { SavedReport } from './report';

/** Not committed: a measurement belongs to the machine it was made on. */
export const outFolder = join(root, 'bench', 'out');

const fileOf = (name: string) => join(outFolder, `${name}.json`);
const read = <T>(name: string): T | undefined =>
	existsSync(fileOf(name)) ? (JSON.parse(readFileSync(fileOf(name), 'utf8')) as T) : undefined;

export function save(name: string, result: object): void {
	mkdirSync(outFolder, { recursive: true });
	writeFileSync(fileOf(name), `${JSON.stringify(result, undefined, '\t')}\n`);
}

/** The last results of these benches, as far as there are any. */
export const savedReports = (names: readonly string[]) =>
	names.flatMap((name) => read<SavedReport>(name) ?? []);
