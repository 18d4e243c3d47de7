/**
 * Histories of the trigger: a service calls back, once or in copies, and again until it is answered; calls are lost, late or forged, looks
 * break, n8n fails to store an execution or is killed. Afterwards every call-back is in the book of its sender, and every run in n8n's.
 */
import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import type { IDataObject, IHttpRequestOptions, IWebhookFunctions } from 'n8n-workflow';
import { prepareReceiveUrl } from '../../nodes/MediaGeneration/trigger/receiveUrl';
import { WebhookResponse } from '../support/webhookResponse';
import type { Drawn } from './history';
import { Machine } from '../support/machine';
import { KEY, SECRET, untilAborted } from './n8n';
import type { Process } from './processes';

const HOOK = 'https://n8n.example/webhook/1a2b/callback';
const SETTINGS = { statuses: ['done', 'error'], verify: true, types: [], deduplicate: true };
/** Pauses of a sender that is not answered, or with 5xx. */
const AGAIN_MS = 20_000;
/** How long n8n takes to store an execution, and to answer after it. */
const STORING_MS = 30;
const ANSWERING_MS = 5;
const MOST_TRIES = 60;

const word = <T extends string>(...values: T[]) => fc.constantFrom(...values);
export const callHistories = fc.record({
	seed: fc.nat(1_000_000),
	tasks: fc.array(
		fc.record({
			seconds: fc.constantFrom<number>(0, 1, 5, 60),
			end: word('done', 'done', 'error', 'never'),
			/** So many seconds the service's own read lags behind. */
			lag: fc.constantFrom<number>(0, 0, 0.2, 4, 8),
			/** Seconds after its end at which each copy is sent for the first time. */
			copies: fc.array(fc.constantFrom<number>(0, 0, 0.01, 0.05, 2, 30), {
				minLength: 1,
				maxLength: 4,
			}),
			/** How many sendings of the first copy never arrive. */
			lost: fc.constantFrom<number>(0, 0, 1, 3),
		}),
		{ minLength: 1, maxLength: 4 },
	),
	looks: fc.array(
		word('ok', 'ok', 'ok', 'busy', 'wait', '401', 'page', 'reset', 'silent', 'slow'),
		{ maxLength: 12 },
	),
	/** How n8n stores one execution after the other. */
	stores: fc.array(word('works', 'fails', 'slowly'), { maxLength: 6 }),
	forged: fc.array(
		fc.record({
			at: fc.constantFrom<number>(0, 0.5, 1, 5, 59, 70),
			task: fc.nat(3),
			status: word('done', 'error', 'doing'),
			signed: fc.boolean(),
		}),
		{ maxLength: 3 },
	),
	/** Seconds at which the process of n8n is killed, and another one starts. */
	deaths: fc.array(fc.constantFrom<number>(0.02, 1.03, 5.05, 5.1, 61), { maxLength: 2 }),
});
export type CallHistory = Drawn<typeof callHistories>;

interface Run {
	taskId: string;
	item: IDataObject;
	atMs: number;
	/** Whether n8n saved the static data behind it; it did not where it was killed before. */
	saved: boolean;
}

/** Plays a history to its end. @returns the rules that it broke, in words, and how many runs there were */
export async function playCalls(
	history: CallHistory,
	processes: readonly Process[],
): Promise<{ broken: string[]; runs: number }> {
	const machine = new Machine(history.seed);
	const remove = machine.install();
	try {
		const world = new World(history, machine, processes);
		world.begin();
		await machine.run(() => world.isOver);
		return { broken: world.broken(), runs: world.runs.length };
	} finally {
		machine.endTimers();
		remove();
	}
}

let plays = 0;

class World {
	readonly runs: Run[] = [];
	/** Senders, lost calls and forgers that are not done yet. */
	private open = 0;
	private deaths = 0;
	private life = newLife();
	private staticData = '{}';
	private looks = 0;
	private stored = 0;
	private readonly elsewhere: string[] = [];
	private readonly answers: Array<{ forged: boolean; signed: boolean; status: number }> = [];
	private readonly baseUrl = `https://api.t${(plays += 1)}.example`;

	constructor(
		private readonly history: CallHistory,
		private readonly machine: Machine,
		private readonly processes: readonly Process[],
	) {}

	get isOver(): boolean {
		return this.open === 0;
	}

