import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Halt } from './halt';
import { withLock } from './lockFolder';
import { cacheFolder } from './n8nInstall';

/** Whether Debian's packages can be installed here without asking anybody. */
export function canInstallPackages(): boolean {
	return existsSync('/usr/bin/apt-get') && process.getuid?.() === 0;
}

/** Installs Debian's packages; commands that run at the same time wait for each other. Throws a {@link Halt} with apt-get's last words. */
export async function installPackages(packages: readonly string[]): Promise<void> {
	const { execa } = await import('execa');
	// In run level 1 Debian's packages do not start their servers, which would take the usual ports.
	const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
	mkdirSync(cacheFolder(), { recursive: true });
	await withLock(
		join(cacheFolder(), 'apt.lock'),
		async () => {
			console.log(`Installing ${packages.join(' and ')} from Debian's packages ...`);
			for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...packages]]) {
				const { exitCode, stderr } = await execa('apt-get', args, { env, reject: false });
				if (exitCode === 0) continue;
				throw new Halt(
					`apt-get ${args[0]} failed:\n\n${stderr.trim().split('\n').slice(-8).join('\n')}\n\nInstall ${packages.join(' and ')} by hand, then run the command again.`,
				);
			}
		},
		() => console.log('Another command is installing packages; waiting for it ...'),
	);
}
