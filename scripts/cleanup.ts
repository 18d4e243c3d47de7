type Step = () => Promise<void> | void;

const steps = new Set<Step>();
const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
let listening = false;
let running: Promise<void> | undefined;
let ending = false;

/** True once a signal has asked this process to end: failures after that are its consequences, and not worth a message. */
export function isEnding(): boolean {
	return ending;
}

/** Runs every step that was registered, the newest first; a failing one does not keep the others from running. */
export function cleanUp(): Promise<void> {
	running ??= (async () => {
		for (const step of [...steps].reverse()) {
			steps.delete(step);
			await Promise.resolve()
				.then(step)
				.catch((error: unknown) => console.error(error));
		}
		running = undefined;
	})();
	return running;
}

/** Registers what has to be undone before the process ends by Ctrl-C, SIGTERM or SIGHUP; the function that it returns takes the step off the list. */
export function onCleanup(step: Step): () => void {
	if (!listening) {
		listening = true;
		for (const [signal, code] of Object.entries(signals)) {
			process.on(signal, () => {
				ending = true;
				void cleanUp().finally(() => process.exit(code));
			});
		}
	}
	steps.add(step);
	return () => void steps.delete(step);
}
