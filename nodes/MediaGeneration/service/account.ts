/**
 * What all runs in this n8n process share about one account, i.e. one base URL and key: until when the service asked
 * for a pause, which route answered for which kind of task, and who waits for capacity. Kept in memory only; the key
 * itself is not kept.
 */
import { createHash } from 'crypto';
import { BoundedMap } from './boundedMap';
import { CreationQueue } from './creationQueue';

export type PollRoute = 'v1' | 'v1e';

/** `auto`: find out which route answers, and remember it. */
export type PollRouteOption = 'auto' | PollRoute;

/**
 * What a request is for. A pause applies to what it was said of: throttled looks hold back no creation, and a creation that
 * met a limit holds back no look. What an outsider causes by posting to a webhook pauses nothing.
 */
export type Purpose = 'create' | 'look' | 'read' | 'outsider';

export class Account {
	private readonly pauses = new Map<Purpose, number>();
	/** The poll route that last answered for a kind of task (docs/service.md, "Poll routes"). */
	readonly routes = new BoundedMap<string, PollRoute>(MAX_KINDS);
	/** Tasks that this process has made or looked at: none of them is adopted for a creation whose answer never came. */
	readonly known = new BoundedMap<string, true>(MAX_KNOWN);
	/** What the service calls the type of a kind of task. */
	readonly types = new BoundedMap<string, string>(MAX_KINDS);
	/** Creations that the service had no capacity for. */
	readonly queue = new CreationQueue();

	/** Epoch ms before which no request for this purpose should be sent. */
	pausedUntil(purpose: Purpose): number {
		return this.pauses.get(purpose) ?? 0;
	}

	/** Holds back all runs of the account until `nowMs + retryAfterMs`; only ever longer. */
	pause(purpose: Purpose, nowMs: number, retryAfterMs: number): void {
		if (purpose === 'outsider') return;
		const until = nowMs + Math.min(retryAfterMs, MAX_PAUSE_MS);
		this.pauses.set(purpose, Math.max(this.pausedUntil(purpose), until));
	}
}

const MAX_ACCOUNTS = 200;
/** The path of "Task: Create" is a kind, and an expression can make many. */
const MAX_KINDS = 100;
const MAX_KNOWN = 20_000;
/** No Retry-After is believed beyond this. */
const MAX_PAUSE_MS = 5 * 60_000;

const accounts = new BoundedMap<string, Account>(MAX_ACCOUNTS);

export function accountOf(baseUrl: string, apiKey: string): Account {
	const id = createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex');
	return accounts.ensure(id, () => new Account());
}

/**
 * A Retry-After header as ms from now, from seconds or an HTTP date (RFC 9110, 10.2.3); undefined when there is none
 * or it can't be read. It can be 0: a caller that waits has a shortest pause of its own.
 *
 * @param nowMs epoch ms by the machine's clock, as dates are
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
