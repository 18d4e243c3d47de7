/** What strangers can cost n8n: the longest silence of its event loop and the growth of memory, by what they send. In this process, without n8n's part. */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { WebhookResponse } from '../test/support/webhookResponse';
import { readJson, readText } from '../nodes/MediaGeneration/base/bounded';
import { cleanerOf, cleanItems } from '../nodes/MediaGeneration/n8n/clean';
import { inPieces } from '../nodes/MediaGeneration/n8n/clock';
import { receive } from '../nodes/MediaGeneration/trigger/receive';
import { prepareReceiveUrl } from '../nodes/MediaGeneration/trigger/receiveUrl';
import { readPosted } from '../nodes/MediaGeneration/trigger/webhook';
import { transcriptOf } from '../nodes/MediaGeneration/audio/captions';
import { soundFactsOf } from '../nodes/MediaGeneration/audio/scan';
import { splitText } from '../nodes/MediaGeneration/audio/split';
import { parseSrt } from '../nodes/MediaGeneration/audio/srt';
import { mark, type Bench, type Cell } from './report';
import { check } from './stats';

const KEY = 'sk_0123456789abcdef0123456789abcdef';
const SECRET = 'a secret of some length';
const CREDENTIAL = { apiKey: KEY, baseUrl: 'https://api.example', callbackSecret: '' };
const TWENTY_MB = 20_000_000;

/** 99,000 texts, and almost as many bytes as an answer may have. */
const LARGEST = JSON.stringify({
	...{ id: 't1', status: 'doing' },
	texts: Array.from({ length: 99_000 }, (_, index) => `text ${index}`.padEnd(36, '.')),
});

const parsedLargest = JSON.parse(LARGEST) as IDataObject;

function call() {
	const response = new WebhookResponse();
	return {
		getCredentials: async () => await Promise.resolve(CREDENTIAL),
		getRequestObject: () => ({ originalUrl: '/webhook/1/callback', headers: {} }),
		getResponseObject: () => response,
		getBodyData: () => ({ id: 't1', status: 'done' }),
		getQueryData: () => ({}),
		getNodeWebhookUrl: () => 'https://n8n.example/webhook/1/callback',
		getMode: () => 'webhook',
		getWorkflow: () => ({ id: 'w' }),
		getNode: () => ({ id: 'n', name: 'Trigger' }),
		getWorkflowStaticData: () => ({}),
		logger: { warn: () => undefined },
		helpers: {
			httpRequestWithAuthentication: async () =>
				await Promise.resolve({ statusCode: 200, headers: {}, body: LARGEST }),
		},
	} as unknown as IWebhookFunctions;
}
const SETTINGS = { statuses: ['done', 'error'], verify: true, types: [], deduplicate: true };

async function calls(): Promise<void> {
	const posts: Array<ReturnType<typeof receive>> = [];
	for (let index = 0; index < 400; index += 1) {
		posts.push(receive(call(), SETTINGS));
		// Each comes with a turn of its own, as from the network.
		await new Promise(setImmediate);
	}
	for (const { workflowData } of await Promise.all(posts))
		check(workflowData === undefined, 'a workflow was started');
}

/** Made before it is measured. */
const tokens = Array.from({ length: 5_000 }, (_, index) => {
	const given = { reference: `r${index}`, now: 0 };
	const credentials = { ...CREDENTIAL, callbackSecret: SECRET };
	return prepareReceiveUrl('https://n8n.example/webhook/1/callback', credentials, given);
});

async function cleaned(): Promise<void> {
	const context = {};
	cleanerOf(context).knows({ apiKey: KEY, callbackSecret: SECRET });
	const items: Array<{ json: IDataObject }> = [{ json: parsedLargest }];
	for (const url of tokens) {
		cleanerOf(context).hasSent(url);
		items.push({ json: { receive_url: url, echoed: url.slice(-64) } });
		await new Promise(setImmediate);
	}
	await cleanItems(context, items);
	for (const { json } of items.slice(1)) check(json.echoed === '***', 'not cleaned');
}

function* chunksOf(fill: number): Generator<Buffer> {
	for (let bytes = 0; bytes < TWENTY_MB; bytes += 65_536) yield Buffer.alloc(65_536, fill);
}

const text = 'One sentence. Another one; and so on. '.repeat(TWENTY_MB / 38);
const cues = '1\n00:00:00,000 --> 00:00:01,000\nword\n\n'.repeat(TWENTY_MB / 40);

const works: Array<[string, () => unknown]> = [
	['400 calls that name one running task with the largest answer', calls],
	['5,000 items with signed URLs and an answer of 99,000 texts, cleaned', cleaned],
	['20 MB of zeros as sound', async () => await soundFactsOf(chunksOf(0))],
	['20 MB of 0xff as sound', async () => await soundFactsOf(chunksOf(0xff))],
	[
		'20 MB as an answer',
		async () => readJson((await readText(Readable.from(chunksOf(0x5b)))).text),
	],
	['20 MB of brackets as JSON', () => readJson('['.repeat(TWENTY_MB))],
	[
		'20 MB as a callback',
		() => {
			try {
				readPosted(Buffer.alloc(TWENTY_MB, 0x22), {});
			} catch {
				// Refused, as it should be.
			}
		},
	],
	['20 MB of text, split', async () => await inPieces(splitText(text, 2_500))],
	['20 MB of captions', async () => await inPieces(parseSrt(cues))],
	[
		'20 MB of a transcript',
		async () => await inPieces(transcriptOf(`[${'{"text":"a"},'.repeat(1_500_000)}{}]`)),
	],
];

/** While work goes on, a timer looks at the clock and at the memory. */
async function measured(work: () => unknown): Promise<{ silentMs: number; grownMb: number }> {
	global.gc?.();
	const before = process.memoryUsage().rss;
	let [silentMs, peak, last] = [0, before, performance.now()];
	const look = () => {
		silentMs = Math.max(silentMs, performance.now() - last);
		last = performance.now();
		peak = Math.max(peak, process.memoryUsage().rss);
	};
	const timer = setInterval(look, 5);
	await delay(20);
	last = performance.now();
	await work();
	await delay(10);
	look();
	clearInterval(timer);
	return { silentMs, grownMb: (peak - before) / 1e6 };
}

export const bench: Bench = {
	title: 'what strangers can send to each seam, up to 20 MB of anything',
	run: async (say) => {
		const rows: Cell[][] = [];
		for (const [name, work] of works) {
			// The first round is that of the compiler.
			await measured(work);
			const { silentMs, grownMb } = await measured(work);
			rows.push([name, silentMs, grownMb]);
			say(`${name}: ${Math.round(silentMs)} ms, ${Math.round(grownMb)} MB`);
		}
		const of = (row: number, cell: 1 | 2) => Number(rows[row]?.[cell]);
		return {
			tables: [
				{
					caption: 'Longest silence of the event loop, and growth of the process at its peak',
					columns: ['', 'ms', 'MB'],
					rows,
				},
			],
			marks: [
				mark('silence under 400 calls for one task', of(0, 1), [300, 'ms']),
				mark('memory under 400 calls for one task', of(0, 2), [100, 'MB']),
				mark('silence while 99,000 texts are cleaned of 5,000 tokens', of(1, 1), [50, 'ms']),
			],
			checked: ['no call started a workflow', 'no token was left'],
		};
	},
};
