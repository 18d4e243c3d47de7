/**
 * Two hundred sleeping executions that are called at once: ours beside n8n's own Wait node, in the same n8n. Then a thousand tasks of one
 * execution, polled and asleep.
 */
import type { TestContext } from '../test/n8n/harness/context';
import type { SavedWorkflow } from '../test/n8n/harness/rest';
import { waitUntil } from '../test/n8n/harness/wait';
import { endlessJobs, jobsOf, runJobs } from './jobs';
import { postAll, type Posted } from './posting';
import { mark, times, type Bench, type Say } from './report';
import { ourWay, type SleepingWay, waitWay } from './sleepers';
import { check, mean, quantile } from './stats';
import { called, generate, growthMb, inN8n, last, oneItemEach, publish } from './workflows';

const sleepers = 200;
const warmUp = 20;
/** In turns, so that neither has the younger n8n. */
const rounds = 4;

const ways = [waitWay, ourWay];

/** Puts executions to sleep, calls them, and waits until all are over. */
async function wake(
	context: TestContext,
	way: SleepingWay,
	{ id }: SavedWorkflow,
	count = sleepers,
) {
	const { n8n, rest, service } = context;
	service.reset();
	service.settings.callbacks.drop = true;
	const before = (await rest.listExecutions(id)).length;
	for (let index = 0; index < count; index += 1)
		await rest.callWebhook(way.path, { jobs: endlessJobs(`${way.path} ${index}`, 1) });
	const inState = async (status: string) =>
		(await rest.listExecutions(id)).filter((execution) => execution.status === status);
	await waitUntil(async () => (await inState('waiting')).length === count, {
		intervalMs: 1_000,
		what: `${count} sleeping executions`,
	});
	const calls = await way.calls(service);
	check(calls.length === count, `${calls.length} calls for ${count} executions`);
	const startedAt = Date.now();
	let posted: Posted[] = [];
	const wakeAll = async () => {
		posted = await postAll(n8n.baseUrl, calls, calls.length);
		await waitUntil(async () => (await inState('success')).length >= before + count, {
			intervalMs: 500,
			what: `${count} finished executions`,
		});
	};
	const grownMb = await growthMb(context, wakeAll, { everyMs: 200 });
	const ended = await inState('success');
	const seconds = ended
		.map(({ stoppedAt }) => (Date.parse(stoppedAt ?? '') - startedAt) / 1000)
		.filter((at) => at > 0);
	check(seconds.length === count, `${seconds.length} executions ended after the calls`);
	return {
		perSecond: count / Math.max(...seconds),
		/** From the first call to the end of an execution. */
		meanS: mean(seconds),
		answersP95Ms: quantile(
			posted.map(({ ms }) => ms),
			0.95,
		),
		/** Of n8n's processes, while they are called. */
		grownMb,
	};
}
type Outcome = Awaited<ReturnType<typeof wake>>;

type Result = { way: SleepingWay; outcomes: Outcome[] };

async function compare(context: TestContext, say: Say): Promise<Result[]> {
	const results: Array<Result & { workflow: SavedWorkflow }> = [];
	for (const way of ways) {
		const nodes = [called(way.path), oneItemEach(), ...way.nodes(context.service), last()];
		const workflow = await publish(context, way.path, nodes);
		await wake(context, way, workflow, warmUp);
		results.push({ way, workflow, outcomes: [] });
	}
	for (let round = 0; round < rounds; round += 1) {
		for (const result of round % 2 === 0 ? results : [...results].reverse()) {
			const outcome = await wake(context, result.way, result.workflow);
			say(`${result.way.label}: ${outcome.perSecond.toFixed(1)} a second`);
			result.outcomes.push(outcome);
		}
	}
	return results;
}

const of = ({ outcomes }: Result, key: keyof Outcome) =>
	mean(outcomes.map((outcome) => outcome[key]));

/** Ours beside n8n's. */
const ratioOf = ([theirs, ours]: Result[], key: keyof Outcome) =>
	theirs === undefined || ours === undefined ? NaN : of(ours, key) / of(theirs, key);

/** Tasks of one execution, each of a minute. */
const many = Array<number>(1_000).fill(60);

async function endMany(context: TestContext, waitMode: 'poll' | 'callback') {
	const name = `many-${waitMode}`;
	const made = generate({ waitMode }, { gracePeriod: 0, maxActiveTasks: many.length });
	const workflow = await publish(context, name, [called(name), oneItemEach(), made, last()]);
	let seconds = NaN;
	const grownMb = await growthMb(
		context,
		async () => ({ seconds } = await runJobs(context, workflow, jobsOf(name, many))),
		{ everyMs: 200 },
	);
	return { seconds, grownMb };
}

/** Each in an n8n of its own, so that neither finds the other's memory. */
async function compareMany(say: Say) {
	const run = async (waitMode: 'poll' | 'callback') => {
		const ended = await inN8n({}, async (context) => await endMany(context, waitMode))(say);
		say(`${many.length} tasks, ${waitMode}: ${ended.seconds.toFixed(0)} s`);
		return ended;
	};
	return { polled: await run('poll'), asleep: await run('callback') };
}

export const bench: Bench = {
	title: `${sleepers} sleeping executions that are called at once, and ${many.length} tasks of one execution`,
	async run(say) {
		const results = await inN8n({}, compare)(say);
		const { polled, asleep } = await compareMany(say);
		const beside = ", beside n8n's Wait node";
		const longer = asleep.seconds / polled.seconds;
		return {
			tables: [
				{
					caption: `Mean of ${rounds} rounds in turns. The seconds count from the first call`,
					columns: [
						...['', 'woken and finished/s', "beside n8n's", 'mean s', 'answered, 95% within ms'],
						'growth MB',
					],
					rows: results.map((result) => [
						...[result.way.label, of(result, 'perSecond')],
						times(ratioOf([results[0] ?? result, result], 'perSecond')),
						...[of(result, 'meanS'), of(result, 'answersP95Ms'), of(result, 'grownMb')],
					]),
				},
				{
					caption: `${many.length} tasks of 60 s in one execution, all active at once`,
					columns: ['', 's', 'growth MB'],
					rows: [
						['Poll', polled.seconds, polled.grownMb],
						['Suspend', asleep.seconds, asleep.grownMb],
					],
				},
			],
			marks: [
				mark(`finished a second${beside}`, ratioOf(results, 'perSecond'), [0.75, 'x', 'least']),
				mark(`growth while they are called${beside}`, ratioOf(results, 'grownMb'), [1.1, 'x']),
				mark('1,000 tasks asleep: time beside polling', longer, [1.5, 'x']),
				mark('1,000 tasks asleep: growth', asleep.grownMb, [700, 'MB']),
			],
			checked: [
				`each round: ${sleepers} executions asleep, each execution over after its call`,
				`${many.length} tasks created once, each done in its item`,
			],
		};
	},
};
