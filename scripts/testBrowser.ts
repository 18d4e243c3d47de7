/**
 * `npm run test:browser`: drives n8n's real editor in headless Chromium. `-- --pictures` also renews the pictures in docs/images and
 * examples/images. The package must be built.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';
import { Halt, runMain } from './halt';
import { ensureN8n } from './n8nInstall';
import { root } from './pack';

const folder = join(root, 'test', 'browser');
const ending = '.browser.ts';
const known = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser's path; installed from Debian's packages where that is possible. */
async function ensureChromium(): Promise<string> {
	const given = process.env.CHROMIUM;
	if (given !== undefined && !existsSync(given))
		throw new Halt(`CHROMIUM names ${given}, which does not exist.`);
	const found = () => given ?? known.find((path) => existsSync(path));
	const present = found();
	if (present !== undefined) return present;
	const canInstall = existsSync('/usr/bin/apt-get') && process.getuid?.() === 0;
	if (canInstall) {
		console.log('Installing chromium (once) ...');
		const { execa } = await import('execa');
		const env = { DEBIAN_FRONTEND: 'noninteractive' };
		const options = { env, stdio: 'inherit', reject: false } as const;
		await execa('apt-get', ['update', '-qq'], options);
		await execa('apt-get', ['install', '-y', '-qq', 'chromium'], options);
	}
	const installed = found();
	if (installed !== undefined) return installed;
	throw new Halt(
		`No Chromium was found in ${known.join(', ')}. ` +
			(canInstall
				? '"apt-get install chromium" failed; its message is above.'
				: 'Install it (on Debian: "sudo apt-get install chromium"), or let the variable CHROMIUM name it, then run the command again.'),
	);
}

function chosenSuites(only: string[]): string[] {
	const all = readdirSync(folder).filter((name) => name.endsWith(ending));
	const chosen = all.filter((name) => only.length === 0 || only.includes(basename(name, ending)));
	if (chosen.length > 0) return chosen.sort().map((name) => join(folder, name));
	const names = all.map((name) => basename(name, ending)).join(', ');
	throw new Halt(`There is no suite ${only.join(', ')}. There are: ${names}.`);
}

runMain(async () => {
	const options = new Command()
		.name('npm run test:browser --')
		.description("Drives n8n's editor with the packed nodes in headless Chromium")
		.option('--only <name...>', 'run only these suites, e.g. "speech"')
		.option('--pictures', 'renew docs/images and examples/images')
		.parse()
		.opts<{ only?: string[]; pictures?: boolean }>();
	const suites = chosenSuites(options.only ?? []);
	const chromium = await ensureChromium();
	await ensureN8n();

	const { execa } = await import('execa');
	const tsx = pathToFileURL(require.resolve('tsx')).href;
	const child = execa(
		process.execPath,
		['--import', tsx, '--test-reporter=spec', join(folder, 'harness', 'runSuites.ts'), ...suites],
		{
			cwd: root,
			stdio: 'inherit',
			reject: false,
			env: {
				CHROMIUM: chromium,
				...(options.pictures === true ? { MEDIA_GENERATION_PICTURES: '1' } : {}),
			},
		},
	);
	for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
	process.on('SIGINT', () => {});
	const { exitCode } = await child;
	process.exitCode = exitCode ?? 1;
});
