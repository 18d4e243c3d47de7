/** n8n's test URL takes one callback, and only while the editor listens: fine for trying out, useless in production. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { showHint } from '../delivery/hint';
import { isTestUrl } from './receiveUrl';

/**
 * Warns in the editor where items were given a test URL.
 *
 * @param callbackUrls of all items, where they have one
 */
export function warnOfTestUrls(
	context: IExecuteFunctions,
	callbackUrls: ReadonlyArray<string | undefined>,
): void {
	const count = callbackUrls.filter((url) => url !== undefined && isTestUrl(url)).length;
	if (count === 0) return;
	const butSeveral = count === 1 ? '' : `, but ${count} tasks were given it`;
	showHint(
		context,
		'warning',
		`The Callback URL is a Test URL of n8n: it takes one call, and only while the editor listens for it${butSeveral}. Use the Production URL of a published workflow.`,
	);
}
