/** The n8n that `npm start` keeps between two starts. Not under version control. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { N8n } from '../../test/n8n/harness/n8n';
import { Rest, RestError, type SavedWorkflow } from '../../test/n8n/harness/rest';
import { exampleNames, exampleWorkflow } from '../../test/n8n/harness/workflow';
import { Halt } from '../halt';
import { installPackage, inTemporaryFolder, packPackage, root } from '../pack';

export const startFolder = join(root, '.n8n-start');
const stateFile = join(startFolder, 'state.json');

export interface StartState {
	email: string;
	/** Of the demo's owner. n8n wants 8 characters, a number and a capital. */
	password: string;
	/** The stand-in's API key: the same one each time, so that nothing in n8n has to change. */
	serviceKey: string;
}

export function readState(): StartState {
	if (existsSync(stateFile)) return JSON.parse(readFileSync(stateFile, 'utf8')) as StartState;
	const state: StartState = {
		email: 'owner@example.com',
		password: `Demo-1-${randomBytes(6).toString('base64url')}`,
		serviceKey: `sk_demo_${randomBytes(12).toString('hex')}`,
	};
	mkdirSync(startFolder, { recursive: true });
	writeFileSync(stateFile, JSON.stringify(state, null, '\t'), { mode: 0o600 });
	return state;
}

/** Installs the package as it was built into the demo's n8n. */
export async function installBuilt(): Promise<void> {
	console.log('Packing the nodes and installing them into n8n ...');
	await inTemporaryFolder(async (folder) => installPackage(await packPackage(folder), startFolder));
}

/** Logs in as the demo's owner, who is made on the first start. */
export async function logIn(baseUrl: string, { email, password }: StartState): Promise<Rest> {
	const rest = new Rest(baseUrl);
	const owner = { email, password };
	for (const enter of [
		async () => await rest.login(owner),
		async () => await rest.ownerSetup(owner),
	])
		try {
			await enter();
			return rest;
		} catch (error) {
			if (!(error instanceof RestError)) throw error;
		}
	throw new Halt(
		`The n8n in ${startFolder} has another owner than state.json beside it says. Delete that folder to begin again.`,
	);
}

/** Examples that others call: published, so that callbacks start them. */
const published = new Set(['on-completion']);

/**
 * Brings the credential for this service up to date, and imports the example workflows that n8n does not have yet (by name: changed ones
 * are left alone). All of them, by file name.
 */
export async function importExamples(
	rest: Rest,
	n8n: N8n,
	account: { apiKey: string; baseUrl: string },
): Promise<Map<string, SavedWorkflow>> {
	const [title, type] = ['Media Generation API', 'mediaGenerationApi'];
	const saved = await rest.listCredentials();
	const known = saved.find((one) => one.name === title && one.type === type);
	const credential = known
		? await rest.updateCredential(known.id, title, type, account)
		: await rest.createCredential(title, type, account);
	const present = await rest.listWorkflows();
	const examples = new Map<string, SavedWorkflow>();
	for (const name of exampleNames) {
		const workflow = exampleWorkflow(name, { credential, n8n });
		const same = present.find((other) => other.name === workflow.name);
		const example = same ?? (await rest.createWorkflow(workflow));
		if (same === undefined && published.has(name)) await rest.publish(example);
		examples.set(name, example);
	}
	return examples;
}
