import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { ensureN8n } from '../../scripts/n8nInstall';

/** Loads each node once, and prints what fails. */
const loadAll = `
const failed = [];
for (const file of JSON.parse(process.argv[1])) {
	try { require(file); } catch (error) { failed.push(file + ': ' + String(error.message).split('\\n')[0]); }
}
process.stdout.write(JSON.stringify(failed), () => process.exit(0));
`;

/** Peers that an install without them leaves out break single nodes, and only when somebody uses them. */
describe("n8n's own nodes in the installation for trials and tests", () => {
	it('can all be loaded', async () => {
		const n8n = await ensureN8n();
		const folder = dirname(require.resolve('n8n-nodes-base/package.json', { paths: [n8n.dir] }));
		const known = join(folder, 'dist', 'known', 'nodes.json');
		const nodes = JSON.parse(readFileSync(known, 'utf8')) as Record<string, { sourcePath: string }>;
		const files = Object.values(nodes).map(({ sourcePath }) => join(folder, sourcePath));
		assert.ok(files.length > 300);
		const args = ['-e', loadAll, JSON.stringify(files)];
		const options = { maxBuffer: 2 ** 24, cwd: folder };
		const { stdout } = await promisify(execFile)(n8n.node, args, options);
		assert.deepEqual(JSON.parse(stdout), []);
	});
});
