/** One simulated process of n8n: around the nodes' own run of items, one thread whose time requests and executions take. */
import { setMaxListeners } from 'node:events';
import type { IExecuteFunctions } from 'n8n-workflow';
import { Ledger } from '../nodes/MediaGeneration/task/ledger';
import { readItemSettings } from '../nodes/MediaGeneration/actions/waiting';
import type { Item, ItemEnd } from '../nodes/MediaGeneration/run/item';
import { runItems } from '../nodes/MediaGeneration/run/items';
import { Spending } from '../nodes/MediaGeneration/task/spending';
import { Account } from '../nodes/MediaGeneration/transport/account';
import type { ServiceClient } from '../nodes/MediaGeneration/transport/client';
import { seededRandom, type VirtualClock } from '../test/support/virtualClock';
import { fieldsWith } from '../test/unit/itemFields';
import type { Execution, Fleet, Service } from './fleetService';
import { check } from './stats';

const FIELDS = { downloadOutput: false, options: { timeout: 30 * 86_400 } };
const SETTINGS = readItemSettings(fieldsWith(FIELDS), false);
const KEY = { baseUrl: 'https://api.example', apiKey: 'sk_simulated', callbackSecret: '' };

/** One process of n8n: one thread, and one memory of the account. */
export class Process {
	private readonly client: ServiceClient;
	private readonly random: () => number;
	private busyUntil = 0;
	running = 0;

	constructor(
		private readonly clock: VirtualClock,
		service: Service,
		private readonly fleet: Fleet,
		seed: number,
	) {
		this.random = seededRandom(seed);
		this.client = {
			account: new Account(),
			credentials: KEY,
			send: async ({ method, path, body }) => {
				await this.work(fleet.requestMs, fleet.latencyMs);
				return method === 'POST'
					? service.create(Number(body?.text))
					: service.look(path.split('/').pop() ?? '');
			},
		};
	}

	/** The thread's time, one after the other. */
	private async work(cpuMs: number, thenMs = 0): Promise<void> {
		this.busyUntil = Math.max(this.busyUntil, this.clock.now()) + cpuMs;
		await this.clock.sleep(this.busyUntil + thenMs - this.clock.now());
	}

	/** One execution, while one of the process's slots is free. */
	async run({ tasks }: Execution): Promise<void> {
		check(this.running < this.fleet.concurrency, 'more executions than slots');
		this.running += 1;
		await this.work(this.fleet.executionMs);
		const ends = await this.generate(tasks);
		check(
			ends.every(({ kind }) => kind === 'items'),
			'an item failed',
		);
		this.running -= 1;
	}

	private async generate(tasks: readonly number[]): Promise<ItemEnd[]> {
		const { client, random, clock } = this;
		const { now, sleep } = clock;
		const store = {};
		const run = { executionId: '1', runIndex: 0 };
		const stop = new AbortController();
		setMaxListeners(Infinity, stop.signal);
		return await runItems(
			tasks.map((ms, index): Item => ({
				kind: 'item',
				index,
				settings: SETTINGS,
				parts: [
					{
						kind: 'creates',
						slot: { item: index, part: 0 },
						hash: '',
						earlier: { kind: 'nothing' },
						request: { kind: 'sound', path: '/v1/task/sound-effect', body: { text: String(ms) } },
					},
				],
				assembly: { longText: { kind: 'off' }, texts: [''] },
			})),
			{
				...{ client, now, sleep, random, stop: stop.signal },
				context: {
					logger: { info: () => undefined, warn: () => undefined },
				} as unknown as IExecuteFunctions,
				paidTasks: { add: () => undefined },
				ledger: new Ledger(store, run),
				spending: new Spending({
					...{ client, now, sleep, store, run },
					...{ maximum: undefined, balance: undefined, signal: undefined },
				}),
				delivery: {
					deliver: async () => {
						const items = [{ json: {} }];
						return await Promise.resolve({ items, outputs: [], failure: undefined, files: [] });
					},
				},
			},
			{ maxActiveTasks: this.fleet.maxActiveTasks, haltOnFailure: false },
		);
	}
}
