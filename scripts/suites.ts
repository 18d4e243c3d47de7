import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { runNode } from './child';
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

/** Runs a TypeScript file on the nodes as they were built and an installed n8n. */
export async function runFile(
	file: string,
	args: readonly string[],
	{ nodeArgs = [], env }: ChildOptions = {},
): Promise<void> {
	await ensureN8n();
	await runNode(['--import', 'tsx', ...nodeArgs, file, ...args], env);
}

/** Runs suites by Node.js's own test runner, one after another in one child process, so that they share one n8n and call the stand-in directly. */
export async function runSuites(
	suites: Suites,
	{ nodeArgs = ['--test-reporter=spec'], env }: ChildOptions = {},
): Promise<void> {
	const runner = join(root, 'test', 'n8n', 'harness', 'runSuites.ts');
	await runFile(runner, [...suites.values()], { nodeArgs, env });
}
