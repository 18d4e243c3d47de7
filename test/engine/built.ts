/** What is built, as n8n loads it: what is tested is what is published. */
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';

const load = createRequire(__filename);
const dist = join(__dirname, '..', '..', 'dist');

// Each test file has nodes that remember nothing of the file before it.
for (const file of Object.keys(load.cache))
	if (file.startsWith(dist + sep)) delete load.cache[file];

/** @param path of a file in `dist` */
export const built = <T>(path: string): T => load(join(dist, path)) as T;
