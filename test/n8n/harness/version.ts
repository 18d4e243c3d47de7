import { n8nVersion } from '../../../scripts/n8nInstall';

/** Whether this run's n8n is at least this version. @param version e.g. `2.14` */
export function atLeast(version: string): boolean {
	return n8nVersion().localeCompare(version, 'en', { numeric: true }) >= 0;
}

/** n8n 2.14 is the first that signs its resume URLs, which suspending needs. */
export const canSuspend = (): boolean => atLeast('2.14');

/** For `it(name, needsSuspending(), ...)`: skipped, with the reason, where n8n can't do it. */
export const needsSuspending = (): { skip: string | false } => ({
	skip: canSuspend() ? false : 'n8n signs its resume URLs from 2.14 on',
});
