/** Programs of bench/probes: each run is a process of its own with the built nodes, n8n-core's engine and a stand-in that is another process. */
import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { root } from '../scripts/pack';

const run = promisify(execFile);
const apiKey = 'sk_bench';

export interface Probes {
	/** Of the stand-in. */
	baseUrl: string;
	/** Runs the program with these arguments; what it printed last. */
	probe: (...args: string[]) => Promise<unknown>;
}

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

/** @param name of the program */
export async function withProbes<T>(
	name: string,
	work: (probes: Probes) => Promise<T>,
): Promise<T> {
	const { baseUrl, end } = await startStandIn();
	const probe = async (...args: string[]) => {
		const script = ['--import', 'tsx', join(__dirname, 'probes', `${name}.ts`)];
		const options = { cwd: root, timeout: 180_000, maxBuffer: 100_000_000 };
		const { stdout } = await run(process.execPath, [...script, baseUrl, apiKey, ...args], options);
		return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as unknown;
	};
	try {
		return await work({ baseUrl, probe });
	} finally {
		end();
	}
}
