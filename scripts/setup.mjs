// Installs the development dependencies once per lock file. Plain Node.js: it runs before anything is installed.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const neededGigabytes = 2;

/** Ends the process with a message that says what to do next. */
function stop(message) {
	console.error(`\n${message}\n`);
	process.exit(1);
}

/** Whether npm did what it was asked for; its own message stays on the screen. */
function npm(...args) {
	try {
		execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
			cwd: root,
			stdio: 'inherit',
			shell: process.platform === 'win32',
		});
		return true;
	} catch {
		return false;
	}
}

const [major] = process.versions.node.split('.').map(Number);
if (major < 20)
	stop(
		`This project needs Node.js 20 or newer, and this is ${process.version}. Install a newer Node.js and run the command again.`,
	);

const lock = readFileSync(join(root, 'package-lock.json'));
const stamp = createHash('sha256').update(lock).update(process.versions.modules).digest('hex');
const stampFile = join(root, 'node_modules', '.media-generation-setup');
const textOf = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** Whether npm has installed what is locked, as by an `npm ci` of one's own: it notes what it did. Packages for other platforms are optional. */
function isInstalled() {
	const noted = textOf(join(root, 'node_modules', '.package-lock.json'));
	if (noted === '') return false;
	const { packages: installed } = JSON.parse(noted);
	return Object.entries(JSON.parse(lock).packages ?? {}).every(([path, { version, optional }]) =>
		path in installed ? installed[path].version === version : path === '' || optional,
	);
}

// The stamp is for what npm could install only in part, from a registry of one's own.
if (textOf(stampFile) !== stamp && !isInstalled()) {
	const { bavail, bsize } = statfsSync(root);
	if (bavail * bsize < neededGigabytes * 1e9)
		stop(
			`Not enough disk space in ${root}: the development dependencies take up to ${neededGigabytes} GB. Free some space and run the command again.`,
		);
	console.log('Installing the development dependencies (once per lock file) ...');
	if (!npm('ci')) {
		// A registry of one's own may lack what the lock file names for other platforms; npm install does without.
		console.log(
			'"npm ci" failed; its message is above. Trying "npm install", which takes the same versions where it can ...',
		);
		if (!npm('install', '--no-save'))
			stop(
				'"npm install" failed, too; its message is above. Check the network and the disk, then run the command again.',
			);
	}
	writeFileSync(stampFile, stamp);
}
