/**
 * The whole node in memory: its own code from the fields of a workflow to the items that go out, in the n8n, with the service and in
 * the virtual time of test/model. A run takes milliseconds. What the service does is a history of the model, or an answer of the test.
 */
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	IWebhookFunctions,
} from 'n8n-workflow';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
// The node loads these when it first needs them. Here they are loaded before: else mutation takes what is met in loading for a matter
// of the first test alone.
import '../../nodes/MediaGeneration/run/execute';
import '../../nodes/MediaGeneration/methods/listSearch';
import '../../nodes/MediaGeneration/suspend/wake';
import { PLAIN_HISTORY, PLAIN_ITEM, PLAIN_NODE, PLAIN_TASK, type History } from './history';
import { START } from '../support/machine';
import type { Execution, Surroundings } from './n8n';
import { Stage, type Hosts } from './play';
import type { Request, Sent } from './service';

const node = new MediaGeneration();
/** The one process that runs it. */
export const PROCESS = {
	runOperation: async (context: IExecuteFunctions) => {
		const [items = []] = await node.execute.call(context);
		return items;
	},
	wake: async (context: IWebhookFunctions) => await node.webhook.call(context),
};

export interface Answer {
	status?: number;
	/** An object, or a text that is not JSON. */
	body?: unknown;
	headers?: IDataObject;
}

type OfN8n = 'asTool' | 'credential' | 'isManual' | 'runIndex' | 'withoutSignal';

export interface Given
	extends Partial<Omit<History, 'node' | 'items'>>, Partial<Pick<Surroundings, OfN8n>> {
	/** The same for all items, or those of each. */
	parameters: object | object[];
	/** One item unless given. */
	input?: INodeExecutionData[];
	node?: Partial<History['node']>;
	/** Goes before what the history says. @param count how many requests came before */
	answer?: (request: Request, count: number) => Answer | undefined | Promise<never>;
	/** How long after the first run of a test it starts. */
	minutesLater?: number;
	/** Runs against the same service, by the same workflow. */
	like?: Ran;
	/** A run before this one in the same execution, as in a loop, or where an agent calls a tool several times. */
	after?: Ran;
}

export interface Ran {
	execution: Execution;
	/** All of them, with Retries of failed ones. */
	executions: Execution[];
	output: INodeExecutionData[];
	/** Of each item that went out. */
	json: IDataObject[];
	/** The outcome or the status of each, and the index of the item that it belongs to. */
	ends: unknown[];
	pairs: unknown[];
	error: (Error & { description?: string | null; context?: IDataObject }) | undefined;
	hints: string[];
	logs: string[];
	/** Those to the service, without their headers. */
	requests: string[];
	/** The bodies of creations. */
	bodies: IDataObject[];
	sent: Sent[];
	/** What n8n answered to calls of its resume URLs, its own ones among them. */
	answers: string[];
	hosts: Hosts;
	/** When it was over, in ms of virtual time. */
	endedMs: number;
}

/** What comes late: the answer to what was given up. */
const AFTERWARDS_MS = 60_000;

/** One execution of a workflow with this node, to its end. */
export async function runNode({ parameters, input, answer, after, ...given }: Given): Promise<Ran> {
	const each = Array.isArray(parameters) ? (parameters as object[]) : undefined;
	const items = Array<typeof PLAIN_ITEM>(input?.length ?? each?.length ?? 1).fill(PLAIN_ITEM);
	const history = {
		...PLAIN_HISTORY,
		...given,
		items,
		node: { ...PLAIN_NODE, ...given.node },
	};
	const { asTool, credential, isManual, runIndex, withoutSignal } = given;
	const requests: Request[] = [];
	const stage = new Stage(history, [PROCESS], {
		hosts: (after ?? given.like)?.hosts,
		start: START + (given.minutesLater ?? 0) * 60_000,
		async answer(request) {
			requests.push(request);
			const answered = await answer?.(request, requests.length - 1);
			if (answered === undefined) return undefined;
			const { status = 200, body, headers = {} } = answered;
			const text = typeof body === 'string' ? body : JSON.stringify(body ?? '');
			return { statusCode: status, headers, body: text };
		},
		fields: (index) => each?.[index] ?? parameters,
		...{ input, credential, asTool, isManual, runIndex, withoutSignal },
		lastId: Number(given.like?.execution.id ?? 0),
		kept: after?.execution.kept,
		flow: after?.execution.flow,
	});
	const { machine, n8n, service, hosts } = stage;
	const { baseUrl } = hosts;
	const thrown = await stage.play(async () => {
		for (const { at, kind } of history.events)
			machine.later(at * 1000, () => kind === 'stop' && n8n.stop());
		n8n.start();
		await machine.run(() => n8n.isOver);
		await machine.run(() => false, machine.elapsed + AFTERWARDS_MS);
	});
	if (thrown.length > 0) throw new Error(thrown.join());
	const [execution] = n8n.executions.slice(-1);
	if (execution === undefined) throw new Error('Nothing was started');
	const { output = [], error, hints, logs } = execution;
	return {
		execution,
		executions: n8n.executions,
		output,
		json: output.map(({ json }) => json),
		ends: output.map(({ json: { outcome, status } }) => outcome ?? status),
		pairs: output.map(({ pairedItem }) => (pairedItem as { item?: number } | undefined)?.item),
		error: error as Ran['error'],
		hints: hints.map(({ message }) => message),
		logs,
		requests: requests.map(({ method, url }) => `${method} ${url.slice(baseUrl.length)}`),
		bodies: requests.flatMap(({ method, body }) => (method === 'POST' ? [body ?? {}] : [])),
		sent: service.sent,
		answers: n8n.answers,
		hosts,
		endedMs: execution.endedMs ?? 0,
	};
}

// What runs are told in: fields of the node, and what the service does.
export const sound = { resource: 'soundEffect', operation: 'generate', text: 'Rain' };
export const speech = {
	resource: 'speech',
	operation: 'generateByVoiceId',
	voiceId: 'v',
	text: 'Hello',
};
export const sounds = (...texts: string[]) => texts.map((text) => ({ ...sound, text }));
export const PARTS = [
	'The first part of a text, as long as that.',
	'The second part, about as long.',
];
export const long = (longText: string) => ({
	...speech,
	longText,
	text: PARTS.join('\n\n'),
	options: { maxCharacters: 60 },
});
export const wait = { resource: 'task', operation: 'wait', taskId: 't' };
export const notWaiting = { waitForCompletion: false };
export const goOn = { onError: 'continueRegularOutput' } as const;

export const taskWith = (fields: Partial<typeof PLAIN_TASK>) => ({ ...PLAIN_TASK, ...fields });
export const refused = {
	kind: 'creation/text-too-long',
	created: false,
	retryAfter: 'none',
} as const;
export const unclear = {
	kind: 'creation/500-bad-image-model',
	created: true,
	retryAfter: 'none',
} as const;
export const good = { kind: 'ok', created: true, retryAfter: 'none' } as const;
export const named = {
	kind: 'creation/400-with-an-id',
	created: true,
	retryAfter: 'none',
} as const;
/** The IDs of tasks, in the order in which they are made. */
export const idOf = (number: number) => String(71_000_000 + number);
export const ID = idOf(0);

/** Answers in this order; the last one repeats. */
export const answers =
	(...given: Answer[]): Given['answer'] =>
	(_, count) =>
		given[Math.min(count, given.length - 1)];
export const creations = (requests: string[]) =>
	requests.filter((line) => line.startsWith('POST '));
export const warnings = (logs: string[]) => logs.filter((line) => line.startsWith('warn: '));
