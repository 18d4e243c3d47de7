/**
 * The calls that have claimed an event and are not answered yet. A copy that comes meanwhile must not be told that all is
 * well: should n8n fail to store the execution, nobody would send the callback again, and a paid task would be lost.
 * A sender that gave up waiting sees no answer at all, so what counts is the answer that n8n meant to give.
 */

/** What is needed of the response of the call that holds the event. */
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

const holders = new Map<string, Holder>();
const MAX_HOLDERS = 10_000;

/** Forgets a holder that was answered; one that n8n answered with a failure gives its event back. */
function settle(event: string, { response, giveBack }: Holder): boolean {
	if (!response.writableEnded) return false;
	holders.delete(event);
	if (response.statusCode >= 400) giveBack();
	return true;
}

/** Notes that this call has claimed the event. @param giveBack undoes the claim */
export function hold(event: string, response: HoldingResponse, giveBack: () => void): void {
	const closed = new Promise<void>((resolve) => response.once('close', () => resolve()));
	const holder: Holder = { response, giveBack, closed };
	holders.set(event, holder);
	void closed.then(() => settle(event, holder));
	const oldest = holders.keys().next();
	if (holders.size > MAX_HOLDERS && oldest.done !== true) holders.delete(oldest.value);
}

/**
 * Whether the call that holds the event is through, or nobody holds it; waits for it for a while.
 *
 * @param patience resolves when there is no more time to wait
 */
export async function isSettled(event: string, patience: () => Promise<void>): Promise<boolean> {
	const holder = holders.get(event);
	if (holder === undefined || settle(event, holder)) return true;
	await Promise.race([holder.closed, patience()]);
	return holders.get(event) !== holder || settle(event, holder);
}
