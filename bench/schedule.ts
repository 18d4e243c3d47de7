/** The waiting loop on a virtual clock: how late the end of a task is seen, and what that costs in polls. */
import { seededRandom } from '../test/unit/virtualClock';
import type { Bench, Mark, Table } from './report';
import {
	endsAtHalf,
	HOUR,
	lies,
	others,
	ours,
	plain,
	SECOND,
	truths,
	type ProgressOf,
	type Waited,
} from './simulation';
import { mean } from './stats';

const MINUTE = 60 * SECOND;
const durations: ReadonlyArray<{ label: string; ms: number; tasks: number }> = [
	{ label: '2 s', ms: 2 * SECOND, tasks: 400 },
	{ label: '5 s', ms: 5 * SECOND, tasks: 400 },
	{ label: '10 s', ms: 10 * SECOND, tasks: 400 },
	{ label: '30 s', ms: 30 * SECOND, tasks: 400 },
	{ label: '2 min', ms: 2 * MINUTE, tasks: 300 },
	{ label: '10 min', ms: 10 * MINUTE, tasks: 500 },
	{ label: '1 h', ms: HOUR, tasks: 1_500 },
	{ label: '3 h', ms: 3 * HOUR, tasks: 1_500 },
];

interface Summary {
	delayMs: number;
	polls: number;
}

function summary(all: Waited[]): Summary {
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

async function measure(progressOf: ProgressOf): Promise<Summary[]> {
	const results: Summary[] = [];
	for (const { ms, tasks } of durations) {
		const waits: Waited[] = [];
		for (const [seed, duration] of spread(ms, tasks).entries())
			waits.push(await ours(duration, progressOf, 7919 * seed + 1));
		results.push(summary(waits));
	}
	return results;
}

function table(
	caption: string,
	all: Map<string, Summary[]>,
	value: (one: Summary) => number,
): Table {
	return {
		caption,
		columns: ['', ...durations.map(({ label }) => label)],
		rows: [...all].map(([name, results]) => [name, ...results.map(value)]),
	};
}

/** How much worse the worst duration does than it may: the mark is 1. */
function worst(results: Summary[], allowedMs: (durationMs: number) => number): number {
	return Math.max(...results.map(({ delayMs }, at) => delayMs / allowedMs(durations[at]?.ms ?? 0)));
}

function marksOf(all: Map<string, Summary[]>): Mark[] {
	const of = (name: string) => all.get(`ours, progress: ${name}`) ?? [];
	const hour = durations.findIndex(({ ms }) => ms === HOUR);
	const none = of('none');
	/** The lie and the duration that do worst beside a task without progress. */
	const worstLie = (names: string[]) => {
		const cells = names.flatMap((lie) =>
			of(lie).map(({ delayMs }, at) => ({
				where: `${lie}, ${durations[at]?.label ?? ''}`,
				ratio: delayMs / (none[at]?.delayMs ?? NaN),
			})),
		);
		return cells.reduce((a, b) => (b.ratio > a.ratio ? b : a));
	};
	const contradicting = worstLie(Object.keys(lies).filter((lie) => lie !== endsAtHalf));
	const early = worstLie([endsAtHalf]);
	const allowedNone = (ms: number) => Math.min(30 * SECOND, Math.max(SECOND, 0.05 * ms));
	const allowedHonest = (ms: number) => Math.max(SECOND, 0.02 * ms);
	return [
		{
			what: 'no progress: mean delay, as a share of max(1 s, 5%) and 30 s, worst duration',
			measured: worst(none, allowedNone),
			limit: 1,
			unit: '',
		},
		{
			what: 'no progress: polls for an hour',
			measured: none[hour]?.polls ?? NaN,
			limit: 100,
			unit: '',
		},
		{
			what: 'honest progress: mean delay, as a share of max(1 s, 2%), worst duration',
			measured: worst(of('honest'), allowedHonest),
			limit: 1,
			unit: '',
		},
		{
			what: 'honest progress: polls for an hour',
			measured: of('honest')[hour]?.polls ?? NaN,
			limit: 60,
			unit: '',
		},
		{
			what: `lying progress: mean delay beside none, worst case (${contradicting.where})`,
			measured: contradicting.ratio,
			limit: 1.1,
			unit: 'x',
		},
		{
			what: `honest progress whose task ends at half: mean delay beside none, worst case (${early.where})`,
			measured: early.ratio,
			limit: 3,
			unit: 'x',
		},
		{
			what: 'lying progress: polls for an hour beside none, worst lie',
			measured: Math.max(
				...Object.keys(lies).map(
					(lie) => (of(lie)[hour]?.polls ?? NaN) / (none[hour]?.polls ?? NaN),
				),
			),
			limit: 1.1,
			unit: 'x',
		},
	];
}

export const bench: Bench = {
	title: 'when the end of a task is seen, and after how many polls',
	async run(say) {
		const all = new Map<string, Summary[]>();
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
		const bars = ['ours, progress: none', 'ours, progress: honest', ...Object.keys(others)];
		const at = durations.findIndex(({ ms }) => ms === 2 * MINUTE);
		const group = (title: string, unit: string, value: (one: Summary) => number) => ({
			title,
			unit,
			better: 'less' as const,
			bars: bars.map((label) => ({
				label,
				value: value(all.get(label)?.[at] ?? { delayMs: 0, polls: 0 }),
				ours: label.startsWith('ours'),
			})),
		});
		const tasks = durations.reduce((sum, { tasks: count }) => sum + count, 0);
		return {
			tables: [
				table(
					'Mean delay after completion, in s, by duration of the task (virtual clock)',
					all,
					({ delayMs }) => delayMs / SECOND,
				),
				table('Mean number of polls', all, ({ polls }) => polls),
			],
			marks: marksOf(all),
			bars: [
				group('Task of 2 min: seen so long after its end', 's', ({ delayMs }) => delayMs / SECOND),
				group('Task of 2 min: polls', 'polls', ({ polls }) => polls),
			],
			checked: [`${tasks * (Object.keys(lies).length + 2)} tasks were waited for, each to its end`],
		};
	},
};
