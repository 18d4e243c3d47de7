/** What strangers who can post to a webhook, and a hostile service, do to n8n: its longest silence, and how much it grows. */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent } from 'undici';
import type { TestContext } from '../test/n8n/harness/context';
import { isFinished } from '../test/n8n/harness/execution';
import { fetch } from '../test/n8n/harness/http';
import { waitUntil } from '../test/n8n/harness/wait';
import { mark, type Bench } from './report';
import * as flow from './workflows';

const posts = 400;
/** Almost as much as an answer may have. */
const LARGEST = Array.from({ length: 99_000 }, (_, index) => `text ${index}`.padEnd(36, '.'));

type Work = (context: TestContext) => Promise<void>;

/** Posts at once, whatever they are answered. */
const postMany =
	(path: string, id = 'nobody'): Work =>
	async ({ n8n }) => {
		const headers = { 'content-type': 'application/json' };
		const request = { method: 'POST', headers, body: JSON.stringify({ id, status: 'done' }) };
		const send = async () => await (await fetch(n8n.baseUrl + path, request)).text();
		await Promise.all(Array.from({ length: posts }, send));
	};

const nameRunning =
	(texts: readonly string[]): Work =>
	async (context) => {
		const { service } = context;
		const id = await service.order({ stand_in: { never_ends: true } });
		const body = { id, status: 'doing', texts };
		service.faults.add({ route: 'poll', path: id, action: { type: 'notObject', body } });
		await postMany('/webhook/unsigned/callback', id)(context);
	};

/** One execution of a workflow, to its end, whatever that is. Its data is not read, as that would hold n8n, too. */
async function runOnce({ rest }: TestContext, path: string, jobs: object[]): Promise<void> {
	const id = (await rest.listWorkflows()).find(({ name }) => name === path)?.id ?? '';
	await rest.callWebhook(path, { jobs });
	const isOver = async () =>
		(await rest.listExecutions(id)).some((each) => isFinished(each.status));
	await waitUntil(isOver, { what: `The execution of ${path}` });
}

/** 1,000 items, one of which is answered with the most texts that are read. No task calls n8n: that would measure what callbacks cost. */
const createMany =
	(path: string): Work =>
	async (context) => {
		const body = { success: true, task_id: 'many', texts: LARGEST };
		const action = { type: 'notObject', body } as const;
		context.service.faults.add({ route: 'create', times: 1, action });
		const standIn = { no_callback: true };
		const jobs = Array.from({ length: 1_000 }, (_, index) => ({ text: `Sound ${index}`, standIn }));
		await runOnce(context, path, jobs);
	};

const fetchZeros: Work = async (context) => {
	const { service } = context;
	const zeros = { file_body: '\0'.repeat(20_000_000), file_type: 'audio/mpeg' };
	const ended = runOnce(context, 'fetching', [{ text: 'zeros', standIn: { never_ends: true } }]);
	const task = await waitUntil(() => service.creations(({ body }) => body.text === 'zeros')[0], {
		what: 'The task of zeros',
	});
	await service.finish(task.id, 'done', zeros);
	await ended;
};

const splitMany: Work = async (context) => {
	const url = (index: number) => `${context.service.fileUrl}/files/${index}.mp3`;
	const all_audio_urls = Array.from({ length: 10_000 }, (_, index) => url(index));
	const job = { text: 'split', standIn: { ms: 100, metadata: { all_audio_urls } } };
	await runOnce(context, 'splitting', [job]);
};

const WEBHOOK = `${posts} posts to n8n's Webhook node`;
const REQUEST = "1,000 items of n8n's HTTP Request node, one answer with 99,000 texts";
const BAD = '/webhook/signed/callback?expires=9999999999&nonce=a&signature=bad';

