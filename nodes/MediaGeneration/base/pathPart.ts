/** What an ID must not hold, because it becomes one part of a path. */
import { MAX_TASK_ID } from './bounds';

/**
 * Says why an ID can't be one part of a path; continues a sentence after "it". Its characters are not judged decoded: some servers decode a
 * part before they look for its route, some cut it off at one of `;?#`.
 */
export function idProblem(id: string): string | undefined {
	if (id.length > MAX_TASK_ID) return `is longer than ${MAX_TASK_ID} characters`;
	if (/\p{Cs}/u.test(id)) return 'contains an unpaired surrogate';
	if (/\p{Cc}/u.test(id)) return 'contains a control character';
	const sign = /[/\\?#%]/.exec(id)?.[0];
	if (sign !== undefined) return `contains the character ${sign}`;
	return /^\s*\.{1,2}\s*(;|$)/.test(id) ? 'means another place in the path' : undefined;
}
