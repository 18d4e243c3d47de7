/** "Test" of the credential: one request for the balance, and words for each way to fail. n8n's own rules can't tell a balance from any other JSON. */
import type {
	ICredentialsDecrypted,
	ICredentialTestFunctions,
	IHttpRequestOptions,
	INodeCredentialTestResult,
} from 'n8n-workflow';
import { balanceProblem } from '../answers/balance';
import { unreachableAdvice } from '../answers/failures';
import { readJson, readText } from '../base/bounded';
import { onOneLine } from '../base/words';
import { Cleaner } from '../n8n/clean';
import { reasonOf } from '../n8n/networkError';
import { credentialProblem, credentialsIn } from '../transport/credentialFields';
import { withKey } from '../transport/keyedRequest';

interface TestAnswer {
	statusCode: number;
	body: unknown;
}

async function answerProblem({ statusCode, body }: TestAnswer): Promise<string | undefined> {
	const { text, isComplete } = await readText(body);
	const json = readJson(text, undefined, isComplete);
	return balanceProblem({ answered: true, status: statusCode, headers: {}, text, ...json });
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
