/** "Test" of the credential: one request for the balance, and words for each way to fail. n8n's own rules can't tell a balance from any other JSON. */
import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	IHttpRequestOptions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { creditsOf } from '../answers/balance';
import { unreachableAdvice } from '../answers/failures';
import { deniesSuccess } from '../answers/reply';
import { errorTextOf } from '../answers/said';
import { readJson, readText } from '../base/bounded';
import { isObject } from '../base/json';
import { onOneLine, quote } from '../base/words';
import { Cleaner } from '../n8n/clean';
import { reasonOf } from '../n8n/networkError';
import { credentialProblem, credentialsIn } from '../transport/credentialFields';
import { withKey } from '../transport/keyedRequest';

/** Without a version such as /v1, which this package adds itself. */
const ADDRESS = 'Enter the address of the API, without a version such as /v1.';

const BY_STATUS: Readonly<Record<number, string>> = {
	401: "The service does not accept this API key: it is invalid, has expired or was revoked. Copy it again from the API Keys page of the service. If the service wants the key in another header, change 'Key Header'.",
	403: 'The service accepts this API key, but not for reading the account. Allow it to do so at the service; generating may work all the same.',
	404: `There is no such service at the Base URL. ${ADDRESS}`,
	429: 'The service accepts no requests with this API key at the moment. Its daily limit may be reached. Try again later.',
};

interface TestAnswer {
	statusCode: number;
	body: unknown;
}

/** Returns why an answer shows no balance; undefined if it does. */
async function answerProblem({ statusCode, body: sent }: TestAnswer): Promise<string | undefined> {
	const { text, isComplete } = await readText(sent);
	const { body } = readJson(text, undefined, isComplete);
	if (statusCode >= 300 && statusCode < 400)
		return `The Base URL redirects to another address (HTTP ${statusCode}), and the API key is not sent there. Enter the address of the service itself, e.g. with https:// or without "www."`;
	if (body === undefined && /^\s*</.test(text))
		return `A web page came instead of JSON (HTTP ${statusCode}): the Base URL leads to a website, or something in front of the service has answered, such as a CDN, a firewall or a proxy. That says nothing about the API key. ${ADDRESS}`;
	const reason = quote(isObject(body) ? errorTextOf(body) : undefined);
	const said = reason === undefined ? '' : ` The service says: ${reason}`;
	const succeeded = statusCode < 300;
	if (succeeded && deniesSuccess(body))
		return `The service refuses to show the credits of this API key.${said}`;
	if (succeeded && creditsOf(body) !== undefined) return undefined;
	if (succeeded)
		return `The Base URL answers, but not with a credit balance, so it may be another service. ${ADDRESS}${said}`;
	// Some services refuse with 401 what a valid key may not do.
	const isLimited = statusCode === 401 && /permission|scope/i.test(JSON.stringify(body) ?? '');
	const known = BY_STATUS[isLimited ? 403 : statusCode];
	return `${known ?? `The service answered with HTTP ${statusCode}. Try again later.`}${said}`;
}

function silenceProblem(error: unknown): string {
	const reason = reasonOf(error);
	return `No answer came from the Base URL (${reason}). ${unreachableAdvice(reason)}, then test again.`;
}

export async function testCredential(
	{ helpers }: Pick<ICredentialTestFunctions, 'helpers'>,
	{ data = {} }: ICredentialsDecrypted,
): Promise<INodeCredentialTestResult> {
	const cleaner = new Cleaner();
	const notPassed = (message: string): INodeCredentialTestResult => {
		return { status: 'Error', message: onOneLine(cleaner.text(message)) };
	};
	const problem = credentialProblem(data);
	if (problem !== undefined) return notPassed(problem);
	const credentials = credentialsIn(data);
	cleaner.knows(credentials);
	const options: Partial<IHttpRequestOptions> & Record<string, unknown> = {
		...{ method: 'GET', uri: `${credentials.baseUrl}/v1/credits` },
		...{ headers: { Accept: 'application/json' }, timeout: 20_000 },
		// Of n8n's older helper, the only one that a test has.
		...{ simple: false, resolveWithFullResponse: true, useStream: true },
	};
	try {
		const answer = (await helpers.request(withKey(data, options))) as TestAnswer;
		const found = await answerProblem(answer);
		return found === undefined
			? { status: 'OK', message: 'Connection successful!' }
			: notPassed(found);
	} catch (error) {
		return notPassed(silenceProblem(error));
	}
}
