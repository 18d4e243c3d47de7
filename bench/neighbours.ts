/** One account beside another one whose service and file host misbehave, in the same n8n: how much longer its work takes than alone. */
import { startService } from '../test/service';
import { endlessJobs, jobsOf, runJobs } from './jobs';
import { mark, times, type Bench, type Say } from './report';
import { check, median } from './stats';
import { waitUntil } from '../test/n8n/harness/wait';
import type { TestContext } from '../test/n8n/harness/context';
import { called, generate, inN8n, last, oneItemEach, publish } from './workflows';

const rounds = 5;
/** Of the other account, all of which have files that come a byte at a time. */
const sleepers = 20;

/** In s: items that are polled, and one that sleeps until it is called. */
async function work(context: TestContext, name: string) {
	const { rest, service } = context;
	const flow = async (waitMode: 'poll' | 'callback') => {
		const path = `${name}-${waitMode}`;
		const made = generate({ waitMode }, { gracePeriod: 0 });
		return await publish(context, path, [called(path), oneItemEach(), made, last()]);
	};
	const polling = await flow('poll');
	const { seconds: polled } = await runJobs(context, polling, jobsOf(name, [2, 2, 2]));
	const { id, name: path } = await flow('callback');
	await rest.callWebhook(path, { jobs: endlessJobs(path, 1) });
	const [execution] = await waitUntil(
		async () => {
			const all = await rest.listExecutions(id);
			return all.some(({ status }) => status === 'waiting') && all;
		},
		{ what: 'A sleeping execution' },
	);
	check(execution !== undefined, 'no execution');
	const since = Date.now();
	for (const task of service.creations(({ status }) => status === 'doing'))
		await service.finish(task.id);
	await rest.waitForExecutions(id, 1);
	return { polled, woken: (Date.now() - since) / 1000 };
}

async function compare(context: TestContext, say: Say) {
	await work(context, 'warm-up');
	const measure = async (name: string) => {
		const all = [];
		for (let round = 0; round < rounds; round += 1)
			all.push(await work(context, `${name}-${round}`));
		const polled = median(all.map((each) => each.polled));
		const woken = median(all.map((each) => each.woken));
		say(`${name}: polled ${polled.toFixed(2)} s, woken ${woken.toFixed(2)} s`);
		return { polled, woken };
	};
	const alone = await measure('alone');
	const bad = await startService();
	try {
		const { apiKey, baseUrl } = bad;
		const fields = { apiKey, baseUrl, callbackSecret: '' };
		const credential = await context.rest.createCredential('Bad', 'mediaGenerationApi', fields);
		const made = generate({ waitMode: 'callback' }, { gracePeriod: 0 });
		const nodes = [called('bad'), oneItemEach(), made, last()];
		const { id } = await publish({ ...context, credential }, 'bad', nodes);
		for (let index = 0; index < sleepers; index += 1)
			await context.rest.callWebhook('bad', { jobs: endlessJobs(`bad ${index}`, 1) });
		const asleep = async () =>
			(await context.rest.listExecutions(id)).filter(({ status }) => status === 'waiting').length;
		await waitUntil(async () => (await asleep()) === sleepers, { what: 'The other sleepers' });
		bad.faults.add({ route: 'file', action: { type: 'drip' } });
		for (const task of bad.tasks) void bad.finish(task.id).catch(() => undefined);
		const beside = await measure('beside');
		check((await asleep()) === sleepers, 'the other account had its files');
		return { alone, beside };
	} finally {
		await bad.close();
	}
}

export const bench: Bench = {
	title: `one account beside ${sleepers} executions of another one, whose files come a byte at a time`,
	async run(say) {
		const { alone, beside } = await inN8n({}, compare)(say);
		const [polled, woken] = [beside.polled / alone.polled, beside.woken / alone.woken];
		return {
			tables: [
				{
					caption: `Median of ${rounds} rounds, in s`,
					columns: ['', 'alone', 'beside', 'ratio'],
					rows: [
						[
							'three tasks of 2 s, polled, with their files',
							alone.polled,
							beside.polled,
							times(polled),
						],
						[
							'from the end of a task to the end of its execution, asleep',
							alone.woken,
							beside.woken,
							times(woken),
						],
					],
				},
			],
			marks: [
				mark('polled beside another account in trouble', polled, [1.2, 'x']),
				mark('woken beside another account in trouble', woken, [1.2, 'x']),
			],
			checked: ['the other account had none of its files at the end'],
		};
	},
};
