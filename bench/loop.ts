/** The longest time that one execution holds n8n's event loop, by kind of work. Each in n8n's engine, in a process of its own. */
import { withProbes } from './probe';
import { mark, type Bench } from './report';
import { median } from './stats';

const rounds = 3;

export const bench: Bench = {
	title: "the longest time that n8n's event loop is held",
	run: async (say) =>
		await withProbes('loop', async ({ probe }) => {
			const rows: Array<[string, number]> = [];
			for (const work of (await probe()) as string[]) {
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
				checked: ['each execution gave its output'],
			};
		}),
};
