/** A process of its own: the longest time that one kind of work holds its event loop. Prints JSON. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { toneWav } from '../../test/service/media/tone';
import { check } from '../stats';
import { builtNode, runInEngine } from './engine';

const [work = '', folder = '', baseUrl = '', apiKey = ''] = process.argv.slice(2);

interface Work {
	parameters: IDataObject;
	items: INodeExecutionData[];
	baseUrl?: string;
}

const generate = { resource: 'soundEffect', operation: 'generate', downloadOutput: false };
const join = { resource: 'audio', operation: 'join' };

function file(content: Buffer | string, mimeType: string) {
	return { data: Buffer.from(content).toString('base64'), mimeType };
}

const sound = () => file(toneWav('part', 16_000), 'audio/wav');

/** An SRT of 20 MB in two parts. */
function captions(): INodeExecutionData[] {
	const cues = Array.from(
		{ length: 250_000 },
		(_, index) => `${index + 1}\n00:00:00,000 --> 00:00:00,001\nword\n`,
	).join('\n');
	const item = {
		json: {},
		binary: { data: sound(), captions: file(cues, 'application/x-subrip') },
	};
	return [item, item];
}

/** A service whose every task is an answer of 30 MB. */
async function largeAnswers(): Promise<string> {
	const large = JSON.stringify({ status: 'doing', list: Array<number>(15_000_000).fill(1) });
	const server = createServer((request, response) => {
		const creates = request.method === 'POST';
		response.end(creates ? JSON.stringify({ task_id: 'large' }) : large);
	}).listen(0, '127.0.0.1');
	await new Promise((resolve) => server.once('listening', resolve));
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const works: Record<string, () => Promise<Work> | Work> = {
	'nothing but n8n': () => ({ parameters: join, items: [{ json: {}, binary: { data: sound() } }] }),
	'1,000 items at once': () => ({
		parameters: {
			...{ ...generate, text: '={{ "Sound " + $json.index }}' },
			options: { maxActiveTasks: 100 },
		},
		items: Array.from({ length: 1_000 }, (_, index) => ({ json: { index } })),
	}),
	'a text of 1 MB': () => ({
		parameters: {
			...{ resource: 'speech', operation: 'generateByVoiceName', voice: 'en-US-AriaNeural' },
			...{ text: '={{ $json.text }}', longText: 'parts', downloadOutput: false },
		},
		items: [{ json: { text: 'One sentence of many, and so on. '.repeat(32_000) } }],
	}),
	'captions of 20 MB': () => ({ parameters: join, items: captions() }),
	'an answer of 30 MB': async () => ({
		parameters: {
			...{ ...generate, text: 'large' },
			options: { timeout: 8, onTimeout: 'returnTask' },
		},
		items: [{ json: {} }],
		baseUrl: await largeAnswers(),
	}),
	'100 parts of 1 MB joined': () => {
		const wav = Buffer.concat([toneWav('part', 48_000).subarray(0, 44), Buffer.alloc(1_000_000)]);
		wav.writeUInt32LE(wav.length - 8, 4);
		wav.writeUInt32LE(wav.length - 44, 40);
		const data = file(wav, 'audio/wav');
		return {
			parameters: join,
			items: Array.from({ length: 100 }, () => ({ json: {}, binary: { data } })),
		};
	},
};

async function main(): Promise<void> {
	const made = await works[work]?.();
	if (made === undefined) return console.log(JSON.stringify(Object.keys(works)));
	const node = await builtNode(folder);
	const access = { baseUrl: made.baseUrl ?? baseUrl, apiKey };
	// Once before, so that modules are loaded.
	await runInEngine(node, join, [{ json: {}, binary: { data: sound() } }], access);
	const delay = monitorEventLoopDelay({ resolution: 1 });
	delay.enable();
	const output = await runInEngine(node, made.parameters, made.items, access);
	delay.disable();
	check(output.length > 0, `${work}: no output`);
	console.log(
		JSON.stringify({ longestMs: delay.max / 1e6, json: Object.keys(output[0]?.json ?? {}) }),
	);
	process.exit();
}

void main();
