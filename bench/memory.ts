/**
 * Large files in a real n8n, with its files on disk and in its database: our node beside n8n's HTTP Request node "file", each in
 * an n8n of its own.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startContext, type TestContext } from '../test/n8n/harness/context';
import { items } from '../test/n8n/harness/execution';
import { peakOver } from './peak';
import { type Bench, type Mark, shown } from './report';
import { check, median, megabytes } from './stats';
import { called, generate, last, oneItemEach, publish, request } from './workflows';

interface Load {
	label: string;
	/** Of n8n's store: `filesystem` streams, `database` (SQLite here) puts each file into memory as a whole first. */
	mode: 'filesystem' | 'database';
	files: number;
	bytes: number;
}

const one: Load = {
	label: 'database, one file of 100 MB',
	mode: 'database',
	files: 1,
	bytes: 100_000_000,
};
const four: Load = { ...one, label: 'database, four files of 100 MB', files: 4 };
const loads: Load[] = [
	{ label: 'one file of 300 MB', mode: 'filesystem', files: 1, bytes: 300_000_000 },
	{ label: '100 files of 3 MB', mode: 'filesystem', files: 100, bytes: 3_000_000 },
	one,
	four,
];
/** What a process holds differs from run to run. */
const rounds = 2;
/** Runs of one n8n: the first one, and how many later ones. */
const laterRuns = 2;

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

async function measure(how: 'ours' | 'HTTP Request', { mode, files, bytes }: Load): Promise<Peaks> {
	const context = await startContext({
		env: { N8N_DEFAULT_BINARY_DATA_MODE: mode },
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
				jobsOf(count, size).map(async ({ text }) => {
					const answer = await fetch(`${service.baseUrl}/v1/task/sound-effect`, {
						method: 'POST',
						headers: {
							authorization: `Bearer ${service.apiKey}`,
							'content-type': 'application/json',
						},
						body: JSON.stringify({ text, stand_in: { never_ends: true, bytes: size } }),
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

interface Measured {
	load: Load;
	when: 'first' | 'later';
	/** MB. */
	ours: number;
	theirs: number;
}

const nameOf = ({ load, when }: Measured) =>
	`${load.label}, ${when === 'first' ? 'first run' : 'later runs'}`;

function marksOf(all: readonly Measured[]): Mark[] {
	const onDisk = all
		.filter(({ load }) => load.mode === 'filesystem')
		.flatMap((measured): Mark[] => [
			{
				what: `${nameOf(measured)}: peak over idle`,
				measured: measured.ours,
				limit: 64,
				unit: 'MB',
			},
			{
				what: `${nameOf(measured)}: peak beside the HTTP Request node's`,
				measured: measured.ours / measured.theirs,
				limit: 1,
				unit: 'x',
			},
		]);
	const first = (wanted: Load) => all.find(({ load, when }) => load === wanted && when === 'first');
	return [
		...onDisk,
		{
			what: `${four.label}: peak beside the one of a single file (bytes in flight are bounded)`,
			measured: (first(four)?.ours ?? NaN) / (first(one)?.ours ?? NaN),
			limit: 1.5,
			unit: 'x',
		},
		{
			what: `${four.label}: peak beside the HTTP Request node's`,
			measured: (first(four)?.ours ?? NaN) / (first(four)?.theirs ?? NaN),
			limit: 1,
			unit: 'x',
		},
	];
}

async function measureLoad(load: Load, say: (line: string) => void): Promise<Measured[]> {
	const all = { ours: [] as Peaks[], theirs: [] as Peaks[] };
	for (let round = 1; round <= rounds; round += 1) {
		const own = await measure('ours', load);
		const other = await measure('HTTP Request', load);
		all.ours.push(own);
		all.theirs.push(other);
		const inWords = ({ first, later }: Peaks) =>
			`${Math.round(megabytes(first))} MB, later ${Math.round(megabytes(later))} MB`;
		say(`${load.label}: ours ${inWords(own)}; HTTP Request ${inWords(other)} over idle`);
	}
	return (['first', 'later'] as const).map((when): Measured => {
		const of = (peaks: Peaks[]) => megabytes(median(peaks.map((peak) => peak[when])));
		return { load, when, ours: of(all.ours), theirs: of(all.theirs) };
	});
}

export const bench: Bench = {
	title: 'memory of n8n while files are delivered',
	async run(say) {
		const all: Measured[] = [];
		for (const load of loads) all.push(...(await measureLoad(load, say)));
		return {
			tables: [
				{
					caption: `Peak over idle of all processes of n8n, MB; filesystem mode where nothing else is said; median of ${rounds} processes, and in each of ${laterRuns} later runs`,
					columns: ['', 'ours', 'HTTP Request "file"', 'ratio'],
					rows: all.map((measured) => [
						nameOf(measured),
						measured.ours,
						measured.theirs,
						measured.ours / measured.theirs,
					]),
				},
			],
			marks: marksOf(all),
			bars: [
				{
					title: 'Peak memory of n8n over idle, first run',
					unit: 'MB',
					better: 'less',
					bars: all
						.filter(({ when }) => when === 'first')
						.flatMap(({ load, ours, theirs }) => [
							{ label: `${load.label}, ours`, value: ours, ours: true },
							{ label: `${load.label}, HTTP Request`, value: theirs, ours: false },
						]),
				},
			],
			headline: `A file of 300 MB takes ${shown(Math.max(...all.filter(({ load }) => load === loads[0]).map(({ ours }) => ours)))} MB of memory where n8n streams (filesystem mode); four of 100 MB in its database ${shown(all.find(({ load }) => load === four)?.ours ?? NaN)} MB, and ${shown(all.find(({ load }) => load === four)?.theirs ?? NaN)} MB by n8n's HTTP Request node`,
			checked: ['every file is in the binary store with all its bytes'],
		};
	},
};
