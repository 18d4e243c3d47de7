/** Time that runs ahead, for what takes seconds by design: pauses end at once, requests stay real. */
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { heldBack } from '../service/clock';

/** Everything but what n8n's `sleep` goes by, and `performance`. */
const REAL = [
	'hrtime',
	'nextTick',
	'queueMicrotask',
	'setImmediate',
	'clearImmediate',
	'setInterval',
	'clearInterval',
] as const;

const STEP_MS = 50;

/** Requests that were sent and are not answered yet. */
const open = new Set<ClientRequest>();
/** By host. */
const begun = new Map<string, number>();
/** How many requests to a service were begun in this process, wherever they are by now. */
export const requestsBegun = (baseUrl: string): number => begun.get(new URL(baseUrl).host) ?? 0;
subscribe('http.client.request.start', (message) => {
	const { request } = message as { request: ClientRequest };
	const host = String(request.getHeader('host'));
	begun.set(host, (begun.get(host) ?? 0) + 1);
	open.add(request);
	request.once('close', () => open.delete(request));
});

/** What is not answered for so long in real time is held back until time passes, by another host than the stand-in. */
const HELD_AFTER_NS = 1_000_000_000n;
const held = new WeakSet<ClientRequest>();

/** What the system is asked for: files, connections. */
const AT_WORK = /^(FSReq|ConnectWrap|WriteWrap)/;

/** Lets requests on their way come back and files be written, however slow the machine is. */
async function letThemAnswer() {
	const since = process.hrtime.bigint();
	const isLate = () => process.hrtime.bigint() - since > HELD_AFTER_NS;
	const areOnTheirWay = () => {
		if (!isLate() && process.getActiveResourcesInfo().some((name) => AT_WORK.test(name)))
			return true;
		const waiting = [...open].filter((request) => held.has(request)).length;
		return open.size > Math.max(waiting, heldBack.size);
	};
	for (let turn = 0; turn < 20 || areOnTheirWay(); turn += 1) {
		await (turn < 20 ? new Promise((done) => setImmediate(done)) : delay(1));
		if (isLate()) for (const request of open) held.add(request);
	}
}

let isAhead = false;

/** Resolves as soon as the condition holds; fails with its name where it never does. */
export async function until(name: string, condition: () => boolean, withinMs = 60_000) {
	const end = performance.now() + withinMs;
	while (!condition()) {
		if (performance.now() > end) throw new Error(`This never happened: ${name}`);
		await (isAhead ? new Promise((done) => setImmediate(done)) : delay(10));
	}
}

/** `AbortSignal.timeout` by the timers that run ahead. */
function timeoutAhead(ms: number): AbortSignal {
	const controller = new AbortController();
	setTimeout(() => controller.abort(new DOMException('Timed out', 'TimeoutError')), ms);
	return controller.signal;
}

/** From now on time runs ahead whenever no request is on its way, the faster the longer none was sent. Resolves to what ends it. */
export function runAhead(): () => Promise<void> {
	jest.useFakeTimers({ now: Date.now(), doNotFake: [...REAL] });
	const timeout = AbortSignal.timeout.bind(AbortSignal);
	AbortSignal.timeout = timeoutAhead;
	isAhead = true;
	const pump = async () => {
		for (let quiet = STEP_MS, sent = 0; isAhead;) {
			await letThemAnswer();
			const sum = [...begun.values()].reduce((all, one) => all + one, 0);
			quiet = sum === sent ? Math.min(quiet * 1.1, 1_000) : STEP_MS;
			sent = sum;
			if (isAhead) await jest.advanceTimersByTimeAsync(quiet);
		}
	};
	const pumping = pump();
	return async () => {
		isAhead = false;
		await pumping;
		AbortSignal.timeout = timeout;
		jest.useRealTimers();
	};
}
