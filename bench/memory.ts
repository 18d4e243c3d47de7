/** Large files in a real n8n with its files on disk: our node beside n8n's HTTP Request node "file", each in an n8n of its own. */
import { setTimeout as delay } from 'node:timers/promises';
import { startContext, type TestContext } from '../test/n8n/harness/context';
import { items } from '../test/n8n/harness/execution';
import type { Bench, Mark } from './report';
import { check, median, megabytes } from './stats';
import { called, generate, last, oneItemEach, publish, request } from './workflows';

const loads = [
	{ label: 'one file of 300 MB', files: 1, bytes: 300_000_000 },
	{ label: '100 files of 3 MB', files: 100, bytes: 3_000_000 },
];
/** What a process holds differs from run to run. */
const rounds = 3;
/** Runs of one n8n: the first one, and how many later ones. */
const laterRuns = 3;

/** The most that n8n's processes hold above what they held before, in bytes. */
async function peakOver(context: TestContext, work: () => Promise<void>): Promise<number> {
	const idle = context.n8n.memory().rssBytes;
	let peak = idle;
	let over = false;
	const watching = (async () => {
		while (!over) {
			peak = Math.max(peak, context.n8n.memory().rssBytes);
			await delay(20);
		}
	})();
	await work().finally(() => {
		over = true;
	});
	await watching;
	return peak - idle;
}

/** Runs a workflow over the jobs and checks that every byte is in n8n's store. */
async function run(
	context: TestContext,
	path: string,
	node: string,
	jobs: unknown[],
	bytes: number,
) {
	const { rest } = context;
	const workflow = (await rest.listWorkflows()).find(({ name }) => name === path);
	check(workflow !== undefined, `workflow ${path}`);
	const before = (await rest.listExecutions(workflow.id)).length;
	await rest.callWebhook(path, { jobs });
	const executions = await rest.waitForExecutions(workflow.id, before + 1, 300_000);
	const execution = executions.at(-1);
	check(execution?.status === 'success', `${path}: ${execution?.resultData.error?.message}`);
	const sizes = items(execution, node).map(({ binary }) => binary?.data?.bytes);
	check(
		sizes.length === jobs.length && sizes.every((size) => size === bytes),
		`${path}: sizes ${sizes.slice(0, 3).join(' ')}`,
	);
}

interface Peaks {
	/** Of the first run at this size, in bytes over idle. */
	first: number;
	/** Of the runs after it, the median. */
	later: number;
}

async function measure(how: 'ours' | 'HTTP Request', files: number, bytes: number): Promise<Peaks> {
	const context = await startContext({
		env: { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' },
		settings: { taskMs: 50 },
	});
	try {
		const ours = how === 'ours';
		const node = ours
			? generate({ downloadOutput: true })
			: request('Generate', {
					url: '={{ $json.job.url }}',
					options: { response: { response: { responseFormat: 'file' } } },
				});
		await publish(context, 'memory', [called('memory'), oneItemEach(), node, last()]);
		const { service } = context;
		const jobsOf = (count: number, size: number) =>
			Array.from({ length: count }, (_, index) => ({
				text: `File ${index}`,
				standIn: { ms: 50, bytes: size },
			}));
		const urlsOf = async (count: number, size: number) =>
			await Promise.all(
				jobsOf(count, size).map(async ({ text, standIn }) => {
					const answer = await fetch(`${service.baseUrl}/v1/task/sound-effect`, {
						method: 'POST',
						headers: {
							authorization: `Bearer ${service.apiKey}`,
							'content-type': 'application/json',
						},
						body: JSON.stringify({ text, stand_in: standIn }),
					});
					const { task_id: id } = (await answer.json()) as { task_id: string };
					await service.finish(id);
					return { url: (service.payload(id).metadata as { audio_url: string }).audio_url };
				}),
			);
		const prepare = async (count: number, size: number) =>
			ours ? jobsOf(count, size) : await urlsOf(count, size);
		// Warm: code loaded, pools filled.
		await run(context, 'memory', 'Generate', await prepare(5, 1_000_000), 1_000_000);
		const jobs = await prepare(files, bytes);
		const peaks: number[] = [];
		for (let number = 0; number <= laterRuns; number += 1) {
			await delay(3_000);
			peaks.push(
				await peakOver(context, async () => await run(context, 'memory', 'Generate', jobs, bytes)),
			);
		}
		const [first = 0, ...later] = peaks;
		return { first, later: median(later) };
	} finally {
		await context.close();
	}
}

export const bench: Bench = {
	title: 'memory of n8n while files are delivered (filesystem mode)',
	async run(say) {
		const rows: Array<[string, number, number, number]> = [];
		const marks: Mark[] = [];
		for (const { label, files, bytes } of loads) {
			const all = { ours: [] as Peaks[], theirs: [] as Peaks[] };
			for (let round = 1; round <= rounds; round += 1) {
				const one = await measure('ours', files, bytes);
				const other = await measure('HTTP Request', files, bytes);
				all.ours.push(one);
				all.theirs.push(other);
				const inWords = ({ first, later }: Peaks) =>
					`${Math.round(megabytes(first))} MB, later ${Math.round(megabytes(later))} MB`;
				say(`${label}: ours ${inWords(one)}; HTTP Request ${inWords(other)} over idle`);
			}
			for (const when of ['first', 'later'] as const) {
				const of = (peaks: Peaks[]) => megabytes(median(peaks.map((peak) => peak[when])));
				const ours = of(all.ours);
				const theirs = of(all.theirs);
				const what = `${label}, ${when === 'first' ? 'first run' : 'later runs'}`;
				rows.push([what, ours, theirs, ours / theirs]);
				marks.push(
					{ what: `${what}: peak over idle`, measured: ours, limit: 64, unit: 'MB' },
					{
						what: `${what}: peak beside the HTTP Request node's`,
						measured: ours / theirs,
						limit: 1,
						unit: 'x',
					},
				);
			}
		}
		return {
			tables: [
				{
					caption: `Peak over idle of all processes of n8n, MB; median of ${rounds} processes, and in each of ${laterRuns} later runs`,
					columns: ['', 'ours', 'HTTP Request "file"', 'ratio'],
					rows,
				},
			],
			marks,
			bars: [
				{
					title: 'Peak memory over idle',
					unit: 'MB',
					bars: rows.flatMap(([label, ours, theirs]) => [
						{ label: `${label}, ours`, value: ours, ours: true },
						{ label: `${label}, HTTP Request`, value: theirs, ours: false },
					]),
				},
			],
			checked: ['every file is in the binary store with all its bytes'],
		};
	},
};
