/** Reads headers, and what answers say about limits: when to come back, and what was too much. Source: docs/service.md, "HTTP" and "Limits". */
import { asNumber, asText } from '../base/json';
import { reasonsOf } from './said';
import { MAX_RETRY_AFTER_MS } from '../base/bounds';

export function headerOf(headers: Record<string, unknown>, name: string): string | undefined {
	return asText([headers[name]].flat()[0]);
}

/** Returns ms from now (RFC 9110, 10.2.3); undefined if it can't be read. It can be 0, so callers have a shortest pause of their own. */
export function retryAfterMs(headers: Record<string, unknown>): number | undefined {
	const value = headerOf(headers, 'retry-after');
	const seconds = asNumber(value);
	const nowThere = Date.parse(headerOf(headers, 'date') ?? '') || Date.now();
	const untilDate = Math.max(0, Date.parse(value ?? '') - nowThere);
	const waitMs = seconds === undefined ? untilDate : seconds * 1_000;
	return waitMs >= 0 ? Math.min(waitMs, MAX_RETRY_AFTER_MS) : undefined;
}

const CAP = /daily|per day|spend|spending|\bcap\b|budget|quota|credit/i;
const RATE =
	/active.?task|too many|rate.?limit|concurren|queue|slow down|throttl|too fast|server.?busy/i;

/** Tells what a 429 is about: the daily spend cap, a rate or active-task limit, or nothing clear. */
export function kindOf429(body: unknown): 'cap' | 'rate' | 'ambiguous' {
	const reasons = reasonsOf(body);
	if (/active.?task.?limit/i.test(reasons)) return 'rate';
	if (CAP.test(reasons)) return 'cap';
	return RATE.test(reasons) ? 'rate' : 'ambiguous';
}

export function isServerBusy(body: unknown): boolean {
	return /server.?busy/i.test(reasonsOf(body));
}
