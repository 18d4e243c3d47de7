/** The longest time that one execution holds n8n's event loop, by kind of work. Each in n8n's engine, in a process of its own. */
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../scripts/pack';
import { packedTarball } from '../test/n8n/harness/context';
import { apiKey, startStandIn } from './overhead';
import { mark, type Bench } from './report';
import { outFolder } from './saved';
import { median } from './stats';

const run = promisify(execFile);
const rounds = 3;

export const bench: Bench = {
	title: "the longest time that n8n's event loop is held",
	async run(say) {
		// Inside the project, so that the nodes share n8n-workflow with the engine.
		const folder = join(outFolder, `loop-${process.pid}`);
		mkdirSync(folder, { recursive: true });
		const standIn = await startStandIn();
		const probe = async (work: string) => {
			const script = join(__dirname, 'probes', 'loop.ts');
			const args = [work, join(folder, 'package'), standIn.baseUrl, apiKey];
			const options = { cwd: root, timeout: 180_000, maxBuffer: 100_000_000 };
			const all = ['--import', 'tsx', script, ...args];
			const { stdout } = await run(process.execPath, all, options);
			return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as unknown;
		};
		try {
			await run('tar', ['-xzf', await packedTarball(), '-C', folder]);
			const rows: Array<[string, number]> = [];
			for (const work of (await probe('')) as string[]) {
				const longest: number[] = [];
				for (let round = 0; round < rounds; round += 1)
					longest.push(((await probe(work)) as { longestMs: number }).longestMs);
				rows.push([work, median(longest)]);
				say(`${work}: ${Math.round(median(longest))} ms`);
			}
			return {
				tables: [
					{
						caption: `Longest pause of the event loop, ms; median of ${rounds} processes. With n8n's own part of it`,
						columns: ['', 'ms'],
						rows,
					},
				],
				marks: rows
					.slice(1)
					.map(([work, ms]) => mark(work, ms, [/answer/.test(work) ? 100 : 50, 'ms'])),
				bars: [],
				checked: ['each execution gave its output'],
			};
		} finally {
			standIn.end();
			rmSync(folder, { recursive: true, force: true });
		}
	},
};
