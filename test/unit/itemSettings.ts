/** What an item's settings are where a test is not about them. */
import type { Assembly } from '../../nodes/MediaGeneration/files/assembly';
import type { FileSettings } from '../../nodes/MediaGeneration/actions/waiting';

export const FILES: FileSettings = {
	download: true,
	outputBinaryField: 'data',
	maxFileBytes: 1_000_000,
	splitFiles: false,
	transcriptInOutput: false,
};
export const ASSEMBLY: Assembly = { longText: { kind: 'off' }, texts: [''] };
