/** n8n's dependency container with a logger that keeps what is logged. To be loaded before n8n-core. */
import { Logger } from '@n8n/backend-common';
import { Container } from '@n8n/di';

export const logLines: string[] = [];
const keep = (message: unknown, metadata?: unknown) =>
	void logLines.push(`${String(message)} ${JSON.stringify(metadata) ?? ''}`);
const logger = { error: keep, warn: keep, info: keep, debug: keep, scoped: () => logger };
Container.set(Logger, logger as unknown as Logger);

export { Container };
