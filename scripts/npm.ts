import { delimiter } from 'node:path';
import { Halt } from './halt';

interface NpmOptions {
	cwd: string;
	/** What this command is for, as in "npm failed while ...". */
	purpose: string;
	/** Folders to put first on the PATH. */
	binFolders?: string[];
}

/** Runs npm and returns its stdout. A failure becomes a {@link Halt} with npm's last lines. */
export async function npm(
	args: string[],
	{ cwd, purpose, binFolders = [] }: NpmOptions,
): Promise<string> {
	// Loaded when needed: execa is an ES module, which the compiled scripts can only import dynamically.
	const { execa } = await import('execa');
	const PATH = [...binFolders, process.env.PATH ?? ''].join(delimiter);
	const env = { PATH, npm_config_update_notifier: 'false' };
	const result = await execa('npm', args, { cwd, env, reject: false });
	if (result.exitCode === 0) return result.stdout;
	const output = `${result.stderr}\n${result.stdout}`.trim().split('\n').slice(-12).join('\n');
	throw new Halt(
		`npm failed while ${purpose} (npm ${args[0]}, in ${cwd}). Its last words:\n\n${output || result.shortMessage}\n\n` +
			'Check the network and the disk, then run the command again.',
	);
}
