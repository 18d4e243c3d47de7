/**
 * Large files in a real n8n, with its files on disk and in its database: our node beside n8n's HTTP Request node "file", each in
 * an n8n of its own.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { TestContext } from '../test/n8n/harness/context';
import { items } from '../test/n8n/harness/execution';
import type { StandIn } from '../test/service';
import type { FormFile } from '../test/service/form';
import { mark, shown, type Bench, type Say } from './report';
import { check, median } from './stats';
import { authorized, called, generate, growthMb, inN8n, last, oneItemEach } from './workflows';
import { publish, request } from './workflows';

interface Load {
	label: string;
	mode: 'filesystem' | 'database';
	files: number;
	bytes: number;
	/** A file that n8n has goes out as a form, instead of one that comes in. */
	isSent?: boolean;
}

/** n8n's store streams in `filesystem` mode; in `database` mode (SQLite here) it puts each file into memory as a whole first. */
const onDisk = { mode: 'filesystem', files: 1 } as const;
const inDatabase = { mode: 'database', bytes: 100_000_000 } as const;
const loads: Load[] = [
	{ ...onDisk, label: 'one file of 300 MB', bytes: 300_000_000 },
	{ ...onDisk, label: '100 files of 3 MB', files: 100, bytes: 3_000_000 },
	{ ...inDatabase, label: 'database, one file of 100 MB', files: 1 },
	{ ...inDatabase, label: 'database, four files of 100 MB', files: 4 },
	{ ...onDisk, label: 'a form with 20 MB', bytes: 20_000_000, isSent: true },
];

/** What a process holds differs from run to run, most of all in a first one. */
const roundsOf = ({ bytes }: Load) => (bytes === 300_000_000 ? 3 : 2);
/** Runs of one n8n: the first one, and how many later ones. */
const laterRuns = 2;

/** Runs the workflow over the jobs and checks that every byte is in n8n's store. */
async function run(
	{ rest, service }: TestContext,
	workflowId: string,
	jobs: unknown[],
	bytes: number,
) {
	const before = (await rest.listExecutions(workflowId)).length;
	await rest.callWebhook('memory', { jobs });
	const execution = (await rest.waitForExecutions(workflowId, before + 1)).at(-1);
	check(execution?.status === 'success', `it failed: ${execution?.resultData.error?.message}`);
	const sent = service.creations('dubbing').slice(-jobs.length);
	const sizes =
		sent.length > 0
			? sent.map(({ body }) => (body.file as FormFile[])[0]?.bytes)
			: items(execution, 'Generate').map(({ binary }) => binary?.data?.bytes);
	check(sizes.length === jobs.length, `${sizes.length} files`);
	const other = sizes.find((size) => size !== bytes);
	check(other === undefined, `a file of ${other} bytes`);
}

/** Files of finished tasks, for the other node to fetch. */
async function madeFiles({ service }: TestContext, jobs: readonly object[]) {
	return await Promise.all(
		jobs.map(async (job) => {
			const id = await service.order({ stand_in: { ...job, never_ends: true } });
			await service.finish(id);
			return { url: (service.payload(id).metadata as { audio_url: string }).audio_url };
		}),
	);
}

const FETCHED = { response: { response: { responseFormat: 'file' } } };
const fetched = (name: string) => request(name, { url: '={{ $json.job.url }}', options: FETCHED });

/** What is measured, and what comes before it. */
function nodesOf(ours: boolean, isSent: boolean, { baseUrl, apiKey, otherUrl }: StandIn) {
	if (!isSent) return [ours ? generate({ downloadOutput: true }) : fetched('Generate')];
	const path = '/v1/task/dubbing';
	const texts = { target_lang: 'de', receive_url: otherUrl };
	const file = { name: 'file', inputDataFieldName: 'data' };
	const form = { ...{ bodyContentType: 'multipart-form-data', path }, files: { file: [file] } };
	const parameters = [
		...Object.entries(texts).map(([name, value]) => ({ name, value })),
		{ parameterType: 'formBinaryData', ...file },
	];
	const theirs = {
		...{ method: 'POST', url: baseUrl + path, ...authorized(apiKey) },
		...{ sendBody: true, contentType: 'multipart-form-data', bodyParameters: { parameters } },
	};
	const sends = ours
		? generate({ resource: 'task', operation: 'create', body: JSON.stringify(texts), ...form })
		: request('Generate', theirs);
	return [fetched('Fetch'), sends];
}

