/** The names that tests, benches and the control interface share, and what each value does. */
import type { SettingsPatch } from './settings';

export type { RecordedRequest } from './recorder';
export type { Settings, SettingsPatch } from './settings';
export type { TaskRecord } from './tasks';

/** Which creation route made the task (`speech_by_id`: v1 or v3, `speech_by_name`: v1e). The task's own `type` field is the setting `taskTypes`. */
export type TaskKind =
	'sound_effect' | 'speech_by_id' | 'speech_by_name' | 'image' | 'music' | 'dialogue' | FileKind;
/** Those that are made of a file. */
export type FileKind = 'dubbing' | 'transcription' | 'voice_changer' | 'voice_isolate';

/** `specification`: what the specification states (docs/service.md). `today`: what was read of newer services. */
export type ProfileName = 'specification' | 'today';

export type HostName = 'api' | 'files' | 'other';
export type RouteName =
	'create' | 'poll' | 'credits' | 'keys' | 'list' | 'delete' | 'price' | 'file' | 'unknown';
export type JsonObject = Record<string, unknown>;

export type SampleRate = 8000 | 11025 | 12000 | 16000 | 22050 | 24000 | 32000 | 44100 | 48000;

/** `stand_in` in a creation's body steers that one task. */
export interface Steering {
	/** An example of test/answers, such as "creation/daily-cap" or "task/wrapped": what the creation, or each poll, is answered with. */
	answer?: string;
	ms?: number;
	never_ends?: boolean;
	end?: 'done' | 'error';
	error_message?: string;
	/** Credits; the default is that of its kind. */
	cost?: number;
	/** A GET shows the finished task as running for so long: callbacks are ahead of the service's own reads. */
	read_lag_ms?: number;
	/** How many output files; for images it goes before `generations_count`. */
	files?: number;
	/** Size of each output file; generated while it is sent. */
	bytes?: number;
	file_status?: number;
	/** The output files' content, word for word. */
	file_body?: string;
	no_callback?: boolean;
	callback_copies?: number;
	callback_before_answer?: boolean;
}

export interface CallbackRecord {
	taskId: string;
	url: string;
	at: number;
	/** 0 = no answer. */
	status: number;
	body: string;
}

export interface StatusFault {
	type: 'status' | 'processThenStatus';
	status: number;
	body?: unknown;
	headers?: Record<string, string>;
}

/**
 * `status`, `reset` and `stall` stand in place of the service, which does nothing, and so does `redirect` (`{other}` in its target is filled in). All
 * others carry the request out first, so that a creation makes a task that was paid for. `processThenStatus` answers the same as `status`.
 */
export type FaultAction =
	| StatusFault
	| { type: 'reset' | 'processThenReset' | 'stall' | 'drip' }
	| { type: 'hold'; until: Promise<unknown> }
	| { type: 'emptyBody' | 'html' | 'malformedJson' }
	| { type: 'redirect'; to: string }
	| { type: 'truncate'; bytes: number }
	| { type: 'dropHeader'; name: string };

export interface FaultRule {
	/** How often it has struck; counted by the stand-in. */
	hits?: number;
	kind?: TaskKind;
	route?: RouteName;
	times?: number;
	skip?: number;
	action: FaultAction;
}

export interface ServiceOptions {
	port?: number;
	/** `specification`, unless given; `settings` come on top of it. */
	profile?: ProfileName | undefined;
	settings?: SettingsPatch;
	seed?: number;
	/** A random one if not given. */
	apiKey?: string;
}
