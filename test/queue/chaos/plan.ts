/** What one chaos run does and when. Everything follows from the seed, so that a run can be repeated. */
import { seededRandom } from '../../service/random';
import type { FaultRule } from '../../service';
import { type Job, media, type Media } from '../workflows';

export type Kind = 'poll' | 'suspend' | 'trigger';

/** One execution to be started. */
export interface Batch {
	name: string;
	atMs: number;
	kind: Kind;
	/** What its tasks make: every kind of task is waited for in every way. */
	of: Media;
	jobs: Job[];
}

export type Blow =
	| {
			atMs: number;
			what: 'kill worker' | 'kill webhook' | 'restart main' | 'kill redis';
			downMs: number;
	  }
	| { atMs: number; what: 'faults'; forMs: number; rules: FaultRule[] };

export interface Plan {
	batches: Batch[];
	blows: Blow[];
}

const sizes: Record<Kind, { batches: number; jobs: number }> = {
	poll: { batches: 10, jobs: 8 },
	suspend: { batches: 10, jobs: 6 },
	trigger: { batches: 12, jobs: 5 },
};
export const taskCount = Object.values(sizes).reduce(
	(sum, { batches, jobs }) => sum + batches * jobs,
	0,
);
/** A service need not call twice, and a network may lose what it sends. */
const lostCallbacks = 0.1;
const failures = 0.05;
/** A process of n8n takes up to 20 s to be back on two cores: the blows are to hit a cluster that stands. */
const startsWithinMs = 110_000;

const busy = { success: false, code: 'server_busy', message: 'Too many requests' };
const troubles: Array<{ name: string; rules: FaultRule[] }> = [
	{
		name: 'refuses',
		rules: [
			{ route: 'poll', probability: 0.5, action: { type: 'status', status: 503, body: busy } },
			{
				route: 'create',
				probability: 0.5,
				action: {
					type: 'status',
					status: 429,
					body: { success: false, code: 'active_task_limit' },
				},
			},
		],
	},
	{
		name: 'stalls',
		rules: [{ route: 'poll', probability: 0.5, action: { type: 'stall', ms: 4000 } }],
	},
	{
		name: 'cuts',
		rules: [
			{ route: 'poll', probability: 0.4, action: { type: 'reset' } },
			{ route: 'file', probability: 0.3, action: { type: 'truncate', bytes: 200 } },
			{ route: 'create', times: 2, action: { type: 'processThenReset' } },
		],
	},
	{
		name: 'talks nonsense',
		rules: [
			{ route: 'poll', probability: 0.3, action: { type: 'html' } },
			{ route: 'poll', probability: 0.3, action: { type: 'malformedJson' } },
			{ route: 'poll', probability: 0.3, action: { type: 'emptyBody' } },
			{ route: 'create', times: 1, action: { type: 'html' } },
		],
	},
];

export function makePlan(seed: number): Plan {
	const random = seededRandom(seed);
	const between = (from: number, to: number) => Math.round(from + random() * (to - from));
	const kindsOfMedia = Object.keys(media) as Media[];
	const batches = (Object.keys(sizes) as Kind[]).flatMap((kind) =>
		Array.from({ length: sizes[kind].batches }, (_, batch): Batch => ({
			name: `chaos-${kind}-${batch}`,
			kind,
			of: kindsOfMedia[batch % kindsOfMedia.length] ?? 'sound effect',
			atMs: between(0, startsWithinMs),
			jobs: Array.from({ length: sizes[kind].jobs }, (__, item) => ({
				text: `${kind} ${batch}-${item}`,
				standIn: {
					ms: between(500, 12_000),
					...(random() < failures ? { end: 'error', error_message: 'bad luck' } : {}),
					...(random() < lostCallbacks ? { no_callback: true } : {}),
				},
			})),
		})),
	);
	const blows: Blow[] = [
		{ what: 'kill worker', atMs: between(8_000, 14_000), downMs: 2000 },
		{ what: 'kill webhook', atMs: between(36_000, 42_000), downMs: 1000 },
		{ what: 'kill redis', atMs: between(62_000, 68_000), downMs: 1000 },
		{ what: 'restart main', atMs: between(74_000, 80_000), downMs: 0 },
		{ what: 'kill worker', atMs: between(102_000, 108_000), downMs: 2000 },
		...troubles.map(({ rules }, index): Blow => ({
			what: 'faults',
			atMs: 4000 + index * 27_000 + between(0, 10_000),
			forMs: 8000,
			rules,
		})),
	];
	const byTime = (a: { atMs: number }, b: { atMs: number }) => a.atMs - b.atMs;
	return { batches: batches.sort(byTime), blows: blows.sort(byTime) };
}
