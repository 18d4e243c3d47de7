/** How an n8n that was started is ended, with the processes that it started. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { signalGroup } from '../n8n/harness/group.cjs';

it('on Windows, by its own tool; asking ends nothing, and one that is gone is no failure', () => {
	const calls: Array<[string, string[]]> = [];
	const run = (file: string, args: string[]) => calls.push([file, args]);
	expect(signalGroup(4711, 'SIGTERM', { platform: 'win32', run })).toBe(true);
	expect(signalGroup(process.pid, 0, { platform: 'win32', run })).toBe(true);
	expect(calls).toEqual([['taskkill', ['/pid', '4711', '/t', '/f']]]);
	const gone = () => {
		throw new Error('not found');
	};
	expect(signalGroup(4711, 'SIGKILL', { platform: 'win32', run: gone })).toBe(false);
});

(process.platform === 'win32' ? it.skip : it)('elsewhere, by the whole group', async () => {
	const forever = 'setInterval(() => {}, 1000)';
	const parent = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(forever)}], { stdio: 'inherit' }); process.stdout.write('up'); ${forever}`;
	const child = spawn(process.execPath, ['-e', parent], {
		detached: true,
		stdio: ['ignore', 'pipe', 'ignore'],
	});
	await once(child.stdout, 'data');
	const group = child.pid as number;
	expect(signalGroup(group, 0)).toBe(true);
	expect(signalGroup(group, 'SIGKILL')).toBe(true);
	// The child holds the same pipe: it closes only when both are gone.
	await once(child.stdout, 'close');
});
