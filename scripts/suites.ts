import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureBuilt } from './built';
import { Halt } from './halt';
import { ensureN8n } from './n8nInstall';
import { root } from './pack';

/** Suites by their names, each with its file. */
export type Suites = ReadonlyMap<string, string>;

/** The suites of a folder: the files with this ending, named without it. */
export function suitesIn(folder: string, ending: string): Suites {
	const files = readdirSync(folder).filter((name) => name.endsWith(ending));
	return new Map(files.sort().map((name) => [basename(name, ending), join(folder, name)]));
}

/** The suites with these names, or all of them where none is given. A name that does not exist is refused, and the others are named. */
export function chooseSuites(suites: Suites, only: readonly string[] = []): Suites {
	const unknown = only.filter((name) => !suites.has(name));
	if (unknown.length === 0)
		return new Map([...suites].filter(([name]) => only.length === 0 || only.includes(name)));
	throw new Halt(
		`There is no suite ${unknown.join(', ')}. There are: ${[...suites.keys()].join(', ')}.`,
	);
}

interface ChildOptions {
	/** For Node.js itself, before the file. */
	nodeArgs?: readonly string[];
	env?: Record<string, string>;
}

/**
 * Runs a TypeScript file on the built nodes and an installed n8n, in a child process whose failure becomes this one's: the first exit
 * code that is not 0 stays.
 */
export async function runFile(
	file: string,
	args: readonly string[],
	{ nodeArgs = [], env = {} }: ChildOptions = {},
): Promise<void> {
	await ensureBuilt();
	await ensureN8n();
	const { execa } = await import('execa');
	const tsx = pathToFileURL(require.resolve('tsx')).href;
	const child = execa(process.execPath, ['--import', tsx, ...nodeArgs, file, ...args], {
		cwd: root,
		stdio: 'inherit',
		reject: false,
		env,
	});
	// Ctrl-C reaches the child by itself; the others are passed on, and the child cleans up before it ends.
	const passOn = (signal: NodeJS.Signals) => void child.kill(signal);
	const ignore = () => undefined;
	process.on('SIGTERM', passOn).on('SIGHUP', passOn).on('SIGINT', ignore);
	const { exitCode } = await child;
	process.off('SIGTERM', passOn).off('SIGHUP', passOn).off('SIGINT', ignore);
	process.exitCode = Number(process.exitCode ?? 0) || (exitCode ?? 1);
}

/** Runs suites by Node.js's own test runner, one after another in one child process, so that they share one n8n and call the stand-in directly. */
export async function runSuites(
	suites: Suites,
	{ nodeArgs = ['--test-reporter=spec'], env }: ChildOptions = {},
): Promise<void> {
	const runner = join(root, 'test', 'n8n', 'harness', 'runSuites.ts');
	await runFile(runner, [...suites.values()], { nodeArgs, env });
}
