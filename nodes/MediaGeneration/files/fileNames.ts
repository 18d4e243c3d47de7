/** Names the files of a task: after the File Name, or after type and task. */
import type { FileSettings } from '../actions/fileSettings';
import type { Done } from '../answers/verdict';
import { extensionIn, mediaOf } from '../base/fileTypes';
import type { OutputFile } from './outputFile';

/** File systems take 255 bytes: this leaves room for numbers, an extension, and what some programs put before or after a name. */
const MAX_NAME_BYTES = 185;
/** Windows and others refuse some of these in names; the rest are halves of characters, and marks that change the writing direction. */
const REFUSED_IN_NAMES = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069/\\:*?"<>|]+/gu;

/** Makes the name of files, without an extension that the user typed, because their own replaces it. Returns undefined if nothing is left. */
export function baseNameOf(text = ''): string | undefined {
	const typed = text.slice(0, 2_000).replace(/\s+/g, ' ').trim();
	const extension = extensionIn(typed);
	const isMedia = mediaOf(extension) !== undefined;
	let name = (isMedia ? typed.slice(0, -1 - extension.length) : typed)
		.normalize('NFC')
		.replace(REFUSED_IN_NAMES, '_')
		// A mark needs a character before it, here and for the cut.
		.replace(/^\p{M}+/u, '')
		.slice(0, MAX_NAME_BYTES + 1);
	// The cut lies between two characters, combining marks included.
	while (Buffer.byteLength(name) > MAX_NAME_BYTES) name = name.replace(/\P{M}\p{M}*$/u, '');
	return name.replace(/[. ]+$/, '') || undefined;
}

/** Returns the name of a task's files without their extensions. @param suffix after the File Name */
export function baseNameFor(
	{ task, taskId, outputs }: Omit<Done, 'kind'>,
	{ fileName }: FileSettings,
	suffix: string,
): string {
	const named = baseNameOf(fileName);
	if (named !== undefined) return `${named}${suffix}`;
	return baseNameOf(`${task.type ?? outputs[0]?.kind ?? 'file'}-${taskId}`) ?? 'file';
}

/** Numbers further files of a type, in place. If all have one type, the numbers are those of their binary fields. */
export function numberNames(files: readonly OutputFile[], baseName: string): void {
	const extensionOf = ({ output }: OutputFile) => output.fileName?.slice(baseName.length) ?? '';
	const stored = files.filter(({ binary }) => binary !== undefined);
	const isOneType = new Set(stored.map(extensionOf)).size === 1;
	const counts = new Map<string, number>();
	for (const file of stored) {
		const extension = extensionOf(file);
		const before = counts.get(extension) ?? 0;
		counts.set(extension, before + 1);
		const number = isOneType ? files.indexOf(file) : before;
		const fileName = `${baseName}${number === 0 ? '' : `_${number}`}${extension}`;
		file.output.fileName = fileName;
		if (file.binary !== undefined) file.binary.fileName = fileName;
	}
}
