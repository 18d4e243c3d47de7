import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
	Rest,
	RestError,
	type SavedCredential,
	type SavedWorkflow,
} from '../../test/n8n/harness/rest';
import { readWorkflow } from '../../test/n8n/harness/workflow';
import { Halt } from '../halt';
import { root } from '../pack';
import { type StartState, startFolder } from './state';

const credentialName = 'Media Generation API';
const credentialType = 'mediaGenerationApi';

/** Logs in as the demo's owner, who is made on the first start. */
export async function logIn(baseUrl: string, { email, password }: StartState): Promise<Rest> {
	const rest = new Rest(baseUrl);
	try {
		await rest.login({ email, password });
	} catch (error) {
		if (!(error instanceof RestError) || error.status !== 401) throw error;
		await rest.ownerSetup({ email, password }).catch((cause: unknown) => {
			if (!(cause instanceof RestError)) throw cause;
			throw new Halt(
				`The n8n in ${startFolder} has another owner than state.json beside it says. Delete that folder to begin again.`,
			);
		});
	}
	return rest;
}

/** The credential for this service; its key and address are brought up to date on every start. */
export async function provideCredential(
	rest: Rest,
	data: { apiKey: string; baseUrl: string },
): Promise<SavedCredential> {
	const known = (await rest.listCredentials()).find(
		({ name, type }) => name === credentialName && type === credentialType,
	);
	return known
		? rest.updateCredential(known.id, credentialName, credentialType, data)
		: rest.createCredential(credentialName, credentialType, data);
}

/** Imports the example workflows that n8n does not have yet (by name: changed ones are left alone). All of them, by file name. */
export async function importExamples(
	rest: Rest,
	{ id, name }: SavedCredential,
): Promise<Map<string, SavedWorkflow>> {
	const folder = join(root, 'examples');
	const present = await rest.listWorkflows();
	const examples = new Map<string, SavedWorkflow>();
	for (const file of readdirSync(folder)
		.filter((entry) => entry.endsWith('.json'))
		.sort()) {
		const workflow = readWorkflow(join(folder, file), { credential: { id, name } });
		const known = present.find((other) => other.name === workflow.name);
		examples.set(file, known ?? (await rest.createWorkflow(workflow)));
	}
	return examples;
}
