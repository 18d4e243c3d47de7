/** Writes to n8n's log, without secrets and without ever ending a run. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { messageOf } from '../base/outcomes';
import { onOneLine } from '../base/words';
import { cleanerOf } from './clean';

/** Ignores exceptions: a note, hint or log line that can't be written must not end the run. */
export function quietly(tell: () => void): void {
	try {
		tell();
	} catch {
		// There is no other place to report it.
	}
}

type Log = Record<'info' | 'warn', (line: string) => void>;

export function logOf(context: Pick<IExecuteFunctions, 'logger'>): Log {
	const { logger } = context;
	const clean = (line: string) => onOneLine(cleanerOf(context).text(`Media Generation: ${line}`));
	return {
		info: (line: string) => quietly(() => logger.info(clean(line))),
		warn: (line: string) => quietly(() => logger.warn(clean(line))),
	};
}

/** Leaves work to itself. A failure of it is logged. */
export function inBackground(
	context: Pick<IExecuteFunctions, 'logger'>,
	work: Promise<unknown>,
): void {
	work.catch((error: unknown) => logOf(context).warn(`unexpected failure: ${messageOf(error)}`));
}
