/** Makes the callback URLs that the action node hands to the service. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { showHint } from '../files/hint';
import { isPrivateHost } from '../transport/baseUrl';
import { publishedMethods } from '../transport/client';
import type { Credentials } from '../transport/credentials';
import { invalid } from '../base/failures';
import { urlOf } from '../base/json';
import { MAX_REFERENCE, sign } from './signature';

export function callbackUrlProblem(value: string, baseUrl: string): string | undefined {
	const url = urlOf(value);
	if (url === undefined)
		return 'it is not a URL. Copy the Production URL of a Media Generation Trigger, or of another webhook';
	if (url.protocol !== 'https:' && url.protocol !== 'http:')
		return `it starts with "${url.protocol}". The service can call http and https addresses only`;
	if (url.username !== '' || url.password !== '')
		return 'it contains a user name or password, which would be handed to the service. Remove them';
	if (isPrivateHost(url.hostname) && !isPrivateHost(new URL(baseUrl).hostname))
		return `the service can't reach ${url.hostname}, which is this machine or a private network. Set N8N_WEBHOOK_URL (in older versions of n8n WEBHOOK_URL) to a public address and copy the URL again`;
	return undefined;
}

/** Makes the `receive_url` of a request. Throws an `invalid` failure for a URL that can't work. @param now epoch ms */
export function prepareReceiveUrl(
	value: string,
	{ baseUrl, callbackSecret }: Credentials,
	{ reference = '', now }: { reference: string | undefined; now: number },
): string {
	const problem = callbackUrlProblem(value.trim(), baseUrl);
	if (problem !== undefined)
		throw invalid(
			`The Callback URL can't be used: ${problem}.`,
			'Correct the field Callback URL. Nothing was created.',
		);
	if (reference.length > MAX_REFERENCE)
		throw invalid(
			`The Callback Reference is longer than ${MAX_REFERENCE} characters`,
			'Use a short reference, such as an ID of your own.',
		);
	const url = new URL(value.trim());
	if (reference !== '') url.searchParams.set('reference', reference);
	if (callbackSecret !== '') sign(url, callbackSecret, now);
	return url.href;
}

/** Matches the path of a Media Generation Trigger, or of a node with the same kind of webhook. */
const PRODUCTION_PATH = /\/webhook\/[\da-f-]{36}\/callback$/;

/** Warns in the editor of n8n's test URLs, which work once, and of a trigger of this n8n whose Production URL nobody listens to. */
export async function warnOfCallbackUrls(
	context: IExecuteFunctions,
	callbackUrls: ReadonlyArray<string | undefined>,
): Promise<void> {
	const warn = (message: string) => showHint(context, 'warning', message);
	const isTestUrl = (url?: string) => urlOf(url)?.pathname.includes('/webhook-test/');
	const count = callbackUrls.filter(isTestUrl).length;
	const butSeveral = count === 1 ? '' : `, but ${count} tasks use it`;
	if (count > 0)
		warn(
			`The Callback URL is a Test URL of n8n: it takes one call, and only while the editor listens for it${butSeveral}. Use the Production URL of a published workflow.`,
		);
	if (context.getMode() !== 'manual') return;
	const here = urlOf(context.evaluateExpression('{{ $execution.resumeUrl }}', 0))?.origin;
	const url = callbackUrls.find(
		(given = '') =>
			PRODUCTION_PATH.test(given.replace(/[?#].*/s, '')) && urlOf(given)?.origin === here,
	);
	const methods = url === undefined ? undefined : await publishedMethods(context, url);
	if (methods === undefined || methods.includes('POST')) return;
	warn(
		'No published workflow listens at the Callback URL: n8n answers callbacks with an error, and nothing starts. Publish the workflow of that trigger. "Task: Wait" gets the results of tasks created before.',
	);
}