/** The last names n8n's own node under the same load: what that one costs is not ours. */
const attacks: Array<[name: string, work: Work, own?: string]> = [
	[WEBHOOK, postMany('/webhook/plain'), WEBHOOK],
	[`${posts} unsigned posts, one running task, small answer`, nameRunning([]), WEBHOOK],
	[`${posts} unsigned posts, one running task, largest answer`, nameRunning(LARGEST), WEBHOOK],
	[`${posts} posts with a bad signature`, postMany(BAD), WEBHOOK],
	[REQUEST, createMany('requesting'), REQUEST],
	['the same by ours, with signed Callback URLs', createMany('creating'), REQUEST],
	['20 MB of zeros for a sound', fetchZeros],
	['10,000 addresses in a task, Split Files', splitMany],
];

/** The longest time in which n8n answers nobody, and its growth, during an attack. All questions use one connection: a new one waits behind the posts. */
async function measure(context: TestContext, work: Work) {
	const dispatcher = new Agent({ connections: 1 });
	let longestMs = 0;
	const look = async () => {
		const askedAt = performance.now();
		await (await fetch(`${context.n8n.baseUrl}/healthz`, { dispatcher })).text();
		longestMs = Math.max(longestMs, performance.now() - askedAt);
	};
	const growthMb = await flow.growthMb(context, async () => await work(context), { look });
	return { seconds: longestMs / 1000, growthMb };
}

export const bench: Bench = {
	title: 'strangers at the door: the longest silence of n8n, and its growth',
	run: flow.inN8n({ settings: { taskMs: 50 } }, async (context, say) => {
		const { rest, service, n8n } = context;
		const { apiKey, baseUrl } = service;
		const callbackSecret = 'a-long-random-callback-secret';
		const secret = { apiKey, baseUrl, callbackSecret };
		const credential = await rest.createCredential('Signed', 'mediaGenerationApi', secret);
		const signed = { ...context, credential };
		const callbackUrl = `${n8n.baseUrl}/webhook/signed/callback`;
		const flows = {
			requesting: flow.createRequest(baseUrl, apiKey),
			creating: flow.generate({ waitForCompletion: false, callbackUrl }, { maxActiveTasks: 100 }),
			fetching: flow.generate({ downloadOutput: true }),
			splitting: flow.generate({}, { splitFiles: true }),
		};
		await flow.publish(context, 'plain', [flow.called('plain'), flow.last()]);
		await flow.publish(context, 'unsigned', [flow.trigger('unsigned'), flow.last()]);
		await flow.publish(signed, 'signed', [flow.trigger('signed'), flow.last()]);
		for (const [path, node] of Object.entries(flows))
			await flow.publish(signed, path, [flow.called(path), flow.oneItemEach(), node, flow.last()]);
		const costs = new Map<string, { seconds: number; growthMb: number }>();
		for (const [name, work] of attacks) {
			// Memory that an attack has left would hide what the next one takes.
			await n8n.restart();
			for (const path of ['plain', 'unsigned/callback', 'signed/callback'])
				await rest.callWebhook(path);
			// n8n goes on loading for a while.
			await delay(5_000);
			const cost = await measure(context, work);
			costs.set(name, cost);
			say(`${name}: ${cost.seconds.toFixed(2)} s, ${Math.round(cost.growthMb)} MB`);
			service.faults.clear();
		}
		/** Each cost beside the limit, or n8n's own node where that costs more: the worst of all. */
		const worst = (what: 'seconds' | 'growthMb', limit: number) => {
			const costOf = (name = '') => costs.get(name)?.[what] ?? 0;
			const shares = attacks.map(([name, , own]) => costOf(name) / Math.max(limit, costOf(own)));
			return Math.max(...shares);
		};
		return {
			tables: [
				{
					caption:
						'Each attack on an n8n that has just started. Silence: the longest answer of its health check',
					columns: ['', 'silence s', 'growth MB'],
					rows: [...costs].map(([name, { seconds, growthMb }]) => [name, seconds, growthMb]),
				},
			],
			marks: [
				mark("silence, beside 0.3 s or n8n's own node", worst('seconds', 0.3), [1, 'x']),
				mark("growth, beside 100 MB or n8n's own node", worst('growthMb', 100), [1, 'x']),
			],
			checked: ['each execution came to its end, each post was answered'],
		};
	}),
};
