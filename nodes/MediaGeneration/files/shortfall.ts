/** Says what it means that files of a finished task are missing: a hint, or the failure of its item. */
import { isDataUrl } from '../answers/outputs';
import type { Done } from '../answers/verdict';
import { urlOf } from '../base/url';
import type { Failure } from '../base/outcomes';
import { onOneLine } from '../base/words';
import type { OutputFile } from './outputFile';

/** Returns nothing if all files are there. A missing transcript is a hint: it never withholds the sound. */
export function shortfallOf(
	{ taskId, task }: Omit<Done, 'kind'>,
	files: readonly OutputFile[],
): { hint?: string; failure?: Failure } {
	const missing = files.filter(({ problem }) => problem !== undefined);
	const [first] = missing;
	if (first === undefined) return {};
	const hasSound = files.some(({ binary, output }) => binary && output.kind === 'audio');
	if (hasSound && missing.every(({ output }) => output.kind === 'transcript'))
		return { hint: `The transcript could not be downloaded: ${first.problem}` };
	const which = files.length === 1 ? 'its file' : `${missing.length} of its ${files.length} files`;
	const named = missing.slice(0, 20).map(({ output: { url = '' } }) => shownAddress(url));
	const others = missing.length - named.length;
	const more = others === 0 ? '' : ` and ${others} more in 'outputs'`;
	const failure: Failure = {
		outcome: 'undelivered',
		message: `Task ${taskId} is done, but ${which} could not be downloaded: ${first.problem}`,
		description: `The task is paid for. Use "Task: Wait" with this task ID to fetch the files again, or open the addresses: ${named.join(' ')}${more}`,
		taskId,
		status: task.status,
	};
	return { failure };
}

/** Encodes what could be read as markup, and cuts an address that contains its file. */
function shownAddress(url: string): string {
	return isDataUrl(url) ? `${url.slice(0, 40)}...` : (urlOf(url)?.href ?? onOneLine(url));
}
