/** Many items in a real n8n: our node beside a loop of HTTP Request and Wait, and beside the time the tasks themselves take. */
import { setTimeout as delay } from 'node:timers/promises';
import { startContext, type TestContext } from '../test/n8n/harness/context';
import { seededRandom } from '../test/unit/virtualClock';
import { leastTime, runJobs, type JobRun } from './jobs';
import { type Bench, type Mark, shown } from './report';
import { called, chain, generate, last, oneItemEach, publish, requestLoop } from './workflows';

const active = 20;
const sizes = [1, 20, 100] as const;
const waitS = 5;

interface Tasks {
	label: string;
	/** In s. */
	durations: number[];
}

type How = 'ours' | 'ours, no progress' | 'batched' | 'serial';
const labels: Record<How, string> = {
	ours: 'ours',
	'ours, no progress': 'ours, service shows no progress',
	batched: `HTTP Request + Wait ${waitS} s, ${active} at a time`,
	serial: `HTTP Request + Wait ${waitS} s, one by one`,
};

function taskSets(): Tasks[] {
	const random = seededRandom(6);
	const mixed = (size: number, longestS: number) => ({
		label: `${size} x ${longestS / 12}-${longestS} s`,
		durations: Array.from({ length: size }, () => Math.round(longestS * (1 + 11 * random())) / 12),
	});
	const equal = (size: number, seconds: number) => ({
		label: `${size} x ${seconds} s`,
		durations: Array.from({ length: size }, () => seconds),
	});
	return [
		...sizes.flatMap((size) => [equal(size, 10), mixed(size, 60)]),
		// So that loops that take one task after the other can be run, too.
		mixed(20, 12),
		equal(60, 2),
	];
}

const leastOf = ({ durations }: Tasks) => leastTime(durations, active);

/** Serial loops are run where that takes some minutes at most: each task takes at least one pause. */
function runs(how: How, { durations }: Tasks): boolean {
	const serialS = durations.reduce((sum, duration) => sum + Math.max(duration, waitS) + 1, 0);
	return how !== 'serial' || serialS < 400;
}

async function measure(context: TestContext, tasks: Tasks, how: How): Promise<JobRun> {
	const { service } = context;
	const path = `${how} ${tasks.label}`.replaceAll(/\W+/g, '-');
	const first = [called(path), oneItemEach()];
	const own = [...first, generate({}, { maxActiveTasks: active }), last()];
	const loop = requestLoop(service.baseUrl, service.apiKey, how === 'serial' ? 1 : active);
	const workflow = how.startsWith('ours')
		? await publish(context, path, own)
		: await publish(
				context,
				path,
				[...first, ...loop.nodes],
				[...chain(first), ['One Item Each', 'Loop'], ...loop.links],
			);
	const progress = how === 'ours, no progress' ? 'none' : 'honest';
	const jobs = tasks.durations.map((duration, index) => ({
		text: `${path}, ${index}`,
		standIn: { ms: duration * 1000, progress },
	}));
	return await runJobs(context, workflow, jobs);
}

async function measureAll(context: TestContext, say: (line: string) => void) {
	const hows = Object.keys(labels) as How[];
	const wanted = taskSets().flatMap((tasks) =>
		hows.filter((how) => runs(how, tasks)).map((how) => ({ tasks, how })),
	);
	// They wait most of the time, so they run beside each other; their beginnings are kept apart.
	return await Promise.all(
		wanted.map(async ({ tasks, how }, index) => {
			await delay(1_500 * index);
			const outcome = await measure(context, tasks, how);
			say(`${tasks.label}, ${labels[how]}: ${outcome.seconds.toFixed(1)} s`);
			return { tasks, how, outcome };
		}),
	);
}

type Measured = Awaited<ReturnType<typeof measureAll>>;

function marksOf(all: Measured): Mark[] {
	const marked = all.filter(
		({ tasks, how }) => how.startsWith('ours') && /^(20|100) x (10|5-60) s$/.test(tasks.label),
	);
	const twenty = all.find(({ how, tasks }) => how === 'ours' && tasks.label === '20 x 10 s');
	return [
		...marked.map(({ tasks, how, outcome }) => ({
			what: `${tasks.label}, ${labels[how]}: time beside the least possible`,
			measured: outcome.seconds / leastOf(tasks),
			limit: 1.05,
			unit: 'x',
		})),
		{
			what: '20 x 10 s, ours: most polls of a task',
			measured: twenty?.outcome.mostPolls ?? NaN,
			limit: 8,
			unit: '',
		},
	];
}

function headlineOf(all: Measured): string {
	const of = (label: string) =>
		all
			.filter(({ tasks, how }) => how.startsWith('ours') && tasks.label.startsWith(label))
			.map(({ tasks, outcome }) => outcome.seconds / leastOf(tasks));
	const ratios = [...of('20 x 10'), ...of('20 x 5'), ...of('100 x')];
	return `20 and 100 tasks, 20 of them active, take ${shown(Math.min(...ratios))} to ${shown(Math.max(...ratios))} times the least that is possible`;
}

export const bench: Bench = {
	title: 'many items in a real n8n, and how close to the time of the tasks themselves',
	async run(say) {
		const context = await startContext();
		try {
			const all = await measureAll(context, say);
			const rows = all.map(({ tasks, how, outcome }) => {
				const { seconds, pollsPerTask, mostPolls } = outcome;
				const least = leastOf(tasks);
				const ratio = `${(seconds / least).toFixed(2)} x`;
				return [tasks.label, labels[how], seconds, least, ratio, pollsPerTask, mostPolls];
			});
			const bars = all.filter(({ tasks }) => tasks.label === '20 x 10 s');
			return {
				tables: [
					{
						caption: `Whole execution, at most ${active} tasks active (serial: one). Least: the tasks' own time in ${active} slots. Loops that take one task after the other are run where that takes minutes, not hours`,
						columns: ['tasks', 'how', 's', 'least s', 'beside least', 'polls a task', 'most'],
						rows,
					},
				],
				marks: marksOf(all),
				bars: [
					{
						title: '20 tasks of 10 s each, whole execution in n8n',
						unit: 's',
						better: 'less',
						bars: bars.map(({ how, outcome }) => ({
							label: labels[how],
							value: outcome.seconds,
							ours: how.startsWith('ours'),
						})),
					},
				],
				headline: headlineOf(all),
				checked: [
					'every execution succeeded, gave one done task per item, and created each task once',
				],
			};
		} finally {
			await context.close();
		}
	},
};
