/** One event runs the workflow once. While n8n may still fail to store the execution that has it, no copy is told that all is well. */
import { createHash } from 'crypto';
import type { IDataObject } from 'n8n-workflow';
import { BoundedMap, ensured } from '../service/boundedMap';
import { pause } from '../service/clock';
import { Refusal } from './webhook';

export interface Memory {
	/** The workflow and node. */
	trigger: string;
	staticData: IDataObject;
	/** When the call has to be answered, in epoch ms. */
	answerBy: number;
}

interface HoldingResponse {
	readonly statusCode: number;
	readonly writableEnded: boolean;
	once(event: 'close', listener: () => void): unknown;
}

interface Holder {
	response: HoldingResponse;
	/** Of the call that has the event. */
	memory: Memory;
	/** Resolves when the connection is closed, answered or not. */
	closed: Promise<void>;
}

/** How long a copy waits for the answer to the call before it. */
const HOLDER_PATIENCE_MS = 3_000;
/** n8n reads and writes the whole memory with each call, so what is saved of an event is short: 66 bits of a hash. */
const KEY_LENGTH = 11;
const SAVED = 1_000;
const SAVED_IN = 'seen';
const IN_PROCESS = 5_000;
const TRIGGERS = 200;

/** The events that this process let through; each with its holder until that one is answered. */
const triggers = new BoundedMap<string, BoundedMap<string, Holder | 'answered'>>(TRIGGERS);

const eventsOf = ({ trigger }: Memory) =>
	ensured(triggers, trigger, () => new BoundedMap(IN_PROCESS));

const keyOf = (event: string) =>
	createHash('sha256').update(event).digest('base64url').slice(0, KEY_LENGTH);

const savedIn = ({ staticData }: Memory) =>
	Array.isArray(staticData[SAVED_IN]) ? (staticData[SAVED_IN] as string[]) : [];

const isKnown = (memory: Memory, key: string) =>
	eventsOf(memory).has(key) || savedIn(memory).includes(key);

/** Whether a holder is done; then its event is settled: let through, or given back where n8n answered with a failure. */
function settle(memory: Memory, key: string, holder: Holder): boolean {
	const events = eventsOf(memory);
	// It was given back, and another call may have it by now.
	if (events.get(key) !== holder) return true;
	if (!holder.response.writableEnded) return false;
	if (holder.response.statusCode < 400) events.set(key, 'answered');
	else {
		events.delete(key);
		holder.memory.staticData[SAVED_IN] = savedIn(holder.memory).filter((entry) => entry !== key);
	}
	return true;
}

/** Whether an event was let through before. Waits for the answer to a call that has it; throws a Refusal where that takes too long. */
export async function isDuplicate(memory: Memory, event: string): Promise<boolean> {
	const key = keyOf(event);
	const holder = eventsOf(memory).get(key);
	if (holder !== undefined && holder !== 'answered' && !settle(memory, key, holder)) {
		const leftMs = Math.max(0, memory.answerBy - Date.now());
		await Promise.race([holder.closed, pause(Math.min(HOLDER_PATIENCE_MS, leftMs))]);
		if (!settle(memory, key, holder))
			throw new Refusal(503, 'this callback is being handled already, try again');
	}
	return isKnown(memory, key);
}

/** Claims an event for the call of this response; false for a duplicate. Where n8n answers with a failure, the sender's next try counts. */
export async function claim(
	memory: Memory,
	event: string,
	response: HoldingResponse,
): Promise<boolean> {
	const key = keyOf(event);
	// Nothing is awaited between the last check and the claim, so that only one of two calls gets it.
	while (isKnown(memory, key)) if (await isDuplicate(memory, event)) return false;
	const closed = new Promise<void>((resolve) => response.once('close', () => resolve()));
	const holder: Holder = { response, memory, closed };
	eventsOf(memory).set(key, holder);
	memory.staticData[SAVED_IN] = [...savedIn(memory), key].slice(-SAVED);
	void closed.then(() => settle(memory, key, holder));
	return true;
}
