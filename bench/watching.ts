/** What it costs that n8n looks at the tasks of sleeping executions: memory, looks, and how soon a lost callback is noticed. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startContext, type TestContext } from '../test/n8n/harness/context';
import type { SavedWorkflow } from '../test/n8n/harness/rest';
import { waitUntil } from '../test/n8n/harness/wait';
import type { TaskRecord } from '../test/service';
import type { Bench } from './report';
import { check, mean, megabytes } from './stats';
import { called, generate, last, oneItemEach, publish } from './workflows';

const sleepers = 200;
/** As many as are measured: after fewer, n8n still gives back memory of its start while the first ones fall asleep. */
const warmUp = sleepers;
/** Shorter than the age at which a task is looked at for the first time while its execution sleeps. */
const shortTaskS = 9;
const shortTasks = 40;
const memoryLimitMb = 30;
/** Of a lost callback: within 30 s, or 35% of the task's time if that is longer. */
const noticedWithinS = 30;
const noticedWithinShare = 0.35;

interface Memory {
	/** What is reachable, JavaScript's heap and buffers outside of it, in MB. */
	heldMb: number;
	rssMb: number;
}

/** One n8n with garbage collection on demand. */
class Subject {
	/** Executions, by workflow. */
	private readonly started = new Map<string, number>();

	private constructor(
		readonly context: TestContext,
		private readonly memoryFile: string,
	) {}

	static async start(): Promise<Subject> {
		const memoryFile = join(tmpdir(), `media-generation-memory-${process.pid}.json`);
		const env = {
			NODE_OPTIONS: `--require ${join(__dirname, 'probes', 'memory.cjs')}`,
			MEDIA_GENERATION_MEMORY_FILE: memoryFile,
		};
		return new Subject(await startContext({ env }), memoryFile);
	}

	/** What n8n's process holds after garbage collection. */
	async memory(): Promise<Memory> {
		// What the last executions left to be done is done by then.
		await delay(3_000);
		rmSync(this.memoryFile, { force: true });
		process.kill(this.context.n8n.process.pid, 'SIGUSR2');
		await waitUntil(() => existsSync(this.memoryFile), {
			timeoutMs: 30_000,
			what: "n8n's report of its memory",
		});
		const { heapUsed, external, rss } = JSON.parse(
			readFileSync(this.memoryFile, 'utf8'),
		) as NodeJS.MemoryUsage;
		return { heldMb: megabytes(heapUsed + external), rssMb: megabytes(rss) };
	}

	async publish(path: string, watched: boolean): Promise<SavedWorkflow> {
		const node = generate({ waitMode: 'callback' }, { gracePeriod: 0, watchWhileAsleep: watched });
		return await publish(this.context, path, [called(path), oneItemEach(), node, last()]);
	}

	/** Starts as many executions with a task each, and waits until they sleep; their tasks. */
	async putToSleep(
		{ id, name }: SavedWorkflow,
		count: number,
		standIn: Record<string, unknown> = { never_ends: true },
	): Promise<TaskRecord[]> {
		const { rest, service } = this.context;
		const before = service.creations().length;
		this.started.set(id, (this.started.get(id) ?? 0) + count);
		for (let index = 0; index < count; index += 1)
			await rest.callWebhook(name, { jobs: [{ text: `${name} ${before + index}`, standIn }] });
		if (standIn.never_ends === true)
			await waitUntil(
				async () => {
					if (service.creations().length < before + count) return false;
					const all = await rest.listExecutions(id);
					return all.filter(({ status }) => status === 'waiting').length === count;
				},
				{ timeoutMs: 300_000, intervalMs: 1_000, what: `${count} sleeping executions` },
			);
		return service.creations().slice(before);
	}

	/** Waits until all executions of a workflow have succeeded. */
	async allEnded({ id }: SavedWorkflow): Promise<void> {
		const { rest } = this.context;
		const count = this.started.get(id) ?? 0;
		await waitUntil(
			async () => {
				const all = await rest.listExecutions(id);
				return all.filter(({ status }) => status === 'success').length >= count;
			},
			{ timeoutMs: 300_000, intervalMs: 1_000, what: `${count} finished executions` },
		);
	}

	async finish(tasks: readonly TaskRecord[]): Promise<void> {
		for (const { id } of tasks) await this.context.service.finish(id);
	}

	async close(): Promise<void> {
		await this.context.close();
		rmSync(this.memoryFile, { force: true });
	}
}

interface Cost {
	heldMb: number;
	rssMb: number;
}

/** What n8n holds for sleepers. They are woken by their callbacks afterwards, or left to `then`. */
async function costOf(
	subject: Subject,
	workflow: SavedWorkflow,
	then: (tasks: TaskRecord[]) => Promise<void>,
): Promise<Cost> {
	const before = await subject.memory();
	const tasks = await subject.putToSleep(workflow, sleepers);
	const after = await subject.memory();
	await then(tasks);
	await subject.allEnded(workflow);
	return { heldMb: after.heldMb - before.heldMb, rssMb: after.rssMb - before.rssMb };
}

