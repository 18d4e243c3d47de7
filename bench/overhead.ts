/** CPU time of 1,000 generations in n8n's engine, beside the same requests sent bare. Each way in a process of its own. */
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { root } from '../scripts/pack';
import { packedTarball } from '../test/n8n/harness/context';
import { outFolder } from './saved';
import { mark, times, type Bench } from './report';
import { check, median } from './stats';

const run = promisify(execFile);
const items = 1_000;
const rounds = 5;
export const apiKey = 'sk_bench';
/** How many generations each process warms up with. */
const warmUp = 200;

interface Way {
	name: string;
	label: string;
	ours: boolean;
}
const ways: Way[] = [
	{ name: 'bare', label: 'bare requests by undici', ours: false },
	{ name: 'least', label: "the same by n8n's request helper, nothing else", ours: false },
	{ name: 'node', label: 'ours', ours: true },
];

interface Measured {
	cpuMs: number;
	wallMs: number;
	done: number;
}

/** The stand-in in a process of its own, so that its work is not counted. */
export async function startStandIn() {
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

async function summaryOf(baseUrl: string) {
	const response = await fetch(`${baseUrl}/_control/summary`);
	return (await response.json()) as { creations: number; polls: number; done: number };
}

/** Sends everything once and counts it at the stand-in. */
async function measure({ name }: Way, folder: string, baseUrl: string): Promise<Measured> {
	await fetch(`${baseUrl}/_control/reset`, { method: 'POST' });
	await fetch(`${baseUrl}/_control/settings`, {
		method: 'PATCH',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ taskMs: 0 }),
	});
	const probe = join(__dirname, 'probes', 'overhead.ts');
	const args = ['--import', 'tsx', probe, name, String(items), folder, baseUrl, apiKey];
	const { stdout } = await run(process.execPath, args, { cwd: root, timeout: 180_000 });
	const measured = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Measured;
	const { creations, polls } = await summaryOf(baseUrl);
	check(measured.done === items, `${name}: ${measured.done} of ${items} tasks were done`);
	check(creations === items + warmUp, `${name}: ${creations} tasks were created`);
	check(polls === creations, `${name}: ${polls} polls for ${creations} tasks`);
	return measured;
}

export const bench: Bench = {
	title: `CPU time of ${items.toLocaleString('en-US')} generations that are finished at once`,
	async run(say) {
		// Inside the project, so that the nodes share n8n-workflow with the engine.
		const folder = join(outFolder, `package-${process.pid}`);
		mkdirSync(folder, { recursive: true });
		const standIn = await startStandIn();
		try {
			await run('tar', ['-xzf', await packedTarball(), '-C', folder]);
			const all = new Map(ways.map((way) => [way, [] as Measured[]]));
			for (let round = 1; round <= rounds; round += 1) {
				say(`round ${round} of ${rounds}`);
				for (const way of ways)
					all.get(way)?.push(await measure(way, join(folder, 'package'), standIn.baseUrl));
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
							'',
							'CPU ms',
							'CPU ms an item',
							'beside bare',
							"beside n8n's helper",
							'wall s',
						],
						rows: results.map(({ label, cpuMs, wallMs }) => [
							label,
							cpuMs,
							cpuMs / items,
							times(cpuMs / bare.cpuMs),
							times(cpuMs / least.cpuMs),
							wallMs / 1000,
						]),
					},
				],
				marks: [
					mark("CPU time beside n8n's request helper alone", node.cpuMs / least.cpuMs, [1.8, 'x']),
				],
				bars: [
					{
						title: `${items} generations: CPU time`,
						unit: 'ms',
						better: 'less',
						bars: results.map(({ label, cpuMs, ours }) => ({ label, value: cpuMs, ours })),
					},
				],
				checked: ['each run created each task once, polled it once and saw it done'],
			};
		} finally {
			standIn.end();
			rmSync(folder, { recursive: true, force: true });
		}
	},
};
