/** Each event, the end of a task for a trigger, starts one execution. A copy gets a 200 only once n8n has stored that execution. */
import { createHash } from 'crypto';
import type { IWebhookFunctions } from 'n8n-workflow';
import { BoundedMap, getOrCreate } from '../base/boundedMap';
import { SavedTexts } from '../n8n/staticData';
import { CallRefusal } from '../n8n/webhookCall';

type CallResponse = ReturnType<IWebhookFunctions['getResponseObject']>;

/** The response to the call that is being handled, or `stored` once n8n has stored its execution. */
type EventState = CallResponse | 'stored';

export interface End {
	taskId: string;
	status: string;
	withFiles?: boolean;
	/** null stands for one that nothing verifies. */
	reference: string | null | undefined;
}

/** Names an event: `done` without files must not replace `done` with files, nor an unverified reference a verified one. */
export function eventOf({ taskId, status, withFiles = true, reference = '' }: End): string {
	return JSON.stringify([taskId.toLowerCase(), status, withFiles, reference]);
}

/** What a process remembers of a workflow. */
class Memory {
	readonly states = new BoundedMap<string, EventState>(5_000);
	/** The task of each signed URL. */
	readonly tasks = new BoundedMap<string, string>(5_000);
}

const workflows = new BoundedMap<string, Memory>();

/** The events of a workflow's triggers. They share one list, because n8n saves all of a workflow's static data together. */
export class Events {
	private readonly node: string;
	private readonly memory: Memory;
	private readonly saved: SavedTexts;
	private readonly savedUrls: SavedTexts;

	constructor(
		context: Pick<IWebhookFunctions, 'getNode' | 'getWorkflow' | 'getWorkflowStaticData'>,
	) {
		this.node = context.getNode().id;
		const id = context.getWorkflow().id ?? '';
		this.memory = getOrCreate(workflows, id, () => new Memory());
		const staticData = context.getWorkflowStaticData('global');
		this.saved = new SavedTexts(staticData, 'mediaGenerationEvents');
		this.savedUrls = new SavedTexts(staticData, 'mediaGenerationUrls');
	}

	/** Gives a signed URL to the first task that is confirmed for it. Throws a CallRefusal for any other. */
	bind(nonce: string, taskId: string): void {
		const { tasks } = this.memory;
		const [url, task] = [this.keyOf(nonce), this.keyOf(taskId)];
		const saved = this.savedUrls.before.find((entry) => entry.startsWith(url));
		if ((tasks.get(url) ?? saved?.slice(url.length) ?? task) !== task)
			throw new CallRefusal(403, 'the signed callback URL belongs to another task');
		tasks.set(url, task);
		this.savedUrls.saveWith(() => [...tasks].map((entry) => entry.join('')));
	}

	/** Throws a CallRefusal for an event that was stored before, or that another call is about to store. */
	check(event: string): void {
		const key = this.keyOf(event);
		const state = this.settled(key);
		if (state === 'stored' || this.saved.before.includes(key))
			throw new CallRefusal(200, 'this task and status was received before');
		if (state !== undefined)
			throw new CallRefusal(503, 'this callback is being handled already, try again');
	}

	/** Claims an event for the call with this response. Only n8n may fail it from now on; if it does, the sender's next try counts. */
	claim(event: string, response: CallResponse): void {
		this.check(event);
		const key = this.keyOf(event);
		this.saved.saveWith(() => {
			this.memory.states.set(key, 'stored');
			return [...this.memory.states].flatMap(([each, state]) => (state === 'stored' ? [each] : []));
		});
		this.memory.states.set(key, response);
		response.once('close', () => this.settled(key));
	}

	private keyOf(event: string): string {
		const text = JSON.stringify([this.node, event]);
		// n8n reads and writes the whole list with each call, so 66 bits have to do.
		return createHash('sha256').update(text).digest('base64url').slice(0, 11);
	}

	/** A sender that hangs up settles nothing: n8n answers anyway. */
	private settled(key: string): EventState | undefined {
		const state = this.memory.states.get(key);
		if (state === undefined || state === 'stored' || !state.writableEnded) return state;
		if (state.statusCode < 400) this.memory.states.set(key, 'stored');
		else this.memory.states.delete(key);
		return this.memory.states.get(key);
	}
}
