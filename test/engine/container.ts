/** n8n's dependency container and a logger that keeps what is logged. */
import { Logger } from '@n8n/backend-common';
import { Container } from '@n8n/di';

interface KeepingLogger {
	lines: string[];
}

let kept: KeepingLogger | undefined;

function keepingLogger(): KeepingLogger {
	const lines: string[] = [];
	const keep = (message: unknown, metadata?: unknown) => {
		lines.push(`${String(message)} ${JSON.stringify(metadata) ?? ''}`);
	};
	const logger = { lines, error: keep, warn: keep, info: keep, debug: keep, scoped: () => logger };
	Container.set(Logger, logger as unknown as Logger);
	return logger;
}

export function BackendLogger(): KeepingLogger {
	kept ??= keepingLogger();
	return kept;
}

BackendLogger();

export { Container };
