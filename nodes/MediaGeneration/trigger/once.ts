/**
 * One event counts once: the end of a task for a trigger, the resumption of an execution that sleeps. While n8n may still fail to store
 * what the event has started, no duplicate gets a 200.
 */
import { createHash } from 'crypto';
import type { FunctionsBase, IDataObject } from 'n8n-workflow';
import { BoundedMap, ensured } from '../base/boundedMap';
import { now } from '../base/clock';
import { pause } from '../n8n/clock';
import { CallRefusal } from './webhook';

export interface Memory {
	/** Says whose events these are. Sleeping executions share one owner, so that they do not push triggers out of memory. */
	owner: string;
	saved?: readonly string[];
	/** Epoch ms */
	answerBy: number;
}

export interface OnceEvent {
	name: string;
	/** Events of the same crowd are limited to {@link EVENTS_PER_CROWD}. */
	crowd?: string;
}

export type Claim =
	/** {@link remember} saves the key. */
	{ kind: 'claimed'; key: string } | { kind: 'duplicate' } | { kind: 'crowded' };

interface HoldingResponse {
	readonly statusCode: number;
	readonly writableEnded: boolean;
	once(event: 'close', listener: () => void): unknown;
}

interface EventHolder {
	/** Becomes undefined once the call was answered with success. */
	response: HoldingResponse | undefined;
	/** Saved as the event's own part, then its crowd's. */
	key: string;
	/** Resolves when the connection is closed, answered or not. */
	closed: Promise<void>;
}

interface Owner {
	events: BoundedMap<string, EventHolder>;
	/** Lists all saved events that this process knows of, including those that other processes saved. */
	kept: string[];
}

/** A copy waits this long for the answer to the call before it. */
const HOLDER_PATIENCE_MS = 3_000;
export const EVENTS_PER_CROWD = 3;
/** n8n reads and writes the whole memory with each call, so what is saved of an event is short: 66 bits of a hash, and 30 of its crowd's. */
const OWN_LENGTH = 11;
const CROWD_LENGTH = 5;
const SAVED_EVENTS = 1_000;
const SAVED_IN = 'seen';
const EVENTS_IN_PROCESS = 5_000;
const MAX_OWNERS = 200;

const owners = new BoundedMap<string, Owner>(MAX_OWNERS);
const known = (name: string) =>
	ensured(owners, name, (): Owner => ({ events: new BoundedMap(EVENTS_IN_PROCESS), kept: [] }));

/** The webhook of a trigger and the executions that it starts have the same owner. */
export function ownerOf(context: Pick<FunctionsBase, 'getWorkflow' | 'getNode'>): string {
	return `${context.getWorkflow().id ?? ''}:${context.getNode().id}`;
}

const eventHash = (text: string) => createHash('sha256').update(text).digest('base64url');
const ownPartOf = ({ name }: OnceEvent) => eventHash(name).slice(0, OWN_LENGTH);
const crowdPartOf = ({ crowd }: OnceEvent) =>
	crowd === undefined ? '' : eventHash(crowd).slice(0, CROWD_LENGTH);

export function savedEvents(staticData: IDataObject): string[] {
	const saved: unknown = staticData[SAVED_IN];
	if (!Array.isArray(saved)) return [];
	return (saved as unknown[]).filter((key) => typeof key === 'string');
}

const isKnown = ({ owner, saved = [] }: Memory, own: string) =>
	known(owner).events.has(own) || saved.some((key) => key.startsWith(own));

/** Tells whether a holder is done. Then its event is settled: accepted, or released where n8n answered with a failure. */
function settle({ owner }: Memory, own: string, holder: EventHolder): boolean {
	const { events } = known(owner);
	const { response } = holder;
	// It was released, and another call may hold it by now.
	if (response === undefined || events.get(own) !== holder) return true;
	if (!response.writableEnded) return false;
	if (response.statusCode < 400) holder.response = undefined;
	else events.delete(own);
	return true;
}

/** Tells whether an event was accepted before. Waits for the answer to a call that holds it; throws a CallRefusal where that takes too long. */
export async function isDuplicate(memory: Memory, event: OnceEvent): Promise<boolean> {
	const own = ownPartOf(event);
	const holder = known(memory.owner).events.get(own);
	if (holder !== undefined && !settle(memory, own, holder)) {
		const leftMs = Math.max(0, memory.answerBy - now());
		await Promise.race([holder.closed, pause(Math.min(HOLDER_PATIENCE_MS, leftMs))]);
		if (!settle(memory, own, holder))
			throw new CallRefusal(503, 'this callback is being handled already, try again');
	}
	return isKnown(memory, own);
}

function isCrowded({ owner, saved = [] }: Memory, crowd: string): boolean {
	if (crowd === '') return false;
	const isIn = (key: string) => key.length > OWN_LENGTH && key.endsWith(crowd);
	const all = new Set(saved.filter(isIn));
	for (const { key } of known(owner).events.values()) if (isIn(key)) all.add(key);
	return all.size >= EVENTS_PER_CROWD;
}

/** Claims an event for the call of this response. Where n8n answers with a failure, the sender's next try counts. */
export async function claim(
	memory: Memory,
	event: OnceEvent,
	response: HoldingResponse,
): Promise<Claim> {
	const own = ownPartOf(event);
	// Nothing is awaited between the last check and the claim, so that only one of two calls gets it.
	while (isKnown(memory, own)) if (await isDuplicate(memory, event)) return { kind: 'duplicate' };
	const crowd = crowdPartOf(event);
	if (isCrowded(memory, crowd)) return { kind: 'crowded' };
	const closed = new Promise<void>((resolve) => response.once('close', () => resolve()));
	const holder: EventHolder = { response, key: own + crowd, closed };
	known(memory.owner).events.set(own, holder);
	void closed.then(() => settle(memory, own, holder));
	return { kind: 'claimed', key: holder.key };
}

/**
 * Saves an event over a restart of n8n, from the execution that it started: of what a webhook writes into static data n8n 2.41 saves
 * nothing (`establishContextForPersistence` in its workflow-runner.js marks it as unchanged). n8n reads static data when the execution
 * starts and writes it when it ends, so it is given a list that goes on growing: what is saved then has the events of all executions
 * that overlap.
 */
export function remember(owner: string, key: string, staticData: IDataObject): void {
	const { kept } = known(owner);
	const all = new Set([...savedEvents(staticData), ...kept, key]);
	kept.length = 0;
	for (const each of [...all].slice(-SAVED_EVENTS)) kept.push(each);
	staticData[SAVED_IN] = kept;
}
