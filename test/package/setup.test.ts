/** `scripts/setup.mjs`, with a stand-in for npm that notes how it was called: nothing is installed here. */
import { spawnSync } from 'node:child_process';
import {
	chmodSync,
	cpSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const script = join(__dirname, '..', '..', 'scripts', 'setup.mjs');
/** The stand-in is a shell script. */
const where = process.platform === 'win32' ? describe.skip : describe;

where('setup', () => {
	let folder: string;

	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), 'media-generation-setup-'));
		for (const name of ['scripts', 'bin', 'node_modules']) mkdirSync(join(folder, name));
		cpSync(script, join(folder, 'scripts', 'setup.mjs'));
		writeFileSync(join(folder, 'package-lock.json'), '{}');
	});
	afterEach(() => rmSync(folder, { recursive: true, force: true }));

	/** Runs the set-up with an npm that fails for these commands; what it printed, and which commands it gave npm. */
	function setUp(failing: string[]) {
		const npm = join(folder, 'bin', 'npm');
		writeFileSync(
			npm,
			`#!/bin/sh\necho "$1" >> "${folder}/calls"\ncase " ${failing.join(' ')} " in *" $1 "*) exit 1;; esac\n`,
		);
		chmodSync(npm, 0o755);
		writeFileSync(join(folder, 'calls'), '');
		const result = spawnSync(process.execPath, [join(folder, 'scripts', 'setup.mjs')], {
			encoding: 'utf8',
			env: { ...process.env, PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter) },
		});
		const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
		return { status: result.status, text: result.stdout + result.stderr, calls };
	}

	it('installs exactly what is locked, once per lock file', () => {
		expect(setUp([])).toMatchObject({ status: 0, calls: ['ci'] });
		expect(setUp([])).toMatchObject({ status: 0, calls: [''] });
		writeFileSync(join(folder, 'package-lock.json'), '{ "name": "another" }');
		expect(setUp([])).toMatchObject({ status: 0, calls: ['ci'] });
	});

	it('takes what an npm ci of one’s own has installed, and nothing less', () => {
		const at = (version: string) => ({ 'node_modules/needed': { version } });
		const elsewhere = { 'node_modules/for-macos': { version: '1.0.0', optional: true } };
		const locked = { packages: { '': {}, ...at('1.0.0'), ...elsewhere } };
		writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(locked));
		const installed = (packages: object) => {
			const noted = join(folder, 'node_modules', '.package-lock.json');
			writeFileSync(noted, JSON.stringify({ packages }));
			return setUp([]).calls;
		};
		expect(installed(at('1.0.0'))).toEqual(['']);
		expect(installed(at('0.9.0'))).toEqual(['ci']);
		rmSync(join(folder, 'node_modules', '.media-generation-setup'));
		expect(installed({})).toEqual(['ci']);
	});

	it('goes on with npm install where npm ci fails, and says so', () => {
		const { status, calls, text } = setUp(['ci']);
		expect({ status, calls }).toEqual({ status: 0, calls: ['ci', 'install'] });
		expect(text).toContain('"npm ci" failed; its message is above. Trying "npm install"');
	});

	it('says what to do where neither works, and tries again the next time', () => {
		const { status, calls, text } = setUp(['ci', 'install']);
		expect({ status, calls }).toEqual({ status: 1, calls: ['ci', 'install'] });
		expect(text).toContain('Check the network and the disk, then run the command again.');
		expect(setUp([])).toMatchObject({ status: 0, calls: ['ci'] });
	});
});
