/** Many cases in one n8n, those whose n8n is killed after all others. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestContext } from '../n8n/harness/context';
import type { Case } from './case';
import type { Evidence, Saved } from './evidence';
import { judge } from './judge';
import { play } from './play';

/** How many workflows run at the same time. */
const AT_ONCE = 20;
/** When n8n is killed in a batch with restarts, after its first workflow began. */
const KILL_AFTER_MS = 6_000;

/** Plays cases in one n8n, so many at a time. */
export async function playAll(
	cases: readonly Case[],
	rest: TestContext['rest'],
	atOnce: number,
): Promise<Evidence[]> {
	const left = [...cases];
	const all: Evidence[] = [];
	const lane = async () => {
		for (let next = left.shift(); next !== undefined; next = left.shift())
			all.push(await play(next, rest));
	};
	await Promise.all(Array.from({ length: atOnce }, lane));
	return all;
}

/** @returns when n8n was killed, in epoch ms */
async function killed(context: TestContext): Promise<number[]> {
	await delay(KILL_AFTER_MS);
	await context.n8n.kill('SIGKILL');
	const killedAt = Date.now();
	await context.startAgain();
	return [killedAt];
}

/** An execution in one line: which nodes ran, and how many items each run gave out. */
function summaryOf({ id, status, retryOf, resultData: { runData, error } }: Saved): string {
	const runs = Object.entries(runData).map(([node, each]) => {
		const counts = each.map(({ data, executionStatus }) => {
			const items = data?.main?.map((list) => list?.length ?? 0).join('/');
			return items ?? executionStatus;
		});
		return `${node} ${counts.join(', ')}`;
	});
	const repeated = retryOf == null ? '' : `, a Retry of ${retryOf}`;
	const why = error === undefined ? '' : ` (${error.node?.name}: ${error.message})`;
	return `Execution ${id}${repeated}: ${status}${why}; ${runs.join('; ')}`;
}

/** @returns the seeds that failed */
export async function judgeAll(
	all: readonly Evidence[],
	{ killedAt, log, rest }: Pick<Evidence, 'killedAt' | 'log'> & Pick<TestContext, 'rest'>,
): Promise<number[]> {
	const failed: number[] = [];
	const executions = all.reduce((sum, each) => sum + each.executions.length, 0);
	const tasks = all.reduce((sum, { service }) => sum + service.tasks.length, 0);
	console.log(`${all.length} workflows played: ${executions} executions, ${tasks} tasks`);
	for (const evidence of all) {
		const { played, service } = evidence;
		service.faults.clear();
		const wrong = await judge({ ...evidence, killedAt, log }, (entry) => rest.download(entry));
		await service.close();
		if (wrong.length === 0) continue;
		failed.push(played.seed);
		console.log(`\nSeed ${played.seed} failed:\n${wrong.map((words) => `- ${words}`).join('\n')}`);
		console.log(`Faults: ${JSON.stringify(played.faults)}`);
		console.log(`Events: ${JSON.stringify(played.events)}`);
		console.log(`Service: ${JSON.stringify(played.service)}`);
		for (const execution of evidence.executions) console.log(summaryOf(execution));
		console.log(JSON.stringify(evidence.workflows));
	}
	return failed;
}

/** @returns the seeds that failed */
export async function playCases(cases: readonly Case[], context: TestContext): Promise<number[]> {
	const failed: number[] = [];
	for (const restarts of [false, true]) {
		const batch = cases.filter((each) => each.restarts === restarts);
		const [all, killedAt] = await Promise.all([
			playAll(batch, context.rest, restarts ? batch.length : AT_ONCE),
			restarts && batch.length > 0 ? killed(context) : [],
		]);
		const { n8n, rest } = context;
		const log = readFileSync(n8n.logFile, 'utf8');
		failed.push(...(await judgeAll(all, { killedAt, log, rest })));
	}
	return failed;
}
