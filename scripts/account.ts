import { InvalidArgumentError } from 'commander';
import { apiKeyProblem, baseUrlProblem } from '../nodes/MediaGeneration/transport/credentialFields';
import { Halt } from './halt';

export const keyVariable = 'MEDIA_GENERATION_API_KEY';

/** A real service's address with its key, which comes from the environment and is never printed. */
export function realAccount(baseUrl: string): { baseUrl: string; apiKey: string } {
	const apiKey = process.env[keyVariable] ?? '';
	const problem = baseUrlProblem(baseUrl);
	if (problem !== undefined) throw new Halt(problem.replace(' of the credential', ''));
	if (apiKeyProblem(apiKey) === undefined) return { baseUrl, apiKey };
	throw new Halt(
		`The API key is read from the environment: set ${keyVariable} to the key, which starts with sk_.`,
	);
}

/** Of a port or of seconds, for an option. */
export function wholeNumber(text: string): number {
	if (/^\d{1,5}$/.test(text) && Number(text) > 0 && Number(text) < 65_536) return Number(text);
	throw new InvalidArgumentError('It must be a whole number, 1 to 65535.');
}
