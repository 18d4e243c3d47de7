import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before } from 'node:test';
import { onCleanup } from '../../../scripts/cleanup';
import { packPackage } from '../../../scripts/pack';
import { type SettingsPatch, startService } from '../../service';
import { type N8n, type N8nOptions, startN8n } from './n8n';
import { Rest } from './rest';
import { type Link, type Node, workflowOf } from './nodes';

/** What a suite works with: an n8n with the packed nodes in it, the stand-in, and a credential that leads from one to the other. */
export type TestContext = Awaited<ReturnType<typeof startContext>>;

/** How fast the stand-in finishes its tasks unless a suite says otherwise. */
const taskMs = 1500;

let packed: Promise<string> | undefined;

/** The tarball of the built package: packed once per run, removed with it. MEDIA_GENERATION_TARBALL names a ready one. */
export function packedTarball(): Promise<string> {
	packed ??= (async () => {
		if (process.env.MEDIA_GENERATION_TARBALL) return process.env.MEDIA_GENERATION_TARBALL;
		const folder = mkdtempSync(join(tmpdir(), 'media-generation-pack-'));
		process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
		return packPackage(folder);
	})();
	return packed;
}

export interface ContextOptions extends Omit<N8nOptions, 'tarball'> {
	settings?: SettingsPatch;
	callbackSecret?: string;
	/** One that runs already. */
	n8n?: N8n;
}

/** Whether the suites run on n8n's queue mode (`npm run test:queue`), with its files in the database, instead of on one process. */
export const inQueueMode = process.env.MEDIA_GENERATION_N8N === 'queue';

async function startOne(options: ContextOptions, tarball: string): Promise<N8n> {
	if (!inQueueMode) return await startN8n({ ...options, tarball });
	const { startCluster } = await import('../../queue/cluster');
	const { asN8n } = await import('../../queue/clusterAsN8n');
	const { N8N_DEFAULT_BINARY_DATA_MODE: _, ...env } = options.env ?? {};
	return asN8n(await startCluster({ env, tarball }));
}

/** A context of one's own, for suites that kill n8n, need other settings, or disturb the others. Close it in `after()`. */
export async function startContext({
	settings,
	callbackSecret = '',
	n8n: given,
	...options
}: ContextOptions = {}) {
	const service = await startService({ settings: { taskMs, ...settings } });
	const forget = onCleanup(() => service.close());
	try {
		const n8n = given ?? (await startOne(options, await packedTarball()));
		const rest = new Rest(n8n.baseUrl);
		await rest.ownerSetup();
		const { apiKey, baseUrl } = service;
		/** One that leads to this stand-in, unless these fields say otherwise. */
		const addCredential = async (name: string, fields: object = {}) =>
			await rest.createCredential(name, 'mediaGenerationApi', {
				...{ apiKey, baseUrl, callbackSecret },
				...fields,
			});
		const credential = await addCredential('Media Generation API');
		/** Saves a workflow with this context's credential; its nodes form a chain, unless the links say otherwise. */
		const save = async (nodes: Node[], links?: Link[], own: object = {}) => {
			const workflow = workflowOf(nodes[0]?.webhookId ?? 'Test', nodes, credential, links);
			Object.assign(workflow.settings ?? {}, own);
			return await rest.createWorkflow(workflow);
		};
		return {
			n8n,
			rest,
			service,
			credential,
			addCredential,
			save,
			/** Saves a workflow, named by the path of its webhook, and publishes it. */
			publish: async (nodes: Node[], links?: Link[]) =>
				await rest.publish(await save(nodes, links)),
			/** Starts n8n again, which was killed, and logs in. */
			async startAgain() {
				await n8n.restart();
				await rest.login();
			},
			/** Ends n8n and the stand-in. */
			async close() {
				await n8n.stop();
				await service.close();
				forget();
			},
		};
	} catch (error) {
		await service.close();
		throw error;
	}
}

/** A context for the cases of one suite: handed over before the first, and closed after the last. Its files lie in a folder. */
export function ownContext(started: (context: TestContext) => void): void {
	let context: TestContext;
	before(async () => {
		context = await startContext({ env: { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' } });
		started(context);
	});
	after(async () => await context.close());
	afterEach(() => context.service.reset());
}

let shared: Promise<TestContext> | undefined;

/** The context that suites share, started by the first one that asks. The stand-in's records and faults are reset for each suite; the runner ends it. */
export async function sharedContext(): Promise<TestContext> {
	shared ??= startContext();
	const context = await shared;
	context.service.reset();
	return context;
}

/** Hands that context over before the first case of a suite. */
export const inSharedContext = (started: (context: TestContext) => void): void =>
	before(async () => started(await sharedContext()));
