/**
 * The fourth rule, nobody else's trouble: an account beside another one, in one process, works as if it were alone. Its history is played
 * twice, alone and beside an account whose service behaves as badly as it can, and takes as long.
 */
import fc from 'fast-check';
import { fieldsOf } from './fields';
import {
	histories,
	PLAIN_HISTORY,
	PLAIN_TASK,
	type Drawn,
	type History,
	type TaskScript,
} from './history';
import { Machine } from '../support/machine';
import { Stage, type Hosts } from './play';
import type { Process } from './processes';
import type { Request, Response } from './service';

const json = (statusCode: number, body: object, seconds?: number): Response => ({
	...{ statusCode, body: JSON.stringify(body) },
	headers: seconds === undefined ? {} : { 'retry-after': String(seconds) },
});

/** What a service answers to each creation, and to each other request. Undefined: what its history says. */
const TROUBLES = {
	none: [undefined, undefined],
	'no answers': ['silence', 'silence'],
	'no answers to polls': [undefined, 'silence'],
	'polls paused': [undefined, json(503, { code: 'server_busy' }, 55)],
	paused: [json(429, { message: 'too many requests' }, 3_000), json(429, {}, 3_000)],
	full: [json(429, { code: 'active_task_limit' }), undefined],
	'one queue full': [json(429, { error: 'The queue of this voice is full' }), undefined],
	'no slot for long': [json(429, { code: 'active_task_limit' }, 600), undefined],
	'API v3': [json(400, { error: 'Use api v3: /v3/text-to-speech' }), undefined],
	'key refused': [json(401, { error: 'invalid key' }), json(401, { error: 'invalid key' })],
	'tasks that never end': [undefined, json(200, { status: 'doing' })],
} as const satisfies Record<string, [creation: unknown, other: unknown]>;
type Trouble = keyof typeof TROUBLES;

/** Nobody interferes: what is compared is what the accounts themselves do. */
const calm = (history: History): History => ({ ...history, events: [], breaks: [] });

/** Nothing of its own goes wrong, and all its tasks go on for as long. */
const busy = fc
	.tuple(histories, fc.constantFrom(40, 1, 8, 4_000), fc.boolean())
	.map(([{ node, items }, seconds, sleeps]): History => ({
		...PLAIN_HISTORY,
		node: { ...node, before: 'runs', minimumCredits: -1, maximumCredits: -1 },
		items: items.map((item) => (sleeps ? { ...item, wait: 'suspend', timeout: 0 } : item)),
		tasks: Array<TaskScript>(100).fill({ ...PLAIN_TASK, seconds }),
	}));

export const neighbours = fc.record({
	good: fc.oneof(busy, histories.map(calm)),
	bad: busy,
	trouble: fc.constantFrom(...(Object.keys(TROUBLES) as Trouble[])),
	/** Executions of the bad account. */
	executions: fc.constantFrom(12, 1, 4),
	/** How long they have run when the other account begins, in seconds. */
	since: fc.constantFrom(0, 5, 40),
	/** Whether both are at one service, and only their keys differ. Else only their Base URLs do. */
	isSameService: fc.boolean(),
});
export type Neighbours = Drawn<typeof neighbours>;

const OTHER_KEY = 'sk_the-key-of-the-neighbour';
const FIRST_ID = 1_000;
const LONGEST_MS = 1_000;
const CALLS = { every: 3_000, times: 50 };

/** What an account has made, and when, in ms since it began. */
interface Course {
	ends: string[];
	ms: number[];
	story: string[];
	shown: string;
}

async function courseOf(
	{ good, bad, trouble, executions, since, isSameService }: Neighbours,
	[process]: readonly Process[],
	isAlone: boolean,
): Promise<Course> {
	if (process === undefined) throw new Error('no process');
	// Chance is no trouble.
	const machine = new Machine(1, { random: () => 0.5 });
	const stageOf = (history: History, own: object) =>
		new Stage(history, [process], {
			...{ machine, fields: (index: number, salt: string) => fieldsOf(history, index, salt) },
			...own,
		});
	const stage = stageOf(good, {});
	const sharing: { hosts: Hosts; credential: object } | object = isSameService
		? { hosts: stage.hosts, credential: { apiKey: OTHER_KEY } }
		: {};
	const answer = async ({ method }: Request): Promise<Response | undefined> => {
		const given = TROUBLES[trouble][method === 'POST' ? 0 : 1];
		return given === 'silence' ? await new Promise<never>(() => undefined) : given;
	};
	const other = stageOf(bad, { ...sharing, answer, credentialId: 'two', lastId: FIRST_ID });
	/** Somebody calls whatever sleeps there, again and again. */
	const call = (times: number): void => {
		const { executions: begun } = other.n8n;
		for (const execution of begun.filter(({ status }) => status === 'waiting')) {
			const task = other.service.tasks.find(({ sent }) => sent.executionId === execution.id);
			void other.n8n.post(other.n8n.resumeUrl(execution), { id: task?.id });
		}
		if (times > 0) machine.later(CALLS.every, () => call(times - 1));
	};
	const { n8n, service, story } = stage;
	const thrown = await stage.play(async () => {
		for (let count = 0; count < executions && !isAlone; count += 1) other.n8n.start();
		if (!isAlone) call(CALLS.times);
		await machine.run(() => false, since * 1_000);
		n8n.start();
		await machine.run(() => n8n.isOver);
		other.n8n.close();
	});
	return {
		ends: [
			...n8n.executions.map(({ status, output }) => `${status} ${output?.length}`),
			...service.sent.map(({ slot, fate }) => `${slot} ${fate}`),
			...thrown,
		],
		ms: [...n8n.executions, ...service.sent].map(
			(each) => ('atMs' in each ? each.atMs : (each.endedMs ?? Infinity)) - since * 1_000,
		),
		story,
		shown: JSON.stringify(n8n.outgoing),
	};
}

/** @returns how the account went otherwise beside its neighbour, in words, and what happened */
export async function playBeside(
	played: Neighbours,
	processes: readonly Process[],
): Promise<{ broken: string[]; story: string[] }> {
	const alone = await courseOf(played, processes, true);
	const beside = await courseOf(played, processes, false);
	const late = beside.ms.filter((ms, index) => ms > 1.2 * (alone.ms[index] ?? 0) + LONGEST_MS);
	const isOther = alone.ends.join() !== beside.ends.join();
	return {
		broken: [
			...(isOther ? [`OTHERS' TROUBLE: ${beside.ends.join()}, not ${alone.ends.join()}`] : []),
			...late.map((ms) => `OTHERS' TROUBLE: ${ms} ms: ${beside.ms.join()}, not ${alone.ms.join()}`),
			...(beside.shown.includes(OTHER_KEY) ? [`KEY: that of the neighbour`] : []),
		],
		story: [...alone.story, 'beside the other account:', ...beside.story],
	};
}
