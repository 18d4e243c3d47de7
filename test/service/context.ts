import type { CallbackSender } from './callbacks';
import type { Timers } from './clock';
import type { FaultBook } from './faults';
import type { KeyRing } from './keys';
import type { Recorder } from './recorder';
import type { TaskStore } from './tasks';
import type { HostName, Settings } from './types';

/** What the three hosts and the control interface share. */
export interface Context {
	settings: Settings;
	keys: KeyRing;
	store: TaskStore;
	faults: FaultBook;
	recorder: Recorder;
	callbacks: CallbackSender;
	timers: Timers;
	/** Filled in when the hosts listen. */
	urls: Record<HostName, string>;
}
