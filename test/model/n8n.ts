/**
 * n8n around the node, as far as the three rules depend on it: executions with Retry On Fail, Retry of failed ones, sleeping, waking and
 * stopping; what is saved and what a dying process takes along. The node's own code runs in it as it is.
 */
import type {
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	INode,
	INodeExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';
import { WEBHOOK_PATH } from '../../nodes/MediaGeneration/suspend/resumeUrl';
import type { BinaryStore } from '../support/binaryStore';
import { fakeN8n, ofCall, Traces, type Answered, type Given } from '../support/n8n';
import { WebhookResponse } from '../support/webhookResponse';
import { fieldsBehind } from './fields';
import type { FileHost } from './files';
import type { History } from './history';
import type { Machine } from '../support/machine';
import type { Process } from './processes';
import type { Service } from './service';
import { Trouble } from './trouble';

export type Status = 'running' | 'waiting' | 'success' | 'error' | 'canceled' | 'crashed';

export class Execution extends Traces {
	status: Status = 'running';
	/** The executions before it that it is a Retry of. */
	earlier: Execution[] = [];
	/** How often somebody has changed the texts before a Retry. */
	version = 0;
	/** Ms at which it began. */
	beganMs = 0;
	tries = 0;
	/** Ms at which the last one began. */
	tryBeganMs = 0;
	/** As it began. */
	readonly input: INodeExecutionData[];
	readonly keptBefore: unknown;
	/** When the first of those that it repeats began, in epoch ms by the wall clock. */
	readonly establishedAt: number;
	/** What n8n keeps of it while it sleeps. */
	saved: string | undefined;
	stop = new AbortController();
	output: INodeExecutionData[] | undefined;
	error: unknown;
	/** Then a stop does not reach the node, and what it has logged has to do. */
	betweenTries = false;
	/** Set where a call woke it, rather than the deadline. */
	woken = false;
	/** Whether it is the one of a "Task: Wait" behind the node. */
	isBehind = false;
	/** Ms at which it was over. */
	endedMs: number | undefined;
	/** Of a call by an AI agent: which one it is. */
	call: AgentCall | undefined;
	/** How many nodes n8n starts in it up to this one: the first one is a trigger, or that at which a Retry begins. */
	nodesStarted = 2;
	/** Whether the trigger has run in it, and not only in the one that it repeats. */
	beginsAnew = false;

	constructor(
		public id: string,
		readonly process: Alive,
		{ input, began, ...given }: Partial<Execution> & { input: INodeExecutionData[]; began: number },
	) {
		super({ ...given, input });
		Object.assign(this, given);
		this.input = input;
		this.keptBefore = copy(this.kept);
		this.establishedAt = this.earlier[0]?.establishedAt ?? began;
	}
}

/** A call of the node as the tool of an AI agent. */
export interface AgentCall {
	index: number;
	/** Where the engine runs the tool for the agent: the model's ID of the call. */
	id: string | undefined;
}

/** One process, until it dies. */
interface Alive {
	modules: Process;
	dead: boolean;
	/** What happens to connections when it dies. */
	deaths: Set<() => void>;
}

/** What is around one n8n. */
export interface Surroundings {
	baseUrl: string;
	ownUrl: string;
	service: () => Pick<Service, 'handle'>;
	files: Pick<FileHost, 'get'>;
	store: BinaryStore;
	note: (line: string) => void;
	/** The parameters of the node for one item. @param salt differs where the texts of the item do */
	fields: (index: number, salt: string) => object;
	/** The input, where it is more than one item for each of the history. */
	input?: INodeExecutionData[];
	/** What the credential has instead; an error: it can't be read. */
	credential?: IDataObject | Error;
	credentialId?: string;
	asTool?: boolean;
	isManual?: boolean;
	/** Of an execution before. */
	lastId?: number;
	/** Whether n8n gives no signal of a stop. */
	withoutSignal?: boolean;
	/** What the node keeps in its context at first. */
	kept?: Record<string, unknown>;
	/** The same of the execution. */
	flow?: IDataObject;
	/** How often a loop has come by before. */
	runIndex?: number;
}

export const KEY = 'sk_the-key-of-this-history';
export const SECRET = 'the-callback-secret-of-it';
/** n8n's own, of every resume URL. */
export const TOKEN = '0123456789abcdef0123456789abcdef';
/** What the items bring along from a node before this one, as those of a Generate do. */
const EARLIER_TASK = { id: 'earlier', task_id: 'earlier', status: 'done', outputs: [] };
/** Until a sleeping execution lies in the database, in ms. */
const SAVING_MS = 40;
const BETWEEN_TRIES_MS = 1_000;
const UNTIL_RETRY_MS = 5_000;

const refusal = (id: string, words: string) => ({
	statusCode: 409,
	body: { code: 409, message: `The execution "${id}" ${words} already.` },
});
export class N8n {
	readonly executions: Execution[] = [];
	/** Requests as they left n8n. */
	readonly outgoing: Array<Record<'url' | 'text', string>> = [];
	/** What was answered to calls from outside. */
	readonly answers: string[] = [];
	private alive: Alive;
	private deaths = 0;
	private readonly responses = new Set<WebhookResponse>();
	private readonly unanswered: Array<(error: Error) => void> = [];
	private retries = 0;
	private toolRuns = 0;
	private readonly node: Partial<INode>;
	private readonly trouble: Trouble;

	constructor(
		private readonly machine: Machine,
		private readonly history: History,
		private readonly world: Surroundings,
		private readonly processes: readonly Process[],
	) {
		this.alive = this.newProcess();
		this.trouble = new Trouble(history, world.note);
		const { onError, tries } = history.node;
		const credentials = { mediaGenerationApi: { id: world.credentialId ?? 'one', name: 'Media' } };
		this.node = { onError, retryOnFail: tries > 1, maxTries: tries, credentials };
	}

	/** The node before this one. */
	private get between() {
		const type = `n8n-nodes-base.${this.history.node.before === 'sleeps' ? 'wait' : 'set'}`;
		return { type, parameters: {} };
	}

	private newProcess(): Alive {
		const modules = this.processes[this.deaths];
		if (modules === undefined) throw new Error('more deaths than processes');
		return { modules, dead: false, deaths: new Set() };
	}

	/** Whether nothing goes on any more, nor will. */
	get isOver(): boolean {
		return (
			this.executions.every(({ status }) => status !== 'running' && status !== 'waiting') &&
			!this.retryPending
		);
	}
	private retryPending = false;

	get current(): Execution | undefined {
		return this.executions.at(-1);
	}

	start(earlier: Execution[] = [], version = 0): void {
		const last = earlier.at(-1);
		const ofHistory = () =>
			this.history.items.map((_, index): INodeExecutionData => ({
				json: { item: index, ...EARLIER_TASK },
				pairedItem: { item: 0 },
			}));
		// All that n8n has of a killed or stopped one is from before the node began.
		const isCut = last?.status === 'crashed' || last?.status === 'canceled';
		const left = isCut ? last.keptBefore : last?.kept;
		const kept = copy(left ?? this.world.kept ?? {}) as Record<string, unknown>;
		const items = this.world.input ?? ofHistory();
		const failsBefore = this.history.node.before === 'fails';
		// Without saved progress, such a one is repeated from where it began itself: the trigger, or where a Retry began.
		const isUnsaved = isCut && !this.history.node.savesProgress;
		// What has slept was saved as it woke: its Retry begins with the node that slept.
		const isBehindSleep = this.history.node.before === 'sleeps';
		const beginsAnew =
			isUnsaved && !isBehindSleep && (last.earlier.length === 0 || last.beginsAnew);
		// Else a Retry begins with the node that failed, whichever that was.
		const hasFailed = failsBefore && (earlier.length === 1 || isUnsaved);
		const isFirst = last === undefined || hasFailed || beginsAnew || (isUnsaved && isBehindSleep);
		const nodesStarted = isFirst ? 2 : 1;
		const execution = this.newExecution(items, {
			...{ earlier, version, kept, nodesStarted, beginsAnew, flow: this.world.flow ?? {} },
		});
		if (!failsBefore || last !== undefined) return void this.run(execution);
		execution.error = new Error('a node before this one has failed');
		this.end(execution, 'error');
	}

	/** An AI agent calls the node as its tool. @param agent what all calls of its execution have in common */
	async callAsTool(call: AgentCall, agent: Partial<Execution>): Promise<Execution> {
		const { index, id } = call;
		const json = { call: index, ...(id !== undefined && { toolCallId: id }) };
		const execution = this.newExecution([{ json }], { ...agent, call });
		execution.entry.source = { main: [{ previousNode: 'Agent', previousNodeRun: 0 }] };
		await this.run(execution);
		return execution;
	}

	private newExecution(input: INodeExecutionData[], given: Partial<Execution>): Execution {
		const began = this.machine.wall();
		const id = String((this.world.lastId ?? 0) + this.executions.length + 1);
		const execution = new Execution(id, this.alive, {
			...{ ...given, input, began, beganMs: this.machine.elapsed },
		});
		this.executions.push(execution);
		return execution;
	}

	/** n8n's loop over the tries of a node. */
	private async run(execution: Execution): Promise<void> {
		const { process, call } = execution;
		const { tries } = this.history.node;
		const isOfEngine = call === undefined || call.id !== undefined;
		// A tool that the agent runs itself has one for each try.
		const ofCall = isOfEngine && call !== undefined ? this.toolRuns++ : undefined;
		for (execution.tries = 1; ; execution.tries += 1) {
			execution.betweenTries = false;
			execution.output = undefined;
			execution.error = undefined;
			execution.tryBeganMs = this.machine.elapsed;
			const runIndex =
				call === undefined ? (this.world.runIndex ?? 0) : (ofCall ?? this.toolRuns++);
			const context = this.executeContext(execution, runIndex);
			try {
				execution.output = await process.modules.runOperation(context, context.continueOnFail());
			} catch (error) {
				execution.error = error;
			}
			if (process.dead || execution.stop.signal.aborted) break;
			const failed =
				execution.error !== undefined || (isOfEngine && isFailing(execution.output?.[0]));
			if (!failed || execution.tries >= tries) break;
			this.world.note(`try ${execution.tries} of execution ${execution.id} failed`);
			execution.betweenTries = true;
			await this.machine.pause(BETWEEN_TRIES_MS);
			if (process.dead || execution.stop.signal.aborted) break;
		}
		if (process.dead) return;
		if (execution.stop.signal.aborted) return this.end(execution, 'canceled');
		if (execution.error !== undefined) return this.end(execution, 'error');
		if (execution.waits.length === 0) return this.end(execution, 'success');
		await this.machine.pause(SAVING_MS);
		if (!process.dead) this.sleep(execution);
	}

	private sleep(execution: Execution): void {
		const { kept, entry, waits } = execution;
		execution.saved = JSON.stringify({ kept, items: entry.data.main[0] });
		if (execution.stop.signal.aborted) return this.end(execution, 'canceled');
		execution.status = 'waiting';
		this.world.note(`execution ${execution.id} sleeps`);
		const left = Number(waits.at(-1)) - this.machine.wall();
		this.machine.later(left, () => {
			if (execution.status !== 'waiting') return;
			execution.output = this.savedOf(execution).items;
			this.world.note(`execution ${execution.id} reaches its deadline`);
			this.end(execution, 'success');
		});
	}

	private savedOf({ saved }: Execution) {
		return JSON.parse(saved ?? '{}') as { kept: IDataObject; items: INodeExecutionData[] };
	}

	private end(execution: Execution, status: Status): void {
		execution.status = status;
		execution.endedMs = this.machine.elapsed;
		const words = execution.error instanceof Error ? `: ${execution.error.message}` : '';
		this.world.note(`execution ${execution.id} ends: ${status}${words}`);
		const isFirst = execution.earlier.length === 0 && execution.call === undefined;
		const isBefore = this.history.node.before === 'fails' && isFirst;
		const retry = isBefore ? { changed: false } : this.history.retries[this.retries];
		// The editor offers it for the first two, n8n's API for a stopped one as well.
		const isRetried =
			['error', 'crashed', 'canceled'].includes(status) && execution.saved === undefined;
		if (!isRetried || retry === undefined) return;
		if (!isBefore) this.retries += 1;
		this.retryPending = true;
		this.machine.later(UNTIL_RETRY_MS, () => {
			this.retryPending = false;
			this.world.note(`somebody presses Retry${retry.changed ? ', with other texts' : ''}`);
			this.start([...execution.earlier, execution], execution.version + Number(retry.changed));
		});
	}

	/** Runs "Task: Wait" on what the last execution has handed on. @returns whether there is anything */
	startBehind(): boolean {
		const { status, output = [], input = [] } = this.current ?? {};
		if (status !== 'success') return false;
		const items = output.map((each, item) => ({
			...(copy({ json: this.leaving(each, input), binary: each.binary }) as INodeExecutionData),
			pairedItem: { item },
		}));
		this.world.note('its items go on to "Task: Wait"');
		void this.run(this.newExecution(items, { isBehind: true }));
		return true;
	}

	/** n8n adds the fields of the input to an item that leaves by the error output (n8n-core 2.41, `handleNodeErrorOutput`). */
	private leaving({ json, error, pairedItem }: INodeExecutionData, input: INodeExecutionData[]) {
		const names = Object.keys(json).every((name) => ['error', 'message', 'details'].includes(name));
		const isFailed = error !== undefined || (names && isSet(json.error));
		const isApart = this.node.onError === 'continueErrorOutput' && isFailed;
		const index = typeof pairedItem === 'object' && 'item' in pairedItem ? pairedItem.item : 0;
		return isApart ? { ...input[index]?.json, ...json } : json;
	}

	/** Stops what runs or sleeps, as the button does. */
	stop(): void {
		const { current } = this;
		if (current?.status === 'waiting') this.end(current, 'canceled');
		if (current?.status === 'running') current.stop.abort();
	}

	/** The process is killed, and another one takes its place. Not more often than there are processes. */
	die(): void {
		if (this.deaths + 1 >= this.processes.length) return;
		this.world.note('the process of n8n is killed');
		this.alive.dead = true;
		this.machine.endTimers();
		for (const death of this.alive.deaths) death();
		this.closeConnections();
		for (const execution of this.executions)
			if (execution.status === 'running') this.end(execution, 'crashed');
		this.deaths += 1;
		this.alive = this.newProcess();
	}

	/** What a dead process asks for: it never hears of it, while the history lasts. */
	private async unheard(): Promise<never> {
		return await new Promise<never>((_, reject) => this.unanswered.push(reject));
	}

	/** The history is over: nothing of it stays with the modules, which the next one uses. */
	close(): void {
		for (const reject of this.unanswered.splice(0)) reject(new Error('the history is over'));
		for (const death of this.alive.deaths) death();
		this.closeConnections();
	}

	/** Nobody gets an answer any more. */
	private closeConnections(): void {
		for (const response of this.responses) response.destroy();
		this.responses.clear();
	}

	/** What differs in the texts of an item: between tries where it changes by itself, and where somebody has changed the workflow. */
	saltOf({ version }: Execution, index: number, tries: number): string {
		return `(${version}.${this.history.items[index]?.changes === true ? tries : 0})`;
	}

	/** What goes on between a call and its answer, unless the process dies. */
	private async inProcess<T>(process: Alive, work: Promise<T>): Promise<T> {
		if (process.dead) return await this.unheard();
		let died = (): void => undefined;
		const death = new Promise<never>((_, reject) => {
			died = () => reject(new Error('the process died'));
		});
		death.catch(() => undefined);
		process.deaths.add(died);
		try {
			return await Promise.race([work, death]);
		} finally {
			process.deaths.delete(died);
		}
	}

	private async route(
		options: IHttpRequestOptions,
		executionId: string,
		isAlive: () => boolean,
	): Promise<Answered> {
		const { url, headers = {}, method = 'GET', qs } = options;
		const body = options.body as IDataObject | undefined;
		const { baseUrl, ownUrl, files, service } = this.world;
		if (url.startsWith(`${ownUrl}/`)) {
			await this.machine.pause(5);
			const { statusCode, body: answered } = await this.post(url, body ?? {});
			return { statusCode, headers: {}, body: answered };
		}
		const isFile = !url.startsWith(`${baseUrl}/`) || url.startsWith(`${baseUrl}/files/`);
		if (isFile) return await files.get(url);
		const request = { method, url, headers: headers as Record<string, unknown>, body, qs };
		const answer = await service().handle(request, { executionId, isAlive });
		const { location } = answer.headers;
		// A redirect that is followed carries the key along.
		if (typeof location === 'string' && options.disableFollowRedirect !== true)
			this.outgoing.push({ url: location, text: JSON.stringify(options) });
		return answer;
	}

	/** A call from outside, of a resume URL. */
	async post(url: string, body: IDataObject): Promise<{ statusCode: number; body: unknown }> {
		const answered = await this.answerTo(new URL(url), body).catch(() => ({
			statusCode: 502,
			body: 'no answer',
		}));
		this.answers.push(JSON.stringify(answered));
		return answered;
	}

	private async answerTo(url: URL, body: IDataObject) {
		const [, , id, suffix] = url.pathname.split('/');
		const execution = this.executions.find((each) => each.id === id);
		if (execution === undefined || suffix !== WEBHOOK_PATH)
			return { statusCode: 404, body: { code: 404, message: `"${id}" does not exist` } };
		if (url.searchParams.get('signature') !== TOKEN) return { statusCode: 401, body: {} };
		if (execution.status === 'running') return refusal(execution.id, 'is running');
		if (execution.status !== 'waiting') return refusal(execution.id, 'has finished');
		return await this.inProcess(this.alive, this.wake(execution, url, body));
	}

	private async wake(execution: Execution, url: URL, body: IDataObject) {
		const process = this.alive;
		const { response, context } = this.webhookContext(execution, url, body);
		const answered = new Promise<void>((resolve) => response.once('close', resolve));
		const result = process.modules.wake(context).then(({ workflowData, webhookResponse }) => {
			const [items] = workflowData ?? [];
			if (process.dead) return;
			if (items == null) return;
			if (execution.status !== 'waiting') {
				if (!response.headersSent) response.status(500).json({ message: 'already being resumed' });
				return;
			}
			execution.output = copy(items) as INodeExecutionData[];
			execution.woken = true;
			if (webhookResponse !== undefined) response.json(webhookResponse);
			this.end(execution, 'success');
		});
		await Promise.race([answered, result]);
		return { statusCode: response.statusCode, body: response.sent };
	}

	resumeUrl({ id }: Execution, suffix = `/${WEBHOOK_PATH}`): string {
		return `${this.world.ownUrl}/webhook-waiting/${id}${suffix}?signature=${TOKEN}`;
	}

	/** A context of an execution, in a process that can die and an n8n that can be out of order. */
	private contextFor<T>(execution: Execution, process: Alive, given: Given): T {
		const { baseUrl, store, credential } = this.world;
		const { keyHeader } = this.history.node;
		const isAlive = () => !process.dead;
		const send = async (options: IHttpRequestOptions) => {
			if (process.dead) return await this.unheard();
			this.outgoing.push({ url: options.url, text: JSON.stringify(options) });
			const answer = await this.route(options, execution.id, isAlive);
			return process.dead ? await this.unheard() : answer;
		};
		const { context } = fakeN8n<T>({
			node: this.node,
			// Of its own for each history, as the modules keep some things by workflow for a moment.
			workflow: baseUrl,
			executionId: execution.id,
			resumeUrl: this.resumeUrl(execution, ''),
			credential:
				credential instanceof Error
					? credential
					: { apiKey: KEY, baseUrl, callbackSecret: SECRET, keyHeader, ...credential },
			service: send,
			http: send,
			store,
			log: (line) => {
				if (process.dead) return;
				execution.logs.push(line);
				this.trouble.use('logger');
			},
			...given,
		});
		return this.trouble.around(context);
	}

	private executeContext(execution: Execution, runIndex: number): IExecuteFunctions {
		const { isManual, withoutSignal, asTool } = this.world;
		const { process, earlier, call, entry } = execution;
		return this.contextFor(execution, process, {
			mode: earlier.length > 0 ? 'retry' : isManual === true ? 'manual' : 'trigger',
			runIndex,
			traces: execution,
			signal: withoutSignal === true ? undefined : execution.stop.signal,
			parameters: (index) => {
				const item = call?.index ?? index;
				if (execution.isBehind)
					return fieldsBehind(this.history, entry.data.main[0]?.[index]?.json ?? {});
				return this.world.fields(item, this.saltOf(execution, item, execution.tries));
			},
			own: {
				isToolExecution: () => asTool === true,
				getExecutionContext: () => ({ establishedAt: execution.establishedAt }),
				additionalData: {
					currentNodeExecutionIndex: execution.nodesStarted,
					hooks: { retryOf: earlier.at(-1)?.id },
				},
				workflow: { nodes: { Between: this.between } },
				runExecutionData: {
					resultData: {
						runData: {
							Trigger: [{ startTime: execution.beginsAnew ? 2 : 0, source: [], executionIndex: 0 }],
							Between: [{ startTime: 1, source: [{}], executionIndex: 0 }],
						},
					},
				},
			},
		});
	}

	/** n8n has no more of a sleeping execution than it has saved. */
	private webhookContext(execution: Execution, url: URL, body: IDataObject) {
		const response = new WebhookResponse();
		this.responses.add(response);
		response.once('close', () => this.responses.delete(response));
		const { kept, items: input } = this.savedOf(execution);
		const context = this.contextFor<IWebhookFunctions>(execution, this.alive, {
			traces: new Traces({ input, kept, found: execution.found }),
			own: ofCall({ body, response, url: url.pathname + url.search }),
		});
		return { response, context };
	}
}

/** What n8n takes for a failure, under Retry On Fail. */
function isFailing(item: INodeExecutionData | undefined): boolean {
	return isSet(item?.json.error);
}

const isSet = (error: unknown) => error !== undefined && error !== null && error !== false;

function copy(value: unknown): unknown {
	return JSON.parse(JSON.stringify(value)) as unknown;
}
