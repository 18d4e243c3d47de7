import { Halt } from './halt';

interface NpmOptions {
	cwd: string;
	/** What this command is for, as in "npm failed while ...". */
	purpose: string;
	/** Folders to put first on the PATH. */
	binFolders?: string[];
	/** Show npm's own output while it runs. */
	verbose?: boolean;
}

/** Runs npm and returns its stdout. A failure becomes a {@link Halt} with npm's last lines. */
export async function npm(args: string[], options: NpmOptions): Promise<string> {
	// Loaded when needed: execa is an ES module, which the compiled scripts can only import dynamically.
	const { execa } = await import('execa');
	const separator = process.platform === 'win32' ? ';' : ':';
	const result = await execa('npm', args, {
		cwd: options.cwd,
		env: {
			PATH: [...(options.binFolders ?? []), process.env.PATH ?? ''].join(separator),
			npm_config_update_notifier: 'false',
		},
		stdout: options.verbose ? ['pipe', 'inherit'] : 'pipe',
		stderr: options.verbose ? ['pipe', 'inherit'] : 'pipe',
		reject: false,
	});
	if (result.exitCode === 0) return result.stdout;
	const output = `${result.stderr}\n${result.stdout}`.trim().split('\n').slice(-12).join('\n');
	throw new Halt(
		`npm failed while ${options.purpose} (npm ${args[0]}, in ${options.cwd}). Its last words:\n\n${output || result.shortMessage}\n\n` +
			'Check the network and the disk, then run the command again.',
	);
}