interface Noticed {
	/** From a task's end to the look that finds it, in s. */
	meanS: number;
	/** The longest, beside the longest that is promised. */
	longest: number;
	longestS: number;
}

function noticed({ service }: TestContext, tasks: readonly TaskRecord[]): Noticed {
	const delays = tasks.map(({ id, createdAt, dueAt }) => {
		const look = service.polls(id).find(({ time }) => time >= dueAt);
		check(look !== undefined, 'nobody looked at a task whose callback was lost');
		const promisedS = Math.max(noticedWithinS, (noticedWithinShare * (dueAt - createdAt)) / 1000);
		const tookS = (look.time - dueAt) / 1000;
		return { tookS, share: tookS / promisedS };
	});
	return {
		meanS: mean(delays.map(({ tookS }) => tookS)),
		longestS: Math.max(...delays.map(({ tookS }) => tookS)),
		longest: Math.max(...delays.map(({ share }) => share)),
	};
}

/** Looks between the last one before the sleep and the task's end, for tasks whose callbacks come. */
async function looksBeforeCallbacks(subject: Subject, workflow: SavedWorkflow): Promise<number> {
	const { service } = subject.context;
	const tasks = await subject.putToSleep(workflow, shortTasks, { ms: shortTaskS * 1000 });
	await subject.allEnded(workflow);
	const looks = tasks.map(({ id, dueAt }) => {
		const early = service.polls(id).filter(({ time }) => time < dueAt);
		// The first one is the last look before the sleep.
		return early.length - 1;
	});
	return looks.reduce((sum, count) => sum + count, 0);
}

export const bench: Bench = {
	title: `${sleepers} sleeping executions that n8n looks after`,
	async run(say) {
		const subject = await Subject.start();
		try {
			const { service } = subject.context;
			const unwatched = await subject.publish('unwatched', false);
			const watched = await subject.publish('watched', true);
			// Warm: code loaded, pools filled.
			await subject.finish(await subject.putToSleep(unwatched, warmUp));
			await subject.allEnded(unwatched);
			const looks = await looksBeforeCallbacks(subject, watched);
			say(`${looks} looks at ${shortTasks} tasks of ${shortTaskS} s before their callbacks`);

			const wake = async (tasks: TaskRecord[]) => await subject.finish(tasks);
			const without = await costOf(subject, unwatched, wake);
			say(`unwatched: ${JSON.stringify(without)}`);
			let lost: Noticed | undefined;
			const of = await costOf(subject, watched, async (tasks) => {
				service.settings.callbacks.drop = true;
				await subject.finish(tasks);
				await subject.allEnded(watched);
				lost = noticed(subject.context, tasks);
			});
			say(`watched: ${JSON.stringify(of)}; callbacks lost: ${JSON.stringify(lost)}`);
			check(lost !== undefined, 'no callback was lost');
			const created = service.creations().length;
			check(created === warmUp + shortTasks + 2 * sleepers, `${created} tasks`);
			const row = (label: string, { heldMb, rssMb }: Cost) => [label, heldMb, rssMb];
			return {
				tables: [
					{
						caption: `What n8n holds for ${sleepers} sleeping executions after garbage collection, in one process one after the other, MB`,
						columns: ['', 'heap and buffers', 'resident'],
						rows: [row('unwatched', without), row('watched', of)],
					},
					{
						caption: `${sleepers} callbacks lost: from a task's end to the look that finds it, s`,
						columns: ['', 'mean', 'longest'],
						rows: [['watched', lost.meanS, lost.longestS]],
					},
				],
				marks: [
					{
						what: `heap and buffers of ${sleepers} watched sleepers above those of unwatched ones`,
						measured: of.heldMb - without.heldMb,
						limit: memoryLimitMb,
						unit: 'MB',
					},
					{
						what: `resident memory of ${sleepers} watched sleepers above that of unwatched ones`,
						measured: of.rssMb - without.rssMb,
						limit: memoryLimitMb,
						unit: 'MB',
					},
					{
						what: `looks at sleeping tasks of ${shortTaskS} s whose callbacks come`,
						measured: looks,
						limit: 0,
						unit: '',
					},
					{
						what: 'lost callback, longest delay beside what is promised',
						measured: lost.longest,
						limit: 1.05,
						unit: 'x',
					},
				],
				bars: [],
				checked: [
					`${created} tasks, one an execution, all of them finished`,
					`${sleepers} executions asleep at once, without and with looks`,
				],
			};
		} finally {
			await subject.close();
		}
	},
};
