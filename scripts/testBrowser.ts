/**
 * `npm run test:browser`: drives n8n's real editor in headless Chromium. `-- --pictures` also renews the pictures in docs/images and
 * examples/images.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { Halt, runMain } from './halt';
import { canInstallPackages, installPackages } from './apt';
import { ensureBuilt } from './built';
import { ensureN8n } from './n8nInstall';
import { root } from './pack';
import { chooseSuites, runFile, specReporter, suitesIn } from './suites';

const folder = join(root, 'test', 'browser');
const known = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The browser's path; installed from Debian's packages where that is possible. */
async function ensureChromium(): Promise<string> {
	const given = process.env.CHROMIUM;
	if (given !== undefined && !existsSync(given))
		throw new Halt(`CHROMIUM names ${given}, which does not exist.`);
	const found = () => given ?? known.find((path) => existsSync(path));
	const present = found();
	if (present !== undefined) return present;
	if (canInstallPackages()) await installPackages(['chromium']);
	const installed = found();
	if (installed !== undefined) return installed;
	throw new Halt(
		`No Chromium was found in ${known.join(', ')}. ` +
			'Install it (on Debian: "sudo apt-get install chromium"), or let the variable CHROMIUM name it, then run the command again.',
	);
}

runMain(async () => {
	const options = new Command()
		.name('npm run test:browser --')
		.description("Drives n8n's editor with the packed nodes in headless Chromium")
		.option('--only <name...>', 'run only these suites, e.g. "speech"')
		.option('--pictures', 'renew docs/images and examples/images')
		.parse()
		.opts<{ only?: string[]; pictures?: boolean }>();
	const suites = chooseSuites(suitesIn(folder, '.browser.ts'), options.only);
	const env = {
		CHROMIUM: await ensureChromium(),
		...(options.pictures === true ? { MEDIA_GENERATION_PICTURES: '1' } : {}),
	};
	await ensureBuilt();
	await ensureN8n();
	await runFile(join(folder, 'harness', 'runSuites.ts'), [...suites.values()], {
		nodeArgs: specReporter,
		env,
	});
});
