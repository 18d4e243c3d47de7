/**
 * Which callbacks a trigger has let through already: the same task and status runs the workflow once. Bounded memory in
 * the node's static data, which n8n saves after each production call, last write wins; callbacks that arrive at the same
 * moment in one process are told apart by what the process itself remembers.
 */
import { createHash } from 'crypto';
import type { IDataObject } from 'n8n-workflow';

/** n8n reads and writes the whole memory with each call, so what is remembered of an event is short: 66 bits of a hash. */
const KEY_LENGTH = 11;
const keyOf = (event: string) =>
	createHash('sha256').update(event).digest('base64url').slice(0, KEY_LENGTH);

const REMEMBERED = 1_000;
const FIELD = 'seen';

/** Per trigger, what this process has let through or is about to. */
const inProcess = new Map<string, Set<string>>();
const MAX_TRIGGERS = 200;

function recent(trigger: string): Set<string> {
	const present = inProcess.get(trigger);
	if (present !== undefined) return present;
	const fresh = new Set<string>();
	inProcess.set(trigger, fresh);
	const oldest = inProcess.keys().next();
	if (inProcess.size > MAX_TRIGGERS && oldest.done !== true) inProcess.delete(oldest.value);
	return fresh;
}

function trim(set: Set<string>): void {
	for (const oldest of set) {
		if (set.size <= REMEMBERED) return;
		set.delete(oldest);
	}
}

/**
 * Claims an event for this call. False if it was let through before. Synchronous, so that of two calls at the same
 * moment only one gets it.
 *
 * @param trigger the workflow and node
 */
export function claim(trigger: string, event: string, staticData: IDataObject): boolean {
	const key = keyOf(event);
	const saved = Array.isArray(staticData[FIELD]) ? (staticData[FIELD] as string[]) : [];
	const known = recent(trigger);
	if (known.has(key) || saved.includes(key)) return false;
	known.add(key);
	trim(known);
	staticData[FIELD] = [...saved, key].slice(-REMEMBERED);
	return true;
}

/** Whether an event was let through before. Claims nothing. */
export function wasSeen(trigger: string, event: string, staticData: IDataObject): boolean {
	const key = keyOf(event);
	const saved = staticData[FIELD];
	return recent(trigger).has(key) || (Array.isArray(saved) && (saved as unknown[]).includes(key));
}

/** Gives a claimed event back, when the workflow does not run after all. */
export function release(trigger: string, event: string, staticData: IDataObject): void {
	const key = keyOf(event);
	recent(trigger).delete(key);
	if (Array.isArray(staticData[FIELD])) {
		staticData[FIELD] = (staticData[FIELD] as string[]).filter((entry) => entry !== key);
	}
}
