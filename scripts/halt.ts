import { cleanUp, isEnding } from './cleanup';

/** Something the person at the terminal can put right. Its message says what happened and what to do next; no stack is printed. */
export class Halt extends Error {
	override name = 'Halt';
}

/** Runs a script's main function; a {@link Halt} becomes one paragraph on stderr and exit code 1. */
export function runMain(main: () => Promise<void>): void {
	main().catch(async (error: unknown) => {
		if (isEnding()) return;
		console.error(error instanceof Halt ? `\n${error.message}\n` : error);
		await cleanUp();
		process.exit(1);
	});
}
