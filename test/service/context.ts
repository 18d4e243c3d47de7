import { CallbackSender } from './callbacks';
import { Timers } from './clock';
import { FaultBook } from './faults';
import { apiKeyRecord } from './keys';
import { taskPayload } from './payload';
import { seededRandom } from './random';
import { Recorder } from './recorder';
import { TaskStore } from './tasks';
import type { ServiceOptions, Settings } from './types';

/** What the three hosts and the control interface share. */
export type Context = ReturnType<typeof newContext>;

export function newContext(settings: Settings, { seed = 1, apiKey }: ServiceOptions) {
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
		apiKey: apiKeyRecord(apiKey),
		store,
		faults: new FaultBook(),
		recorder: new Recorder(),
		callbacks,
		timers,
		urls,
	};
}
