/** A process of its own: the longest time that one kind of work holds its event loop. Prints JSON. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import type { IBinaryData, INodeExecutionData } from 'n8n-workflow';
import { Container } from '../../test/engine/container';
import {
	clearEngine,
	type EngineOptions,
	prepareEngine,
	storeBinary,
} from '../../test/engine/engine';
import { runNode } from '../../test/engine/executions';
import { toneWav } from '../../test/service/media/tone';
import { check } from '../stats';

const [baseUrl = '', apiKey = '', work = ''] = process.argv.slice(2);

interface Work extends Pick<EngineOptions, 'parameters' | 'inputs'> {
	baseUrl?: string;
}

const generate = { resource: 'soundEffect', operation: 'generate', downloadOutput: false };
const join = { resource: 'audio', operation: 'join' };

const file = async (content: Buffer | string, mimeType: string): Promise<IBinaryData> =>
	await storeBinary(Buffer.from(content), 'file', mimeType);
const sound = async () => await file(toneWav('part', 16_000), 'audio/wav');
const oneSound = async () => [{ json: {}, binary: { data: await sound() } }];

/** An SRT of 20 MB in two parts, with as many cues as are read. */
async function captions(): Promise<INodeExecutionData[]> {
	const cues = Array.from(
		{ length: 25_000 },
		(_, index) => `${index + 1}\n00:00:00,000 --> 00:00:00,001\n${'word '.repeat(72)}\n`,
	).join('\n');
	const item = {
		json: {},
		binary: { data: await sound(), captions: await file(cues, 'application/x-subrip') },
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
	'nothing but n8n': async () => ({ parameters: join, inputs: await oneSound() }),
	'1,000 items at once': () => ({
		parameters: {
			...{ ...generate, text: '={{ "Sound " + $json.index }}' },
			options: { maxActiveTasks: 100 },
		},
		inputs: Array.from({ length: 1_000 }, (_, index) => ({ json: { index } })),
	}),
	'a text of 1 MB': () => ({
		parameters: {
			...{ resource: 'speech', operation: 'generateByVoiceName', voice: 'en-US-AriaNeural' },
			...{ text: '={{ $json.text }}', longText: 'parts', downloadOutput: false },
		},
		inputs: [{ json: { text: 'One sentence of many, and so on. '.repeat(32_000) } }],
	}),
	'captions of 20 MB': async () => ({ parameters: join, inputs: await captions() }),
	'an answer of 30 MB': async () => ({
		parameters: {
			...{ ...generate, text: 'large' },
			options: { timeout: 8, onTimeout: 'returnTask' },
		},
		inputs: [{ json: {} }],
		baseUrl: await largeAnswers(),
	}),
	'100 parts of 1 MB joined': async () => {
		const wav = Buffer.concat([toneWav('part', 48_000).subarray(0, 44), Buffer.alloc(1_000_000)]);
		wav.writeUInt32LE(wav.length - 8, 4);
		wav.writeUInt32LE(wav.length - 44, 40);
		const data = await file(wav, 'audio/wav');
		return {
			parameters: join,
			inputs: Array.from({ length: 100 }, () => ({ json: {}, binary: { data } })),
		};
	},
};

async function main(): Promise<void> {
	// What is logged is written, as by n8n.
	Container.reset();
	await prepareEngine();
	const made = await works[work]?.();
	if (made === undefined) return console.log(JSON.stringify(Object.keys(works)));
	const { baseUrl: other = baseUrl, ...options } = made;
	const credentials = { baseUrl, apiKey };
	// Once before, so that modules are loaded.
	await runNode({ parameters: join, inputs: await oneSound(), credentials });
	await runNode({ parameters: { ...generate, text: 'first' }, credentials });
	const delay = monitorEventLoopDelay({ resolution: 1 });
	delay.enable();
	const { output } = await runNode({ ...options, credentials: { baseUrl: other, apiKey } });
	// The last piece of work counts too.
	await setTimeout(20);
	delay.disable();
	check(output.length > 0, `${work}: no output`);
	console.log(JSON.stringify({ longestMs: delay.max / 1e6 }));
	clearEngine();
	process.exit();
}

void main();
