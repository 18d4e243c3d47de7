/** Makes the callback URLs that the action node hands to the service. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { showHint } from '../n8n/editor';
import { logOf } from '../n8n/log';
import { BoundedMap } from '../base/boundedMap';
import { isPrivateHost } from '../transport/hosts';
import { publishedMethods } from '../transport/selfCall';
import type { Credentials } from '../transport/credentialFields';
import { invalid } from '../base/outcomes';
import { urlOf } from '../base/url';
import { isTriggerUrl, sign } from './signature';
import { MAX_REFERENCE } from '../base/bounds';

export function callbackUrlProblem(value: string, baseUrl: string): string | undefined {
	const url = urlOf(value);
	if (url === undefined)
		return 'it is not a URL. Copy the Production URL of a Media Generation Trigger, or of another webhook';
	if (url.protocol !== 'https:' && url.protocol !== 'http:')
		return `it starts with "${url.protocol}". The service can call http and https addresses only`;
	if (url.username !== '' || url.password !== '')
		return 'it contains a user name or password, which would be handed to the service. Remove them';
	if (isPrivateHost(url) && !isPrivateHost(new URL(baseUrl)))
		return `the service can't reach ${url.hostname}, which is this machine or a private network. Set N8N_WEBHOOK_URL (in older versions of n8n WEBHOOK_URL) to a public address and copy the URL again`;
	return undefined;
}

/** Returns the address at which this n8n says that it is called, without a slash at its end. */
export function ownAddress(context: IExecuteFunctions): string | undefined {
	const resumeUrl = urlOf(context.evaluateExpression('{{ $execution.resumeUrl }}', 0));
	return resumeUrl && resumeUrl.origin + resumeUrl.pathname.replace(/\/[^/]+\/[^/]+$/, '');
}

interface ReceiveUrlOptions {
	reference: string | undefined;
	/** The address of this n8n: only URLs of its triggers are signed. */
	here: string | undefined;
	/** Epoch ms. */
	now: number;
}

/** Makes the `receive_url` of a request. Throws an `invalid` failure for a URL that can't work. */
export function prepareReceiveUrl(
	value: string,
	{ baseUrl, callbackSecret }: Credentials,
	{ reference = '', here, now }: ReceiveUrlOptions,
): string {
	const problem = callbackUrlProblem(value, baseUrl);
	if (problem !== undefined)
		throw invalid(
			`The Callback URL can't be used: ${problem}.`,
			"Correct the field 'Callback URL'. Nothing was created.",
		);
	if (reference.length > MAX_REFERENCE)
		throw invalid(
			`The Callback Reference is longer than ${MAX_REFERENCE} characters`,
			'Use a short reference, such as an ID of your own.',
		);
	const url = new URL(value);
	if (reference !== '') url.searchParams.set('reference', reference);
	if (callbackSecret !== '' && isTriggerUrl(url, here)) sign(url, callbackSecret, now);
	return url.href;
}

/** Matches what looks like the path of a Media Generation Trigger, here or elsewhere. */
const PRODUCTION_PATH = /\/webhook\/[\da-f-]{36}\/callback$/;

/** URLs that this process has checked outside the editor. */
const checked = new BoundedMap<string, true>();

type Surroundings = Pick<ReceiveUrlOptions, 'here'> & Pick<Credentials, 'callbackSecret'>;

/** Explains why no callback arrives at a trigger's URL; undefined if no reason is known. */
async function triggerProblem(
	context: IExecuteFunctions,
	url: URL,
	{ here, callbackSecret }: Surroundings,
): Promise<string | undefined> {
	if (!isTriggerUrl(url, here))
		return callbackSecret !== ''
			? `The Callback URL is not signed, because it does not begin with the address of this n8n, ${here}. A trigger with a Callback Secret refuses its callbacks. If it leads to this n8n, set N8N_WEBHOOK_URL to its address.`
			: undefined;
	const methods = await publishedMethods(context, url.href);
	return methods === undefined || methods.includes('POST')
		? undefined
		: 'No published workflow listens at the Callback URL: n8n answers callbacks with an error, and nothing starts. Publish the workflow of that trigger. "Task: Wait" gets the results of tasks created before.';
}

/** Warns of n8n's test URLs, which work once, and of a trigger that gets no callback: in the editor, else once for each URL in the log. */
export async function warnOfCallbackUrls(
	context: IExecuteFunctions,
	callbackUrls: ReadonlyArray<string | undefined>,
	surroundings: Surroundings,
): Promise<void> {
	const warn = (message: string) => showHint(context, 'warning', message);
	const urls = callbackUrls.flatMap((given) => urlOf(given) ?? []);
	const count = urls.filter(({ pathname }) => pathname.includes('/webhook-test/')).length;
	const butSeveral = count === 1 ? '' : `, but ${count} tasks use it`;
	if (count > 0)
		warn(
			`The Callback URL is a Test URL of n8n: it takes one call, and only while the editor listens for it${butSeveral}. Use the Production URL of a published workflow.`,
		);
	const inEditor = context.getMode() === 'manual';
	const placeOf = ({ origin, pathname }: URL) => origin + pathname;
	const url = urls.find(
		(each) => PRODUCTION_PATH.test(each.pathname) && (inEditor || !checked.has(placeOf(each))),
	);
	if (url === undefined) return;
	if (!inEditor) checked.set(placeOf(url), true);
	const problem = await triggerProblem(context, url, surroundings);
	if (problem === undefined) return;
	if (inEditor) warn(problem);
	else logOf(context).warn(`${problem} (${placeOf(url)})`);
}
