/** The waiting loop on a virtual clock: how late the end of a task is seen, and what that costs in polls. */
import { Limiter } from '../nodes/MediaGeneration/base/limiter';
import { waitForTask } from '../nodes/MediaGeneration/task/wait';
import { answer, scriptedClient } from '../test/support/replies';
import { seededRandom, VirtualClock } from '../test/support/virtualClock';
import { mark, type Bench, type Mark, type Table } from './report';
import { check, mean } from './stats';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const durations = [
	{ label: '2 s', ms: 2 * SECOND, tasks: 400 },
	{ label: '10 s', ms: 10 * SECOND, tasks: 400 },
	{ label: '2 min', ms: 2 * MINUTE, tasks: 300 },
	{ label: '10 min', ms: 10 * MINUTE, tasks: 500 },
	{ label: '1 h', ms: HOUR, tasks: 1_500 },
	{ label: '3 h', ms: 3 * HOUR, tasks: 1_500 },
];

type ProgressOf = (share: number, random: () => number) => number | undefined;
const endsAtHalf = 'ends at half';
const truths: Record<string, ProgressOf> = {
	none: () => undefined,
	honest: (share) => Math.floor(100 * share),
};
const lies: Record<string, ProgressOf> = {
	'stuck at 99': () => 99,
	random: (_, random) => Math.floor(100 * random()),
	backwards: (share) => 99 - Math.floor(99 * share),
	'twice too fast': (share) => Math.min(99, Math.floor(200 * share)),
	[endsAtHalf]: (share) => Math.floor(50 * share),
};
const others: Record<string, (poll: number) => number> = {
	'every 2 s': () => 2 * SECOND,
	'every 10 s': () => 10 * SECOND,
	'5 s growing to 30 s': (poll) => Math.min(30, 5 * 1.5 ** (poll - 1)) * SECOND,
};

type Waited = Record<'delayMs' | 'polls', number>;

/** The nodes' own waiting for one task, hours in milliseconds. */
async function ours(durationMs: number, progressOf: ProgressOf, seed: number): Promise<Waited> {
	const clock = new VirtualClock();
	const { now, sleep } = clock;
	const random = seededRandom(seed);
	const createdAt = now();
	const client = scriptedClient(() => {
		const share = (now() - createdAt) / durationMs;
		return answer(
			200,
			share >= 1
				? { id: 't', status: 'done', metadata: { audio_url: 'https://files.example/a.mp3' } }
				: { id: 't', status: 'doing', progress: progressOf(share, random) },
		);
	});
	const { signal } = new AbortController();
	const task = {
		taskId: 't',
		kind: 'x',
		createdAt,
		deadline: createdAt + 24 * HOUR,
		requestAddresses: [],
	};
	const waiting = { client, polls: new Limiter(1), signal, now, sleep };
	const waited = await clock.run(waitForTask({ ...task, named: false }, waiting));
	check(waited.kind === 'done', 'a task was not waited for to its end');
	return { delayMs: now() - createdAt - durationMs, polls: client.requests.length };
}

/** What a loop of HTTP Request and Wait does: sleep, look, sleep longer, look. */
function plain(durationMs: number, intervalOf: (poll: number) => number): Waited {
	let age = 0;
	let polls = 0;
	while (age < durationMs) age += intervalOf((polls += 1));
	return { delayMs: age - durationMs, polls };
}

function summary(all: Waited[]): Waited {
	return {
		delayMs: mean(all.map(({ delayMs }) => delayMs)),
		polls: mean(all.map(({ polls }) => polls)),
	};
}

/** Durations within a quarter of the one named, so that no lucky phase of the polls counts; the same ones for everybody. */
function spread(ms: number, tasks: number): number[] {
	const random = seededRandom(ms);
	return Array.from({ length: tasks }, (_, at) => ms * (0.75 + (0.5 * (at + random())) / tasks));
}

async function measure(progressOf: ProgressOf): Promise<Waited[]> {
	const results: Waited[] = [];
	for (const { ms, tasks } of durations) {
		const waits: Waited[] = [];
		for (const [seed, duration] of spread(ms, tasks).entries())
			waits.push(await ours(duration, progressOf, 7919 * seed + 1));
		results.push(summary(waits));
	}
	return results;
}

const hour = durations.findIndex(({ ms }) => ms === HOUR);

function tableOf(all: Map<string, Waited[]>): Table {
	return {
		caption: 'Mean delay after completion in s, by how long a task takes (virtual clock)',
		columns: ['', ...durations.map(({ label }) => label), 'polls in 1 h'],
		rows: [...all].map(([name, results]) => [
			name,
			...results.map(({ delayMs }) => delayMs / SECOND),
			results[hour]?.polls ?? NaN,
		]),
	};
}

function marksOf(all: Map<string, Waited[]>): Mark[] {
	const of = (name: string) => all.get(`ours, progress: ${name}`) ?? [];
	const pollsOf = (name: string) => of(name)[hour]?.polls ?? NaN;
	/** How much worse the worst duration does than it may. */
	const worst = (name: string, allowedMs: (durationMs: number) => number) =>
		Math.max(...of(name).map(({ delayMs }, at) => delayMs / allowedMs(durations[at]?.ms ?? 0)));
	/** How much worse lies do than no progress, at the worst duration. */
	const beside = (names: string[]) =>
		Math.max(
			...names.flatMap((name) =>
				of(name).map(({ delayMs }, at) => delayMs / (of('none')[at]?.delayMs ?? NaN)),
			),
		);
	const contradicting = Object.keys(lies).filter((lie) => lie !== endsAtHalf);
	const allowed = (ms: number) => Math.min(30 * SECOND, Math.max(SECOND, 0.05 * ms));
	const second = (ms: number) => Math.max(SECOND, 0.02 * ms);
	const half = 'honest progress that ends at half: mean delay beside none';
	const pollsOfLies = Math.max(...Object.keys(lies).map(pollsOf));
	const goals: Array<[what: string, measured: number, limit: number, unit?: string]> = [
		['no progress: mean delay, as a share of max(1 s, 5%) and 30 s', worst('none', allowed), 1.05],
		['no progress: polls for an hour', pollsOf('none'), 110],
		['honest progress: mean delay, as a share of max(1 s, 2%)', worst('honest', second), 1],
		['honest progress: polls for an hour', pollsOf('honest'), 110],
		['lying progress: mean delay beside none', beside(contradicting), 1.1, 'x'],
		[half, beside([endsAtHalf]), 1.1, 'x'],
		['lying progress: polls for an hour beside none', pollsOfLies / pollsOf('none'), 3.1, 'x'],
	];
	return goals.map(([what, measured, limit, unit = '']) => mark(what, measured, [limit, unit]));
}

export const bench: Bench = {
	title: 'when the end of a task is seen, and after how many polls',
	async run(say) {
		const all = new Map<string, Waited[]>();
		for (const [name, progressOf] of Object.entries({ ...truths, ...lies })) {
			say(`progress: ${name}`);
			all.set(`ours, progress: ${name}`, await measure(progressOf));
		}
		for (const [name, intervalOf] of Object.entries(others))
			all.set(
				name,
				durations.map(({ ms, tasks }) =>
					summary(spread(ms, tasks).map((one) => plain(one, intervalOf))),
				),
			);
		const tasks = durations.reduce((sum, { tasks: count }) => sum + count, 0);
		return {
			tables: [tableOf(all)],
			marks: marksOf(all),
			checked: [`${tasks * (Object.keys(lies).length + 2)} tasks were waited for, each to its end`],
		};
	},
};
