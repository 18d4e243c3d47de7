import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before } from 'node:test';
import { onCleanup } from '../../../scripts/cleanup';
import { packPackage } from '../../../scripts/pack';
import { type SettingsPatch, type StandIn, startService } from '../../service';
import { type N8n, type N8nOptions, startN8n } from './n8n';
import { Rest, type SavedCredential, type SavedWorkflow } from './rest';
import { type Link, type Node, workflowOf } from './nodes';

/** What a suite works with: an n8n with the packed nodes in it, the stand-in, and a credential that leads from one to the other. */
export interface TestContext {
	n8n: N8n;
	rest: Rest;
	service: StandIn;
	credential: SavedCredential;
	/** Saves a workflow with this context's credential; its nodes form a chain, unless the links say otherwise. */
	readonly save: (nodes: Node[], links?: Link[], settings?: object) => Promise<SavedWorkflow>;
	/** Starts n8n again, which was killed, and logs in. */
	startAgain(): Promise<void>;
	/** Ends n8n and the stand-in. */
	close(): Promise<void>;
}

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
}: ContextOptions = {}): Promise<TestContext> {
	const service = await startService({ settings: { taskMs, ...settings } });
	const forget = onCleanup(() => service.close());
	try {
		const n8n = given ?? (await startOne(options, await packedTarball()));
		const rest = new Rest(n8n.baseUrl);
		await rest.ownerSetup();
		const credential = await rest.createCredential('Media Generation API', 'mediaGenerationApi', {
			apiKey: service.apiKey,
			baseUrl: service.baseUrl,
			callbackSecret,
		});
		return {
			n8n,
			rest,
			service,
			credential,
			async save(nodes, links, settings) {
				const workflow = workflowOf(nodes[0]?.webhookId ?? 'Test', nodes, credential, links);
				Object.assign(workflow.settings ?? {}, settings);
				return await rest.createWorkflow(workflow);
			},
			async startAgain() {
				await n8n.restart();
				await rest.login();
			},
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