/** Peaks in MB over idle: of the first run at this size, and the median of the runs after it. */
async function measure(ours: boolean, load: Load, say: Say) {
	const { mode, files, bytes, isSent = false } = load;
	const env = { N8N_DEFAULT_BINARY_DATA_MODE: mode };
	const settings = { taskMs: 50, moreRoutes: isSent };
	const measuring = inN8n({ env, settings }, async (context) => {
		const measured = nodesOf(ours, isSent, context.service);
		const nodes = [called('memory'), oneItemEach(), ...measured, last()];
		const { id } = await publish(context, 'memory', nodes);
		const prepare = async (count: number, size: number) => {
			const all = Array.from({ length: count }, () => ({ ms: 50, bytes: size }));
			if (isSent || !ours) return await madeFiles(context, all);
			return all.map((standIn, index) => ({ text: `File ${index}`, standIn }));
		};
		// Warm: code loaded, pools filled.
		await run(context, id, await prepare(5, 1_000_000), 1_000_000);
		const jobs = await prepare(files, bytes);
		const peaks: number[] = [];
		for (let number = 0; number <= laterRuns; number += 1) {
			await delay(3_000);
			const work = async () => await run(context, id, jobs, bytes);
			peaks.push(await growthMb(context, work));
		}
		const [first = NaN, ...later] = peaks;
		return { first, later: median(later) };
	});
	return await measuring(say);
}
type Peaks = Awaited<ReturnType<typeof measure>>;

async function measureLoad(load: Load, say: Say) {
	const all = { ours: [] as Peaks[], theirs: [] as Peaks[] };
	for (let round = 1; round <= roundsOf(load); round += 1) {
		all.ours.push(await measure(true, load, say));
		all.theirs.push(await measure(false, load, say));
		const { ours, theirs } = all;
		const [own, other] = [ours, theirs].map((peaks) => shown(peaks.at(-1)?.first ?? NaN));
		say(`${load.label}: ours ${own} MB, HTTP Request ${other} MB`);
	}
	return (['first', 'later'] as const).map((when) => {
		const of = (peaks: Peaks[]) => median(peaks.map((peak) => peak[when]));
		const label = `${load.label}, ${when === 'first' ? 'first run' : 'later runs'}`;
		return { load, when, label, ours: of(all.ours), theirs: of(all.theirs) };
	});
}

export const bench: Bench = {
	title: 'memory of n8n while files are delivered',
	async run(say) {
		const all = [];
		for (const load of loads) all.push(...(await measureLoad(load, say)));
		const first = all.filter(({ when }) => when === 'first');
		const [, , one, four] = first;
		const bounded = 'four files of 100 MB in the database beside one (bytes in flight are bounded)';
		return {
			tables: [
				{
					caption: `Peak over idle of all processes of n8n, MB; filesystem mode where nothing else is said; median of two processes (three for one file of 300 MB), and in each of ${laterRuns} later runs`,
					columns: ['', 'ours', 'HTTP Request "file"', 'ratio'],
					rows: all.map(({ label, ours, theirs }) => [label, ours, theirs, ours / theirs]),
				},
			],
			marks: [
				...first.map(({ label, ours, theirs }) =>
					mark(`${label}: beside the HTTP Request node`, ours / theirs, [1.05, 'x']),
				),
				mark(bounded, (four?.ours ?? NaN) / (one?.ours ?? NaN), [1.05, 'x']),
			],
			checked: ['every file is in the binary store, or at the service, with all its bytes'],
		};
	},
};
