import type { CallbackSender } from './callbacks';
import type { Timers } from './clock';
import type { FaultBook } from './faults';
import type { Recorder } from './recorder';
import type { TaskStore } from './tasks';
import type { ApiKeyRecord, HostName, Settings } from './types';

/** What the three hosts and the control interface share. */
export interface Context {
	settings: Settings;
	apiKey: ApiKeyRecord;
	store: TaskStore;
	faults: FaultBook;
	recorder: Recorder;
	callbacks: CallbackSender;
	timers: Timers;
	/** Filled in when the hosts listen. */
	urls: Record<HostName, string>;
}
