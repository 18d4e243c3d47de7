/** One account beside another one whose service and file host misbehave, in the same n8n: how much longer its work takes than alone. */
import { startService } from '../test/service';
import { post, Workbench } from '../test/n8n/trigger/workbench';
import type { TestContext } from '../test/n8n/harness/context';
import { waitUntil } from '../test/n8n/harness/wait';
import { endlessJobs, jobsOf, runJobs } from './jobs';
import { mark, times, type Bench, type Say } from './report';
import { check, median } from './stats';
import { called, generate, inN8n, last, oneItemEach, publish } from './workflows';

const rounds = 5;
/** Of the other account: executions that sleep for files that come a byte at a time, and calls at its trigger for tasks that nobody knows. */
const sleepers = 20;
const callers = 60;
/** Of what is measured. */
const inPoll = [2, 2, 2];
const fileBytes = 20_000_000;

type Kind = 'polled' | 'file' | 'woken' | 'trigger';
const kinds: Record<Kind, string> = {
	polled: 'three tasks of 2 s, polled, with their files',
	file: 'a task of 2 s, polled, with a file of 20 MB',
	woken: 'from the end of a task to the end of its execution, asleep',
	trigger: 'from a call at the trigger to the end of the execution that it starts',
};

async function worker(context: TestContext) {
	const { rest, service } = context;
	const flow = async (waitMode: 'poll' | 'callback') => {
		const made = generate({ waitMode, downloadOutput: true }, { gracePeriod: 0 });
		return await publish(context, waitMode, [called(waitMode), oneItemEach(), made, last()]);
	};
	const [polling, sleeping] = [await flow('poll'), await flow('callback')];
	const bench = new Workbench(context);
	const receiver = await bench.receiver('neighbour', context.credential);
	return async (name: string): Promise<Record<Kind, number>> => {
		const { seconds: polled } = await runJobs(context, polling, jobsOf(name, inPoll));
		const large = jobsOf(`${name} large`, [2], { bytes: fileBytes });
		const { seconds: file } = await runJobs(context, polling, large);
		const before = (await rest.listExecutions(sleeping.id)).length;
		await rest.callWebhook('callback', { jobs: endlessJobs(`${name} asleep`, 1) });
		const isAsleep = async () =>
			(await rest.listExecutions(sleeping.id)).some(({ status }) => status === 'waiting');
		await waitUntil(isAsleep, { what: 'A sleeping execution' });
		const since = Date.now();
		for (const task of service.creations(({ status }) => status === 'doing'))
			await service.finish(task.id);
		const ended = await rest.waitForExecutions(sleeping.id, before + 1);
		const stopped = ended.map(({ stoppedAt }) => Date.parse(stoppedAt ?? ''));
		const woken = (Math.max(...stopped) - since) / 1000;
		const runs = (await receiver.runs()).length;
		const id = await bench.task();
		const called = Date.now();
		const { status } = await post(receiver.url, { id, status: 'done' });
		check(status === 200, `the trigger answered ${status}`);
		await receiver.ran(runs + 1);
		return { polled, file, woken, trigger: (Date.now() - called) / 1000 };
	};
}

async function compare(context: TestContext, say: Say) {
	const { rest } = context;
	const work = await worker(context);
	await work('warm-up');
	const measure = async (name: string) => {
		const all: Array<Record<Kind, number>> = [];
		for (let round = 0; round < rounds; round += 1) all.push(await work(`${name}-${round}`));
		const of = (kind: Kind) => median(all.map((each) => each[kind]));
		const result = { polled: of('polled'), file: of('file'), woken: of('woken') };
		say(`${name}: ${JSON.stringify({ ...result, trigger: of('trigger') })}`);
		return { ...result, trigger: of('trigger') };
	};
	const alone = await measure('alone');
	const bad = await startService();
	try {
		const { apiKey, baseUrl } = bad;
		const fields = { apiKey, baseUrl, callbackSecret: '' };
		const credential = await rest.createCredential('Bad', 'mediaGenerationApi', fields);
		const made = generate({ waitMode: 'callback', downloadOutput: true }, { gracePeriod: 0 });
		const nodes = [called('bad'), oneItemEach(), made, last()];
		const { id } = await publish({ ...context, credential }, 'bad', nodes);
		const { url } = await new Workbench(context).receiver('neighbour-bad', credential);
		for (let index = 0; index < sleepers; index += 1)
			await rest.callWebhook('bad', { jobs: endlessJobs(`bad ${index}`, 1) });
		const asleep = async () =>
			(await rest.listExecutions(id)).filter(({ status }) => status === 'waiting').length;
		await waitUntil(async () => (await asleep()) === sleepers, { what: 'The other sleepers' });
		bad.faults.add({ route: 'file', action: { type: 'drip' } });
		bad.faults.add({ route: 'poll', action: { type: 'stall' }, skip: 2 * sleepers });
		for (const task of bad.tasks) void bad.finish(task.id).catch(() => undefined);
		for (let at = 0; at < callers; at += 1)
			void post(url, { id: `unknown-${at}`, status: 'done' }).catch(() => undefined);
		const beside = await measure('beside');
		check((await asleep()) === sleepers, 'the other account had its files');
		return { alone, beside };
	} finally {
		await bad.close();
	}
}

export const bench: Bench = {
	title: `one account beside ${sleepers} executions of another one, whose files come a byte at a time, and ${callers} calls at its trigger`,
	async run(say) {
		const { alone, beside } = await inN8n({}, compare)(say);
		const rows = (Object.keys(kinds) as Kind[]).map((kind) => ({
			...{ what: kinds[kind], alone: alone[kind], beside: beside[kind] },
			ratio: beside[kind] / alone[kind],
		}));
		return {
			tables: [
				{
					caption: `Median of ${rounds} rounds, in s`,
					columns: ['', 'alone', 'beside', 'ratio'],
					rows: rows.map((each) => [each.what, each.alone, each.beside, times(each.ratio)]),
				},
			],
			marks: rows.map(({ what, ratio }) => mark(`beside: ${what}`, ratio, [1.2, 'x'])),
			checked: ['the other account had none of its files at the end'],
		};
	},
};
