/** Finds out whether an execution still sleeps where it did when n8n loaded it for a call. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { BoundedMap } from '../base/boundedMap';
import { clockAheadMs } from '../base/clock';
import { callSelf } from '../transport/selfCall';
import { meaningOf, ownCall } from './ownCalls';
import type { StoredSleep } from './wakingCall';

/**
 * Sleeps of which this process knows that it alone takes calls for them, until it hands them over, and by how much the machine's clock was
 * ahead when they began. If that changes, n8n has perhaps woken one at its deadline, which it reads from that clock.
 */
const ours = new BoundedMap<string, number>(20_000);

/**
 * Call this when a sleep begins. In queue mode, workers run executions and other processes take the calls. Only manual executions and
 * their sub-workflows can run in a process that takes calls beside others.
 */
export function noteSleep(id: string, context: IExecuteFunctions): void {
	if (['trigger', 'webhook', 'retry'].includes(context.getMode())) ours.set(id, clockAheadMs());
}

/**
 * Asks n8n about the execution as it is now, because n8n loaded it before it ran this webhook. If it has meanwhile gone to sleep on a later
 * node, n8n accepts the stale copy and runs everything in between again. Only another process, or an earlier call, can have woken it. A
 * reply that is not n8n's decides nothing.
 */
export async function isStillAsleep(sleep: StoredSleep): Promise<boolean> {
	const aheadMs = ours.get(sleep.id) ?? Infinity;
	ours.delete(sleep.id);
	if (Math.abs(aheadMs - clockAheadMs()) < 1_000) return true;
	const body = ownCall(sleep, { asks: true });
	const reply = await callSelf(sleep.context, { url: sleep.resumeUrl, body, timeoutMs: 3_000 });
	return ['handled', 'unknown'].includes(meaningOf(reply));
}
