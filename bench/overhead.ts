/** CPU time of 1,000 generations in n8n's engine, beside the same requests sent bare. Each way in a process of its own. */
import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { root } from '../scripts/pack';
import type { TaskRecord } from '../test/service';
import { mark, times, type Bench } from './report';
import { check, median } from './stats';

const items = 1_000;
const rounds = 5;
/** How many generations each process warms up with. */
const warmUp = 200;

const ways = [
	{ name: 'bare', label: 'bare requests by undici' },
	{ name: 'least', label: "the same by n8n's request helper, nothing else" },
	{ name: 'node', label: 'ours' },
];
type Way = (typeof ways)[number];

type Measured = Record<'cpuMs' | 'wallMs' | 'done', number>;

const apiKey = 'sk_bench';

/** The stand-in in a process of its own, so that its work is not counted. */
async function startStandIn() {
	const child = spawn(
		process.execPath,
		['--import', 'tsx', 'test/service/cli.ts', '--port', '0', '--task-ms', '0', '--key', apiKey],
		{ cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
	);
	for await (const line of createInterface(child.stdout)) {
		const baseUrl = /^Base URL\s+(\S+)/.exec(line)?.[1];
		if (baseUrl !== undefined) return { baseUrl, end: () => void child.kill('SIGTERM') };
	}
	throw new Error('The stand-in did not start');
}

/** Runs the way in a process of its own, with the built nodes and n8n-core's engine. */
async function probe(...args: string[]): Promise<Measured> {
	const script = ['--import', 'tsx', join(__dirname, 'probes', 'overhead.ts')];
	const options = { cwd: root, timeout: 180_000, maxBuffer: 100_000_000 };
	const { stdout } = await promisify(execFile)(process.execPath, [...script, ...args], options);
	return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Measured;
}

/** Sends everything once and counts it at the stand-in. */
async function measure({ name }: Way, baseUrl: string): Promise<Measured> {
	await fetch(`${baseUrl}/_control/reset`, { method: 'POST' });
	const measured = await probe(baseUrl, apiKey, name, String(items));
	const tasks = (await (await fetch(`${baseUrl}/_control/tasks`)).json()) as TaskRecord[];
	const creations = tasks.length;
	const polls = tasks.reduce((sum, task) => sum + task.polls, 0);
	check(measured.done === items, `${name}: ${measured.done} of ${items} tasks were done`);
	check(creations === items + warmUp, `${name}: ${creations} tasks were created`);
	check(polls === creations, `${name}: ${polls} polls for ${creations} tasks`);
	return measured;
}

export const bench: Bench = {
	title: `CPU time of ${items.toLocaleString('en-US')} generations that are finished at once`,
	async run(say) {
		const { baseUrl, end } = await startStandIn();
		try {
			const all = new Map(ways.map((way) => [way, [] as Measured[]]));
			for (let round = 1; round <= rounds; round += 1) {
				say(`round ${round} of ${rounds}`);
				for (const way of ways) all.get(way)?.push(await measure(way, baseUrl));
			}
			const results = ways.map((way) => ({
				...way,
				cpuMs: median((all.get(way) ?? []).map(({ cpuMs }) => cpuMs)),
				wallMs: median((all.get(way) ?? []).map(({ wallMs }) => wallMs)),
			}));
			const [bare, least, node] = results;
			check(bare !== undefined && least !== undefined && node !== undefined, 'a way is missing');
			return {
				tables: [
					{
						caption: `${items} creations and ${items} polls, 100 at a time, by n8n-core's engine; median of ${rounds}. The wall time of ours includes the second until the first look`,
						columns: [
							...['', 'CPU ms', 'CPU ms an item', 'beside bare', "beside n8n's helper", 'wall s'],
						],
						rows: results.map(({ label, cpuMs, wallMs }) => [
							...[label, cpuMs, cpuMs / items],
							...[times(cpuMs / bare.cpuMs), times(cpuMs / least.cpuMs), wallMs / 1000],
						]),
					},
				],
				marks: [
					mark("CPU time beside n8n's request helper alone", node.cpuMs / least.cpuMs, [1.8, 'x']),
				],
				checked: ['each run created each task once, polled it once and saw it done'],
			};
		} finally {
			end();
		}
	},
};
