import { root } from './pack';

/** Runs Node.js in the checkout as a child whose failure becomes this process's: the first exit code that is not 0 stays. */
export async function runNode(
	args: readonly string[],
	env: Record<string, string> = {},
): Promise<void> {
	const { execa } = await import('execa');
	const options = { cwd: root, stdio: 'inherit', reject: false, env } as const;
	const child = execa(process.execPath, args, options);
	// Ctrl-C reaches the child by itself; the others are passed on, and the child cleans up before it ends.
	const passOn = (signal: NodeJS.Signals) => void child.kill(signal);
	const ignore = () => undefined;
	process.on('SIGTERM', passOn).on('SIGHUP', passOn).on('SIGINT', ignore);
	const { exitCode } = await child;
	process.off('SIGTERM', passOn).off('SIGHUP', passOn).off('SIGINT', ignore);
	process.exitCode = Number(process.exitCode ?? 0) || (exitCode ?? 1);
}

/** Jest with these arguments; see {@link runNode}. */
export const runJest = async (args: readonly string[], env?: Record<string, string>) =>
	await runNode([require.resolve('jest/bin/jest'), ...args], env);
