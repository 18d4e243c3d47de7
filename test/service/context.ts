import { randomBytes } from 'node:crypto';
import { CallbackSender } from './callbacks';
import { Timers } from './clock';
import { FaultBook } from './faults';
import { taskPayload } from './payload';
import { seededRandom } from './random';
import { Recorder } from './recorder';
import { TaskStore } from './tasks';
import type { ServiceOptions, Settings } from './types';

/** What the three hosts and the control interface share. */
export type Context = ReturnType<typeof newContext>;

export function newContext(settings: Settings, options: ServiceOptions) {
	const { seed = 1, apiKey = `sk_${randomBytes(24).toString('hex')}` } = options;
	const timers = new Timers();
	/** Filled in when the hosts listen. */
	const urls = { api: '', files: '', other: '' };
	const store = new TaskStore(settings, seededRandom(seed), timers);
	const callbacks = new CallbackSender(settings, timers, (task) =>
		taskPayload(task, settings, urls.files),
	);
	store.onEnd = (task) => callbacks.announce(task);
	return {
		settings,
		apiKey,
		store,
		faults: new FaultBook(),
		recorder: new Recorder(),
		callbacks,
		timers,
		urls,
	};
}
