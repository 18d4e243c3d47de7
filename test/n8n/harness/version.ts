import { n8nVersion } from '../../../scripts/n8nInstall';

/** Whether this run's n8n is at least this version. @param version e.g. `2.14` */
export function atLeast(version: string): boolean {
	return n8nVersion().localeCompare(version, 'en', { numeric: true }) >= 0;
}
