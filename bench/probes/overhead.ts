/** A process of its own, whose CPU time is measured: a number of generations by one of three ways. Prints JSON. */
import type { IExecuteFunctions, INodeType } from 'n8n-workflow';
import { Pool } from 'undici';
import { Container } from '../../test/engine/container';
import { clearEngine, mediaGeneration, passing } from '../../test/engine/engine';
import { runNode } from '../../test/engine/executions';
import { check } from '../stats';

const [baseUrl = '', apiKey = '', way = '', count = ''] = process.argv.slice(2);
const atOnce = 100;
const path = '/v1e/task/text-to-speech';

function bodyOf(index: number) {
	return { text: `Sentence ${index}`, voice: 'en-US-AriaNeural', with_transcript: false };
}

/** At most `atOnce` at a time. */
async function forAll(total: number, one: (index: number) => Promise<void>): Promise<void> {
	let next = 0;
	const worker = async () => {
		while (next < total) await one(next++);
	};
	await Promise.all(Array.from({ length: atOnce }, worker));
}

async function bare(total: number): Promise<number> {
	const pool = new Pool(baseUrl, { connections: atOnce });
	const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
	let done = 0;
	await forAll(total, async (index) => {
		const body = JSON.stringify(bodyOf(index));
		const created = await pool.request({ method: 'POST', path, headers, body });
		const { task_id: id } = (await created.body.json()) as { task_id: string };
		const looked = await pool.request({ method: 'GET', path: `/v1/task/${id}`, headers });
		const { status } = (await looked.body.json()) as { status: string };
		if (status === 'done') done += 1;
	});
	await pool.close();
	return done;
}

/** The least a node can do: the same requests by n8n's own helper, and nothing else. */
async function leastNode(this: IExecuteFunctions) {
	const items = this.getInputData().map(() => ({ json: {} }));
	const send = async (method: 'GET' | 'POST', url: string, body?: object) =>
		(await this.helpers.httpRequestWithAuthentication.call(this, 'mediaGenerationApi', {
			method,
			url: baseUrl + url,
			...(body === undefined ? {} : { body }),
			json: true,
		})) as { task_id: string; status: string };
	await forAll(items.length, async (index) => {
		const { task_id: id } = await send('POST', path, bodyOf(index));
		items[index] = { json: await send('GET', `/v1/task/${id}`) };
	});
	return [items];
}

const leastType = passing('least', leastNode);
leastType.description.credentials = [{ name: 'mediaGenerationApi', required: true }];

async function engine(total: number, type: INodeType): Promise<number> {
	const parameters = {
		resource: 'speech',
		operation: 'generateByVoiceName',
		voice: 'en-US-AriaNeural',
		text: '={{ "Sentence " + $json.index }}',
		withTranscript: false,
		downloadOutput: false,
		options: { maxActiveTasks: atOnce },
	};
	const items = Array.from({ length: total }, (_, index) => ({ index }));
	const { output } = await runNode({ parameters, items, credentials: { baseUrl, apiKey } }, type);
	return output.filter(({ json }) => json.status === 'done').length;
}

const ways: Record<string, (total: number) => Promise<number>> = {
	bare,
	least: async (total) => await engine(total, leastType),
	node: async (total) => await engine(total, mediaGeneration),
};

async function main(): Promise<void> {
	const go = ways[way];
	check(go !== undefined, `unknown way ${way}`);
	// What is logged is written, as by n8n.
	Container.reset();
	// Once before, so that modules are loaded and code is compiled.
	await go(200);
	const before = process.cpuUsage();
	const started = Date.now();
	const done = await go(Number(count));
	const { user, system } = process.cpuUsage(before);
	console.log(
		JSON.stringify({ cpuMs: (user + system) / 1000, wallMs: Date.now() - started, done }),
	);
	clearEngine();
	process.exit();
}

void main();
