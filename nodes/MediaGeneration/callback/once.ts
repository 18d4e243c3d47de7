/**
 * One event runs the workflow once. A trigger remembers what it let through, in this process and, for restarts and other
 * processes, in the node's static data, which n8n saves after each production call (last write wins).
 *
 * The process also knows which call holds an event and is not answered yet. A copy that comes meanwhile must not be
 * told that all is well: should n8n fail to store the execution, nobody would send the callback again, and a paid
 * task would be lost. A sender that has given up sees no answer at all, so what counts is the answer that n8n would have given.
 */
import { createHash } from 'crypto';
import type { IDataObject } from 'n8n-workflow';
import { BoundedMap } from '../service/boundedMap';

/** What tells duplicates apart for one trigger. */
export interface Memory {
	/** The workflow and node. */
	trigger: string;
	staticData: IDataObject;
}

/** The part of a response that is needed of the call that holds an event. */
export interface HoldingResponse {
	readonly statusCode: number;
	readonly writableEnded: boolean;
	once(event: 'close', listener: () => void): unknown;
}

interface Holder {
	response: HoldingResponse;
	giveBack: () => void;
	/** Resolves when the connection is closed, answered or not. */
	closed: Promise<void>;
}

/** `new`: nobody has it. `busy`: the call that has it is not answered yet, even after some patience. */
export type EventState = 'new' | 'duplicate' | 'busy';

/** n8n reads and writes the whole memory with each call, so what is saved of an event is short: 66 bits of a hash. */
const KEY_LENGTH = 11;
const SAVED = 1_000;
const SAVED_IN = 'seen';
const IN_PROCESS = 5_000;
const TRIGGERS = 200;

/** Per trigger, the events that this process let through; each with its holder until that one is answered. */
const triggers = new BoundedMap<string, BoundedMap<string, Holder | 'answered'>>(TRIGGERS);

function eventsOf({ trigger }: Memory): BoundedMap<string, Holder | 'answered'> {
	return triggers.ensure(trigger, () => new BoundedMap(IN_PROCESS));
}

function keyOf(event: string): string {
	return createHash('sha256').update(event).digest('base64url').slice(0, KEY_LENGTH);
}

function savedIn({ staticData }: Memory): string[] {
	return Array.isArray(staticData[SAVED_IN]) ? (staticData[SAVED_IN] as string[]) : [];
}

/** Whether a holder is done; then its event is settled: let through, or given back where n8n answered with a failure. */
function settle(memory: Memory, key: string, holder: Holder): boolean {
	const events = eventsOf(memory);
	// It was given back, and another call may have it by now.
	if (events.get(key) !== holder) return true;
	if (!holder.response.writableEnded) return false;
	events.set(key, 'answered');
	if (holder.response.statusCode >= 400) holder.giveBack();
	return true;
}

/** Takes an event for the call of this response; false where another call was first. Synchronous, so that only one of two gets it. */
function take(memory: Memory, key: string, response: HoldingResponse): boolean {
	const events = eventsOf(memory);
	if (events.has(key) || savedIn(memory).includes(key)) return false;
	const { staticData } = memory;
	const closed = new Promise<void>((resolve) => response.once('close', () => resolve()));
	const giveBack = () => {
		events.delete(key);
		staticData[SAVED_IN] = savedIn(memory).filter((entry) => entry !== key);
	};
	const holder: Holder = { response, giveBack, closed };
	events.set(key, holder);
	staticData[SAVED_IN] = [...savedIn(memory), key].slice(-SAVED);
	void closed.then(() => settle(memory, key, holder));
	return true;
}

/**
 * What became of an event so far; waits for the answer to the call that has it for a while.
 *
 * @param patience resolves when there is no more time to wait
 */
export async function stateOf(
	memory: Memory,
	event: string,
	patience: () => Promise<void>,
): Promise<EventState> {
	const key = keyOf(event);
	const events = eventsOf(memory);
	const holder = events.get(key);
	if (holder !== undefined && holder !== 'answered' && !settle(memory, key, holder)) {
		await Promise.race([holder.closed, patience()]);
		if (events.get(key) === holder && !settle(memory, key, holder)) return 'busy';
	}
	return events.has(key) || savedIn(memory).includes(key) ? 'duplicate' : 'new';
}

/**
 * Claims an event for the call of this response. Where n8n answers that call with a failure, the event is given back: the
 * sender's next try counts.
 *
 * @param patience resolves when there is no more time to wait for another call that has the event
 */
export async function claim(
	memory: Memory,
	event: string,
	response: HoldingResponse,
	patience: () => Promise<void>,
): Promise<'mine' | 'duplicate' | 'busy'> {
	const key = keyOf(event);
	while (!take(memory, key, response)) {
		const state = await stateOf(memory, event, patience);
		if (state !== 'new') return state;
	}
	return 'mine';
}