	begin(): void {
		const { machine, history } = this;
		for (const [index, { seconds, end, copies, lost }] of history.tasks.entries())
			for (const [copy, late] of end === 'never' ? [] : copies.entries())
				this.after(seconds + late, async () => {
					await this.insist(index, copy === 0 ? lost : 0);
				});
		for (const { at, task, status, signed } of history.forged)
			this.after(at, async () => {
				const index = task % history.tasks.length;
				const url = new URL(this.urlOf(index));
				if (!signed) url.searchParams.set('signature', 'f'.repeat(64));
				const answered = await this.post(url.href, { id: idOf(index), status });
				this.answers.push({ forged: true, signed, status: answered });
			});
		for (const at of history.deaths) machine.later(at * 1000, () => this.die());
	}

	private after(seconds: number, act: () => Promise<void>): void {
		this.open += 1;
		this.machine.later(seconds * 1000, () => void act().finally(() => (this.open -= 1)));
	}

	private urlOf(index: number): string {
		const { baseUrl } = this;
		return prepareReceiveUrl(
			HOOK,
			{ apiKey: KEY, baseUrl, callbackSecret: SECRET },
			{ reference: `scene ${index}`, here: new URL(HOOK).origin, now: this.machine.wall() },
		);
	}

	/** Calls until it is answered other than with 5xx. */
	private async insist(index: number, lost: number): Promise<void> {
		const url = this.urlOf(index);
		for (let sending = 0; sending < MOST_TRIES; sending += 1) {
			const status = sending < lost ? 0 : await this.post(url, this.described(index, 0));
			if (status >= 200 && status < 500) {
				this.answers.push({ forged: false, signed: true, status });
				return;
			}
			await this.machine.pause(AGAIN_MS);
		}
	}

	/** What the service says of a task; its own reads can lag. */
	private described(index: number, lagS: number): IDataObject {
		const { seconds = 0, end = 'never' } = this.history.tasks[index] ?? {};
		const isOver = end !== 'never' && this.machine.elapsed >= (seconds + lagS) * 1000;
		const status = isOver ? end : 'doing';
		const metadata = status === 'done' ? { audio_url: 'https://files.example/a.mp3' } : {};
		return { id: idOf(index), type: 'speech', status, metadata };
	}

	private die(): void {
		if (this.deaths + 1 >= this.processes.length) return;
		this.deaths += 1;
		this.machine.endTimers();
		this.life.abort();
		this.life = newLife();
	}

	/** The status of n8n's answer; 0 where there is none. */
	private async post(url: string, body: IDataObject): Promise<number> {
		const { signal } = this.life;
		const call = this.call(url, body, signal);
		return await Promise.race([call, untilAborted(signal).catch(() => 0)]);
	}

	/** One call of a published webhook, as n8n handles it. */
	private async call(url: string, body: IDataObject, life: AbortSignal): Promise<number> {
		const { machine } = this;
		const response = new WebhookResponse();
		let isChanged = false;
		const staticData = new Proxy(JSON.parse(this.staticData) as IDataObject, {
			set(...written) {
				isChanged = true;
				return Reflect.set(...written);
			},
		});
		const process = this.processes[this.deaths];
		if (process === undefined) throw new Error('more deaths than processes');
		const result = await process.receive(
			this.context({ url: new URL(url), body, response, staticData, life }),
			SETTINGS,
		);
		const [item] = result.workflowData?.[0] ?? [];
		// What the webhook has written up to here counts as unchanged in n8n 2.41.
		isChanged = false;
		if (life.aborted) return 0;
		if (item === undefined) return response.statusCode;
		const how = this.history.stores[this.stored] ?? 'works';
		this.stored += 1;
		await machine.pause(how === 'slowly' ? 4_000 : STORING_MS);
		if (life.aborted) return 0;
		if (how === 'fails') {
			response.status(500).json({ message: 'the database is locked' });
			return response.statusCode;
		}
		const taskId = item.json.task_id as string;
		const run = { taskId, item: item.json, atMs: machine.elapsed, saved: false };
		this.runs.push(run);
		await machine.pause(ANSWERING_MS);
		if (life.aborted) return 0;
		run.saved = isChanged;
		if (isChanged) this.staticData = JSON.stringify(staticData);
		response.json({ received: true });
		return response.statusCode;
	}

