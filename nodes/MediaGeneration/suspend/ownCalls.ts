/** Calls of this node to the resume URL of its own sleeping executions, and what their replies mean. */
import { asText, isObject, type JsonObject } from '../base/json';
import type { Failure } from '../base/outcomes';
import type { SelfReply } from '../transport/selfCall';
import type { Sleep } from './notes';
import { WEBHOOK_PATH } from './resumeUrl';

/**
 * The body of such a call. Many know the URL, but only this node knows the ID of the sleep, which is nowhere but in the notes.
 * @param says the failures that a loop saw, or that it only asks whether the execution is still in this sleep
 */
export function ownCall({ id, tasks }: Sleep, says: { given_up: Failure[] } | { asks: true }) {
	return { id: tasks[0]?.taskId, sleep_id: id, ...says };
}

/** Matches where n8n redirects callers while a form is the last node that it has stored. */
const TO_FORM = new RegExp(`^/(?!.*webhook-waiting).*/${WEBHOOK_PATH}\\?`);

const isOfNode = ({ received }: JsonObject) => typeof received === 'boolean';
const isOfN8n = ({ code, message }: JsonObject) =>
	typeof code === 'number' && typeof message === 'string';

type Heard = { status: number; location: string; body: JsonObject };

/** What a reply says about a sleep; the first row that fits counts. n8n's own replies come from its waiting-webhooks.js and response-helper.js (2.41). */
const MEANINGS = [
	// n8n sends the caller to a form, and so does not say whether the execution runs, waits or has finished.
	['redirected', ({ location }) => TO_FORM.test(location)],
	// This node answers from another sleep.
	['ended', ({ status, body }) => isOfNode(body) && status === 404],
	['ended', ({ status, body }) => isOfNode(body) && status === 200 && body.ignored !== undefined],
	// This node answers from this sleep.
	['handled', ({ body }) => isOfNode(body)],
	// n8n refuses such a call by 404, 409 or 5xx alone.
	['unknown', ({ status, body }) => status < 404 || !isOfN8n(body)],
	['ended', ({ body }) => String(body.message).includes('has finished')],
	// n8n has yet to store the sleep, or is starting, or the execution has gone.
	['missing', ({ status }) => status === 404],
	// n8n says that the execution runs or is being woken.
	['busy', () => true],
] as const satisfies ReadonlyArray<readonly [string, (heard: Heard) => boolean]>;

export function meaningOf(reply: SelfReply): (typeof MEANINGS)[number][0] {
	if (reply.status === undefined) return 'unknown';
	const { status, location, body } = reply;
	const heard = { status, location: asText(location) ?? '', body: isObject(body) ? body : {} };
	return MEANINGS.find(([, fits]) => fits(heard))?.[0] ?? 'unknown';
}

/** Returns whether this n8n has answered about an execution that runs. */
export function isOfRunning(reply: SelfReply): boolean {
	return ['busy', 'redirected'].includes(meaningOf(reply));
}

export function shownReply(reply: SelfReply): string {
	return reply.status === undefined ? reply.reason : `it answered HTTP ${reply.status}`;
}
