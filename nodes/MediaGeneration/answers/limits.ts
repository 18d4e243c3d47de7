/** When to come back, and what was too much: headers and codes first, words last. Source: docs/service.md, "HTTP" and "Limits". */
import { asNumber, asText } from '../base/json';
import { MAX_LEVELS, MAX_LOOKED_AT, MAX_RETRY_AFTER_MS } from '../base/bounds';
import { certainTime } from './moment';
import type { Said } from './said';
import { fromOutside } from './walk';

export function headerOf(headers: Record<string, unknown>, name: string): string | undefined {
	return asText([headers[name]].flat()[0]);
}

/** Returns ms from now (RFC 9110, 10.2.3); undefined if it can't be read. It can be 0, so callers have a shortest pause of their own. */
function pauseIn(headers: Record<string, unknown>): number | undefined {
	const value = headerOf(headers, 'retry-after');
	const seconds = asNumber(value);
	const nowThere = Date.parse(headerOf(headers, 'date') ?? '') || Date.now();
	const date = certainTime(value ?? '');
	const untilDate = date === undefined ? -1 : Math.max(0, date - nowThere);
	const waitMs = seconds === undefined ? untilDate : seconds * 1_000;
	return waitMs >= 0 ? waitMs : undefined;
}

/** Like {@link askedPauseMs}, but from a header alone, and five minutes at most. */
export function retryAfterMs(headers: Record<string, unknown>): number | undefined {
	const waitMs = pauseIn(headers);
	return waitMs && Math.min(waitMs, MAX_RETRY_AFTER_MS);
}

/** Finds the pause that a body asks for, as `retryDelay: "26s"` (google.rpc.RetryInfo) or `retry_after: 26`, in ms. */
function delayIn(body: unknown): number | undefined {
	const values = fromOutside(body, { maxDepth: MAX_LEVELS, most: MAX_LOOKED_AT });
	const asked = values.filter(({ name }) => name === 'retryDelay' || name === 'retry_after');
	const [seconds] = asked.flatMap(
		({ value }) => /^(\d{1,9}(?:\.\d+)?)s?$/.exec(asText(value) ?? '')?.[1] ?? [],
	);
	return seconds === undefined ? undefined : Number(seconds) * 1_000;
}

/** Returns the pause that an answer asks for, in ms, however long; undefined if it asks for none. */
export function askedPauseMs({ answer: { headers, body } }: Said): number | undefined {
	return pauseIn(headers) ?? delayIn(body);
}

const FULL = /(active|running).?(task|job)|concurren|queue/i;
const CAP = /daily|per day|spend|spending|\bcap\b|budget|quota|credit/i;
const RATE = /too.?many|rate.?limit|slow.?down|throttl|too.?fast|server.?busy|resource_exhausted/i;

/** Some refuse in plain text; a page says nothing about the service. */
const wordsOf = ({ reasons, unparsed, isPage }: Said) =>
	isPage ? reasons : `${reasons} ${unparsed}`;

/** What was too much: money, tasks or requests. Words of both say nothing: "Too many requests. You have 1,234 credits left". */
export function limitIn(said: Said): 'cap' | 'rate' | 'ambiguous' {
	const words = wordsOf(said);
	if (/active.?task.?limit/i.test(words)) return 'rate';
	const isRate = RATE.test(words) || FULL.test(words);
	if (CAP.test(words)) return isRate ? 'ambiguous' : 'cap';
	return isRate ? 'rate' : 'ambiguous';
}

/** Returns whether a limit is about running or queued tasks, not about requests. */
export const isAboutTasks = (said: Said): boolean => FULL.test(wordsOf(said));

export const isServerBusy = ({ reasons }: Said): boolean => /server.?busy/i.test(reasons);
