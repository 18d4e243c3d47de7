/**
 * What an answer says about limits: of rate, of active tasks, of spending. Pure.
 * Sources: docs/service.md, "Limits" and "HTTP".
 */
import { isObject } from './json';
import { errorTextOf } from './task';

const CAP = /daily|per day|spend|spending|\bcap\b|budget|quota|credit/i;
const RATE =
	/active.?task|too many|rate.?limit|concurren|queue|slow down|throttl|too fast|server.?busy/i;

/** Everything an answer says about its reason: code and texts. */
export function reasonsOf(body: unknown): string {
	if (!isObject(body)) return '';
	const nested = isObject(body.error) ? body.error : {};
	return [body.code, nested.code, body.error, body.message, nested.message, errorTextOf(body)]
		.filter((part) => typeof part === 'string')
		.join(' ');
}

/** What a 429 is about: the daily spend cap (docs/service.md, "Limits"), a rate or active-task limit, or nothing clear. */
export function kindOf429(body: unknown): 'cap' | 'rate' | 'ambiguous' {
	const reasons = reasonsOf(body);
	if (/active.?task.?limit/i.test(reasons)) return 'rate';
	if (CAP.test(reasons)) return 'cap';
	return RATE.test(reasons) ? 'rate' : 'ambiguous';
}

/** Whether the service says that it is too busy at the moment. */
export function isServerBusy(body: unknown): boolean {
	return /server.?busy/i.test(reasonsOf(body));
}
