/** What strangers who can post to a webhook, and a hostile service, do to n8n: its longest silence, and how much it grows. */
import { setTimeout as delay } from 'node:timers/promises';
import { startContext, type TestContext } from '../test/n8n/harness/context';
import { fetch } from '../test/n8n/harness/http';
import { waitUntil } from '../test/n8n/harness/wait';
import { mark, type Bench } from './report';
import { megabytes } from './stats';
import { called, generate, last, oneItemEach, publish, trigger } from './workflows';

const posts = 400;
/** Almost as much as an answer may have. */
const LARGEST = Array.from({ length: 99_000 }, (_, index) => `text ${index}`.padEnd(36, '.'));

/** Posts at once, whatever they are answered. */
async function postMany({ n8n }: TestContext, path: string, body: object): Promise<void> {
	const headers = { 'content-type': 'application/json' };
	const send = async () =>
		await fetch(n8n.baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) });
	await Promise.all(Array.from({ length: posts }, async () => await (await send()).text()));
}

async function nameRunning(context: TestContext, texts: readonly string[]): Promise<void> {
	const { service } = context;
	const id = await service.order({ stand_in: { never_ends: true } });
	const body = { id, status: 'doing', texts };
	service.faults.add({ route: 'poll', path: id, action: { type: 'notObject', body } });
	await postMany(context, '/webhook/unsigned/callback', { id, status: 'done' });
}

/** One execution of a workflow, to its end, whatever that is. */
async function runOnce(context: TestContext, path: string, jobs: object[]): Promise<void> {
	const { rest } = context;
	const id = (await rest.listWorkflows()).find(({ name }) => name === path)?.id ?? '';
	await rest.callWebhook(path, { jobs });
	await rest.waitForExecutions(id, 1, 300_000);
}

const attacks: Record<string, (context: TestContext) => Promise<void>> = {
	[`${posts} posts to n8n's Webhook node`]: async (context) =>
		await postMany(context, '/webhook/plain', { id: 'nobody', status: 'done' }),
	[`${posts} unsigned posts that name one running task whose answer is small`]: async (context) =>
		await nameRunning(context, []),
	[`${posts} unsigned posts that name one running task with the largest answer`]: async (context) =>
		await nameRunning(context, LARGEST),
	[`${posts} posts with a bad signature`]: async (context) => {
		const signed = 'expires=9999999999&nonce=a&signature=bad';
		await postMany(context, `/webhook/signed/callback?${signed}`, { id: 'a', status: 'done' });
	},
	'1,000 items with signed Callback URLs, one answer with 99,000 texts': async (context) => {
		const body = { success: true, task_id: 'many', texts: LARGEST };
		context.service.faults.add({ route: 'create', times: 1, action: { type: 'notObject', body } });
		const jobs = Array.from({ length: 1_000 }, (_, index) => ({ text: `Sound ${index}` }));
		await runOnce(context, 'creating', jobs);
	},
	'20 MB of zeros for a sound': async (context) => {
		const { service } = context;
		const zeros = { file_body: '\0'.repeat(20_000_000), file_type: 'audio/mpeg' };
		const ended = runOnce(context, 'fetching', [{ text: 'zeros', standIn: { never_ends: true } }]);
		const task = await waitUntil(() => service.creations(({ body }) => body.text === 'zeros')[0], {
			timeoutMs: 60_000,
			what: 'The task of zeros',
		});
		await service.finish(task.id, 'done', zeros);
		await ended;
	},
	'10,000 addresses in a task, Split Files': async (context) => {
		const { service } = context;
		const url = (index: number) => `${service.fileUrl}/files/${index}.mp3`;
		const all_audio_urls = Array.from({ length: 10_000 }, (_, index) => url(index));
		const job = { text: 'split', standIn: { ms: 100, metadata: { all_audio_urls } } };
		await runOnce(context, 'splitting', [job]);
	},
};

/** The longest time in which n8n answers nobody, and how much more memory than before it holds, while an attack lasts. */
async function measure(context: TestContext, attack: (context: TestContext) => Promise<void>) {
	const { n8n } = context;
	const before = n8n.memory();
	let [most, longestMs, isOver] = [before, 0, false];
	const watching = (async () => {
		while (!isOver) {
			const askedAt = performance.now();
			await (await fetch(`${n8n.baseUrl}/healthz`)).text();
			longestMs = Math.max(longestMs, performance.now() - askedAt);
			most = Math.max(most, n8n.memory());
			await delay(20);
		}
	})();
	await attack(context).finally(() => (isOver = true));
	await watching;
	return { seconds: longestMs / 1000, growthMb: megabytes(most - before) };
}

export const bench: Bench = {
	title: 'strangers at the door: the longest silence of n8n, and its growth',
	async run(say) {
		const context = await startContext({ settings: { taskMs: 50 } });
		try {
			const { rest, service, n8n } = context;
			const { apiKey, baseUrl } = service;
			const callbackSecret = 'a-long-random-callback-secret';
			const secret = { apiKey, baseUrl, callbackSecret };
			const credential = await rest.createCredential('Signed', 'mediaGenerationApi', secret);
			const signed = { ...context, credential };
			const callbackUrl = `${n8n.baseUrl}/webhook/signed/callback`;
			const flows = {
				creating: generate({ waitForCompletion: false, callbackUrl }, { maxActiveTasks: 100 }),
				fetching: generate({ downloadOutput: true }),
				splitting: generate({}, { splitFiles: true }),
			};
			await publish(context, 'plain', [called('plain'), last()]);
			await publish(context, 'unsigned', [trigger('unsigned'), last()]);
			await publish(signed, 'signed', [trigger('signed'), last()]);
			for (const [path, node] of Object.entries(flows))
				await publish(signed, path, [called(path), oneItemEach(), node, last()]);
			for (const path of ['plain', 'unsigned/callback', 'signed/callback'])
				await rest.callWebhook(path, {});
			const rows: Array<[string, number, number]> = [];
			for (const [name, attack] of Object.entries(attacks)) {
				const { seconds, growthMb } = await measure(context, attack);
				say(`${name}: ${seconds.toFixed(2)} s, ${Math.round(growthMb)} MB`);
				rows.push([name, seconds, growthMb]);
				service.faults.clear();
				await delay(2_000);
			}
			const [, ...attacked] = rows;
			const worst = (column: 1 | 2) => Math.max(...attacked.map((row) => row[column]));
			return {
				tables: [
					{
						caption:
							'One n8n, the attacks one after another. Silence: the longest answer of its health check',
						columns: ['', 'silence s', 'growth MB'],
						rows,
					},
				],
				marks: [
					mark('longest silence under any attack', worst(1), [0.3, 's']),
					mark('largest growth under any attack', worst(2), [100, 'MB']),
				],
				bars: [],
				checked: ['each execution came to its end, each post was answered'],
			};
		} finally {
			await context.close();
		}
	},
};
