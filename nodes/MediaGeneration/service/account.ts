/**
 * What all runs in this n8n process share about one account, i.e. one base URL and key: until when the service asked
 * to be left alone, which route answered for which kind of task, and who waits for room. Kept in memory only; the key itself is not kept.
 */
import { createHash } from 'crypto';
import { Room } from './room';

export type PollRoute = 'v1' | 'v1e';

/** `auto`: find out which route answers, and remember it. */
export type PollRouteOption = 'auto' | PollRoute;

export interface Account {
	/** Epoch ms before which no request should be sent (Retry-After of a 429 or 503). */
	pausedUntil: number;
	/** The poll route that last answered for a kind of task (service-facts, "Poll routes"). */
	routes: Map<string, PollRoute>;
	/** Creations that the service had no room for. */
	room: Room;
}

const MAX_ACCOUNTS = 200;
/** No Retry-After is believed beyond this. */
const MAX_PAUSE_MS = 5 * 60_000;

const accounts = new Map<string, Account>();

export function accountOf(baseUrl: string, apiKey: string): Account {
	const id = createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex');
	let account = accounts.get(id);
	if (account === undefined) {
		account = { pausedUntil: 0, routes: new Map(), room: new Room() };
		accounts.set(id, account);
		const oldest = accounts.keys().next();
		if (accounts.size > MAX_ACCOUNTS && oldest.done !== true) accounts.delete(oldest.value);
	}
	return account;
}

/** Slows every run of the account down until `nowMs + retryAfterMs`. */
export function pauseAccount(account: Account, nowMs: number, retryAfterMs: number): void {
	account.pausedUntil = Math.max(account.pausedUntil, nowMs + Math.min(retryAfterMs, MAX_PAUSE_MS));
}

/**
 * A Retry-After header as ms from now, from seconds or an HTTP date (RFC 9110, 10.2.3); undefined when there is none
 * or it can't be read.
 */
export function retryAfterMs(header: unknown, nowMs: number): number | undefined {
	const value: unknown = Array.isArray(header) ? header[0] : header;
	if (typeof value !== 'string' && typeof value !== 'number') return undefined;
	const seconds = Number(value);
	if (Number.isFinite(seconds) && String(value).trim() !== '') {
		return seconds >= 0 ? Math.min(seconds * 1000, MAX_PAUSE_MS) : undefined;
	}
	const date = Date.parse(String(value));
	return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - nowMs), MAX_PAUSE_MS);
}
