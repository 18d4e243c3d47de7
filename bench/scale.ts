/**
 * What loads of up to 100,000 tasks a day and up to 64 processes need, in virtual time (fleet.ts): the figures of docs/planning.md,
 * checked against what was measured with real processes.
 */
import { seededRandom } from '../test/support/virtualClock';
import { concurrency, executions, workers } from './cluster';
import { active as crowdActive, executions as crowdExecutions, tasksOf } from './crowd';
import { simulate, usual, type Figures } from './fleet';
import type { Execution } from './fleetService';
import { leastTime } from './jobs';
import { mark, times, type Bench, type Cell, type Mark } from './report';
import { savedRow } from './saved';

const DAY = 86_400_000;
const active = 20;
const tasksEach = 5;
/** Mean 10 s, as short speech takes. */
const shortestMs = 5_000;
const longestMs = 15_000;

function executionsOf(tasks: number, withinMs: number): Execution[] {
	const random = seededRandom(tasks);
	const count = Math.ceil(tasks / tasksEach);
	return Array.from({ length: count }, (_, index) => ({
		at: withinMs * random(),
		tasks: Array.from({ length: Math.min(tasksEach, tasks - index * tasksEach) }, () =>
			Math.round(shortestMs + (longestMs - shortestMs) * random()),
		),
	}));
}

const days = [
	{ tasks: 10, processes: 1 },
	{ tasks: 1_000, processes: 1 },
	{ tasks: 100_000, processes: 2 },
	{ tasks: 100_000, processes: 64 },
];

type Row = (typeof days)[number] & { figures: Figures };

const tenfold = '1,000,000 a day, ten times the limit and 20 processes (arithmetic)';
const labelOf = ({ tasks, processes }: Row) =>
	`${whole(tasks)} a day, ${processes} process${processes === 1 ? '' : 'es'}`;
const whole = (count: number) => Math.round(count).toLocaleString('en-US');

/** @param factor for loads that as many accounts, or one with as many times the limit, carry */
function dayRow(label: string, { tasks, figures }: Row, factor = 1): Cell[] {
	const { polls, refused, slowdown, running, mostRunning } = figures;
	const counted = [Math.ceil(tasks / tasksEach), running, mostRunning, polls, refused];
	return [label, ...counted.map((count) => factor * count), times(slowdown)];
}

const atFull = async (given: Execution[], processes: number) =>
	await simulate(given, { ...usual, processes, active });

/** How long executions take the more of the account's limit is used. */
async function byUse(share: number): Promise<Cell[]> {
	const tasks = 10_000;
	const busyMs = tasks * ((shortestMs + longestMs) / 2);
	const within = executionsOf(tasks, busyMs / active / share);
	const { slowdown, refused, mostRunning } = await atFull(within, 4);
	return [`${Math.round(100 * share)}%`, times(slowdown), refused / tasks, mostRunning];
}

/** A full account that more and more processes share. */
async function byProcesses(processes: number): Promise<Cell[]> {
	const tasks = 2_000;
	const backlog = executionsOf(tasks, 30_000);
	const { ms, refused, polls } = await atFull(backlog, processes);
	const all = backlog.flatMap((execution) => execution.tasks);
	const least = leastTime(all, active);
	return [processes, times(ms / least), refused / tasks, polls / tasks];
}

/** Executions of `npm run bench -- crowd` and `processes`, all called at once; n8n takes a while to start as many. */
async function simulatedCrowd(count: number, fleet: { processes: number; concurrency: number }) {
	return await simulate(
		Array.from({ length: count }, (_, index) => ({
			at: index * 60,
			tasks: tasksOf(index).map((seconds) => seconds * 1000),
		})),
		{ ...usual, ...fleet, active: crowdActive },
	);
}

/** Seconds and creations of each task, as both benches have them in their tables. */
function measured(bench: 'crowd' | 'processes', label: string): [number?, number?] {
	const [, seconds, , creations] = savedRow(bench, label) ?? [];
	return [seconds, creations];
}

async function checkedPoints(): Promise<{ rows: Cell[][]; marks: Mark[] }> {
	const pairs: Array<[what: string, figures: Figures, seconds?: number, creations?: number]> = [
		[
			`${crowdExecutions} executions of 5 mixed tasks, one process`,
			await simulatedCrowd(crowdExecutions, { processes: 1, concurrency: crowdExecutions }),
			...measured('crowd', 'in a real n8n'),
		],
		[
			`${executions} of them by ${workers} workers`,
			await simulatedCrowd(executions, { processes: workers, concurrency }),
			...measured('processes', 'polled'),
		],
	];
	return {
		rows: pairs.map(([what, { ms, refused, tasks }, seconds, creations]) => [
			...[what, ms / 1000, seconds ?? '-', refused / tasks],
			creations === undefined ? '-' : creations - 1,
		]),
		marks: pairs.flatMap(([what, { ms }, seconds]) => {
			if (seconds === undefined) return [];
			const difference = 100 * Math.abs(ms / 1000 / seconds - 1);
			const told = `${what}: difference of the simulated time from the measured one`;
			return mark(told, difference, [10, '%']);
		}),
	};
}

export const bench: Bench = {
	title: 'loads of a day, simulated with the real queue and schedule',
	async run(say) {
		const points = await checkedPoints();
		const rows: Row[] = [];
		for (const { tasks, processes } of days) {
			const figures = await atFull(executionsOf(tasks, DAY), processes);
			rows.push({ tasks, processes, figures });
			say(`${whole(tasks)} tasks, ${processes} processes: ${whole(figures.polls)} polls`);
		}
		const large = rows.find(({ processes }) => processes === 2);
		const used: Cell[][] = [];
		for (const share of [0.3, 0.6, 0.8, 0.9, 0.97]) used.push(await byUse(share));
		const shared: Cell[][] = [];
		for (const processes of [1, 2, 4, 16, 64]) shared.push(await byProcesses(processes));
		return {
			tables: [
				{
					caption: `Loads of a day: tasks of 5 to 15 s, ${tasksEach} in an execution, evenly over 24 hours by chance, at an account that lets ${active} be active; polling, ${usual.concurrency} executions at once a process`,
					columns: [
						...['', 'executions', 'running, mean', 'running, most', 'polls'],
						...['refused creations', 'time beside the tasks’ own'],
					],
					rows: [
						...rows.map((row) => dayRow(labelOf(row), row)),
						...(large === undefined ? [] : [dayRow(tenfold, large, 10)]),
					],
				},
				{
					caption:
						'How long an execution takes, by how much of the limit is used on average (4 processes)',
					columns: ['used', 'time beside the tasks’ own', 'refused a task', 'running, most'],
					rows: used,
				},
				{
					caption: 'A backlog of 2,000 such tasks, by how many processes share the account',
					columns: ['processes', 'time beside the least', 'refused a task', 'polls a task'],
					rows: shared,
				},
				{
					caption: 'The simulation beside what was measured with real processes',
					columns: [
						...['', 'simulated s', 'measured s'],
						...['refused a task, simulated', 'refused a task, measured'],
					],
					rows: points.rows,
				},
			],
			marks: points.marks,
			checked: ['every task was created once and waited for to its end; the limit always held'],
		};
	},
};