	private context({
		url,
		body,
		response,
		staticData,
		life,
	}: {
		url: URL;
		body: IDataObject;
		response: WebhookResponse;
		staticData: IDataObject;
		life: AbortSignal;
	}): IWebhookFunctions {
		const { baseUrl } = this;
		const context = {
			getCredentials: async () =>
				await Promise.resolve({ apiKey: KEY, baseUrl, callbackSecret: SECRET }),
			getRequestObject: () => ({
				originalUrl: url.pathname + url.search,
				headers: { host: url.host },
				body,
			}),
			getResponseObject: () => response,
			getBodyData: () => body,
			getQueryData: () => Object.fromEntries(url.searchParams),
			getNodeWebhookUrl: () => HOOK,
			getMode: () => 'webhook',
			getWorkflow: () => ({ id: baseUrl }),
			getNode: () => ({ id: 'trigger', name: 'Trigger' }),
			getWorkflowStaticData: () => staticData,
			logger: { debug() {}, info() {}, warn() {}, error() {} },
			helpers: {
				httpRequestWithAuthentication: async (_: string, options: IHttpRequestOptions) => {
					if (!options.url.startsWith(`${baseUrl}/`)) this.elsewhere.push(options.url);
					// What a killed process waited for lets go of what it holds: its modules are those of later histories.
					return await Promise.race([this.look(options), untilAborted(life)]);
				},
				httpRequest: async ({ url: asked }: IHttpRequestOptions) => {
					this.elsewhere.push(asked);
					return await Promise.reject(new Error('nothing is asked here'));
				},
			},
		};
		return context as unknown as IWebhookFunctions;
	}

	private async look(options: IHttpRequestOptions): Promise<unknown> {
		const kind = this.history.looks[this.looks] ?? 'ok';
		this.looks += 1;
		const answer = (statusCode: number, body: unknown, headers = {}) => ({
			statusCode,
			headers,
			body: typeof body === 'string' ? body : JSON.stringify(body),
		});
		await this.machine.pause(kind === 'slow' ? 3_000 : 20);
		if (kind === 'busy') return answer(503, { success: false, code: 'server_busy' });
		if (kind === 'wait') return answer(503, { code: 'server_busy' }, { 'retry-after': '25' });
		if (kind === '401') return answer(401, { error: 'expired' });
		if (kind === 'page') return answer(502, '<html>bad gateway</html>');
		if (kind === 'reset') throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
		if (kind === 'silent') return await untilAborted(options.abortSignal as AbortSignal);
		const [, route, , id = ''] = new URL(options.url).pathname.split('/');
		const index = this.history.tasks.findIndex((_, each) => idOf(each) === id);
		if (index < 0 || route !== 'v1') return answer(404, { error: 'no such task' });
		return answer(200, this.described(index, this.history.tasks[index]?.lag ?? 0));
	}

	/** What is wrong after the history. */
	broken(): string[] {
		const { history, runs } = this;
		const perTask = history.tasks.flatMap(({ end }, index) => {
			const mine = runs.filter(({ taskId }) => taskId === idOf(index));
			if (end === 'never') return mine.map(() => `FORGED: task ${index} never ended, and ran`);
			// A crash before the end of the execution lets a later copy through (docs/trigger.md, "Once").
			const unsaved = mine.filter(({ saved }) => !saved).length;
			return [
				...(mine.length === 0 ? [`LOST: task ${index} ended, and started no run`] : []),
				...(mine.length > 1 + unsaved ? [`TWICE: task ${index} started ${mine.length} runs`] : []),
			];
		});
		const untrue = runs.flatMap(({ taskId, item, atMs }) => {
			const index = history.tasks.findIndex((_, each) => idOf(each) === taskId);
			const { seconds = Infinity, end } = history.tasks[index] ?? {};
			const said = item.task as IDataObject | undefined;
			const isTrue =
				said?.status === end &&
				atMs >= seconds * 1000 &&
				item.verified === true &&
				item.reference === `scene ${index}`;
			return isTrue ? [] : [`UNTRUE: ${JSON.stringify(item)}`];
		});
		const unsigned = this.answers.filter(({ forged, signed }) => forged && !signed);
		return [
			...perTask,
			...untrue,
			...unsigned.flatMap(({ status }) =>
				status === 401 || status === 0 ? [] : [`FORGED: a wrong signature was answered ${status}`],
			),
			...this.elsewhere.map((url) => `KEY: something was asked of ${url}`),
		];
	}
}

const idOf = (index: number) => String(72_000_000 + index);

/** Aborts with the process of n8n. */
function newLife(): AbortController {
	const life = new AbortController();
	setMaxListeners(0, life.signal);
	return life;
}
