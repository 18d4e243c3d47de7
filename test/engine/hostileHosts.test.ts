/**
 * Seeded file hosts that cut, stall and lie about length, type, encoding and range, over real sockets and n8n's own HTTP
 * client: each file is delivered whole with the right type, or said to be undelivered, and nothing is left over.
 * `HOSTILE_CASES=50000 HOSTILE_SEED=7 npx jest test/engine/hostileHosts` runs more of them, or others.
 */
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Readable } from 'node:stream';
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import { fetchFiles, type FetchDeps } from '../../nodes/MediaGeneration/delivery/files';
import type { N8nContext } from '../../nodes/MediaGeneration/service/client';
import { fileOpener } from '../../nodes/MediaGeneration/service/fileHost';
import { Limiter } from '../../nodes/MediaGeneration/base/limiter';
import { node, passing } from './engine';
import { runWorkflow } from './executions';
import { HostileHost } from './hostile/host';
import { planOf, type Plan } from './hostile/plan';
import { until } from './hurry';

const CASES = Number(process.env.HOSTILE_CASES ?? 300);
const FIRST_SEED = Number(process.env.HOSTILE_SEED ?? 1);
const WARM_UP = 50;
const AT_ONCE = 8;
/** Minutes pass in less than a second: what takes the host real time takes it as many times as long. */
const FASTER = 60;

const now = () => performance.now() * FASTER;
async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
	await delay(ms / FASTER, undefined, signal === undefined ? {} : { signal }).catch(
		() => undefined,
	);
}

interface End {
	plan: Plan;
	problem: string | undefined;
	mimeType: string | undefined;
	bytes: Buffer | undefined;
	requests: number;
}

async function storeOf(stream: Readable, { store }: Plan): Promise<Buffer> {
	if (store === 'failsAtOnce') throw new Error('disk full');
	if (store === 'works') return await buffer(stream);
	await new Promise((resolve) => stream.once('readable', resolve).once('error', resolve));
	throw new Error('disk full');
}

async function runCase(seed: number, host: HostileHost, real: N8nContext): Promise<End> {
	const plan = planOf(seed);
	let bytes: Buffer | undefined;
	const helpers = {
		httpRequest: async (options: IHttpRequestOptions) =>
			(await real.helpers.httpRequest(options)) as unknown,
		async prepareBinaryData(stream: Readable, fileName: string, mimeType: string) {
			bytes = await storeOf(stream, plan);
			return { data: '', fileName, mimeType };
		},
	};
	const context = { helpers } as unknown as N8nContext;
	const stop = new AbortController();
	const deps: FetchDeps = {
		context,
		open: fileOpener({ context, baseUrl: 'http://127.0.0.1' }),
		now,
		sleep,
		limiter: new Limiter(1),
		signal: stop.signal,
	};
	if (plan.stopAfterMs !== undefined) void delay(plan.stopAfterMs).then(() => stop.abort());
	const { kind } = plan.content;
	const [file] = await fetchFiles(
		[{ url: host.add(plan), kind }],
		{ stem: 't', maxBytes: plan.maxBytes },
		deps,
	);
	const requests = host.remove(plan);
	return {
		plan,
		problem: file?.kind === 'missing' ? file.problem : undefined,
		mimeType: file?.output.mimeType,
		bytes: file?.kind === 'stored' ? bytes : undefined,
		requests,
	};
}

/** What is wrong with how a case ended, or undefined. */
function complaintOf({ plan, problem, mimeType, bytes, requests }: End): string | undefined {
	const { content, harmless } = plan;
	if (requests > 60) return `${requests} requests`;
	if (bytes === undefined) {
		if (problem === undefined || problem === '') return 'neither delivered nor said to be missing';
		return harmless ? `not delivered: ${problem}` : undefined;
	}
	if (!content.versions.some((version) => version.equals(bytes)))
		return `${bytes.length} bytes that are not the file (${content.versions.map(({ length }) => length).join(' or ')})`;
	return mimeType === content.mimeType ? undefined : `delivered as ${mimeType}`;
}

function active(): { sockets: number; timers: number } {
	const names = process.getActiveResourcesInfo();
	const count = (name: string) => names.filter((one) => one === name).length;
	return { sockets: count('TCPSocketWrap'), timers: count('Timeout') };
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
async function heapMegabytes(): Promise<number> {
	for (let round = 0; round < 3; round += 1) {
		await delay(20);
		collect();
	}
	return process.memoryUsage().heapUsed / 1_000_000;
}

describe(`${CASES} hostile hosts from seed ${FIRST_SEED} on`, () => {
	const host = new HostileHost();
	let real: N8nContext;
	const timeout = AbortSignal.timeout.bind(AbortSignal);
	beforeAll(async () => {
		AbortSignal.timeout = (ms) => timeout(ms / FASTER);
		await host.listen();
		const keep = (context: N8nContext) => (real = context);
		const probe = passing('probe', async function (this: IExecuteFunctions) {
			keep(this);
			return await Promise.resolve([[]]);
		});
		await runWorkflow({
			types: { probe },
			nodes: [node('Probe', 'probe')],
			connections: {},
			credentials: { apiKey: '', baseUrl: '' },
		});
	});
	afterAll(async () => {
		AbortSignal.timeout = timeout;
		await host.close();
	});

	async function runAll(from: number, count: number): Promise<void> {
		let next = from;
		const worker = async () => {
			while (next < from + count) {
				const { bytes, ...end } = await runCase(next++, host, real);
				// Judged at once, so that no file is kept.
				const complaint = complaintOf({ ...end, bytes });
				complaints.push(
					...(complaint === undefined ? [] : [`seed ${end.plan.seed}: ${complaint}`]),
				);
				delivered += bytes === undefined ? 0 : 1;
			}
		};
		await Promise.all(Array.from({ length: AT_ONCE }, worker));
	}
	const complaints: string[] = [];
	let delivered = 0;

	test(
		'whole with the right type, or undelivered; no socket, timer or memory is left',
		async () => {
			await runAll(1_000_000_000, WARM_UP);
			const before = { ...active(), heap: await heapMegabytes() };
			await runAll(FIRST_SEED, CASES);
			expect(complaints).toEqual([]);
			// Most hosts can be coped with: giving up is not a way to pass.
			expect(delivered / (CASES + WARM_UP)).toBeGreaterThan(0.5);
			await until('all sockets are closed', () => host.openSockets === 0);
			await until('no socket is left on either side', () => active().sockets <= before.sockets);
			await until('no timer is left', () => active().timers <= before.timers);
			expect((await heapMegabytes()) - before.heap).toBeLessThan(15);
		},
		60_000 + CASES * 150,
	);
});
